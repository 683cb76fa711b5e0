/* tests/unit/scribe.h - writes down what goes out to clients on HTTP, a line for each action
 * (http-line.h).
 *
 *     http_streams_init(&streams, &scribe.out);
 *     http_streams_send(&streams, stream, STR("{}"));
 *     assert_wrote(&scribe, "10 << {}\n"); */
#ifndef SCRIBE_H
#define SCRIBE_H

#include "http-line.h"
#include "test.h"

enum { SCRIBE_MAX = 1 << 27 };

struct scribe {
    struct action_sink out; /* what is under test is given this as its sink */
    struct buf wrote;       /* since the last assert_wrote() */
};

static inline void scribe_put(struct action_sink *self, const struct action *a)
{
    struct scribe *s = (struct scribe *)self;

    http_line_write(&s->wrote, a);
    buf_add_ch(&s->wrote, '\n');
}

static inline void scribe_init(struct scribe *s)
{
    *s = (struct scribe){ .out = { scribe_put } };
    buf_init(&s->wrote, SCRIBE_MAX);
}

static inline void scribe_release(struct scribe *s)
{
    buf_release(&s->wrote);
}

#define assert_wrote(s, want)                                                                  \
    do {                                                                                       \
        assert_str(buf_str(&(s)->wrote), str_z(want));                                         \
        buf_clear(&(s)->wrote);                                                                \
    } while (0)

#endif

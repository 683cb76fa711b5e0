/* tests/unit/action-log.h - logs the actions for HTTP clients, one line each (http-line.h).
 *
 *     event_streams_init(&streams, &scribe.out);
 *     event_streams_send(&streams, stream, STR("{}"));
 *     assert_logged(&scribe, "10 << {}\n"); */
#ifndef ACTION_LOG_H
#define ACTION_LOG_H

#include "http-line.h"
#include "test.h"

enum { ACTION_LOG_MAX = 1 << 27 };

struct action_log {
    struct action_sink out; /* the sink for the engine under test */
    struct buf text;        /* since the last assert_logged() */
};

static inline void action_log_put(struct action_sink *self, const struct action *a)
{
    struct action_log *s = (struct action_log *)self;

    http_line_write(&s->text, a);
    buf_add_ch(&s->text, '\n');
}

static inline void action_log_init(struct action_log *s)
{
    *s = (struct action_log){ .out = { action_log_put } };
    buf_init(&s->text, ACTION_LOG_MAX);
}

static inline void action_log_release(struct action_log *s)
{
    buf_release(&s->text);
}

#define assert_logged(s, want)                                                                 \
    do {                                                                                       \
        assert_str(buf_str(&(s)->text), str_z(want));                                          \
        buf_clear(&(s)->text);                                                                 \
    } while (0)

#endif

#include "loop/stdin-end.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/stream.h"

struct stdin_end {
    struct stream *stream;
    stdin_end_fn *fn;
    void *arg;
};

static void on_data(void *to, struct str bytes)
{
    (void)to;
    (void)bytes;
}

static void on_end(void *to, const struct err *why)
{
    struct stdin_end *s = to;

    (void)why;
    s->fn(s->arg);
}

static const struct stream_events events = { .data = on_data, .end = on_end };

bool stdin_end_watch(struct stdin_end **out, struct loop *l, stdin_end_fn *fn, void *to,
                     struct err *e)
{
    struct stdin_end *s = mem_new(struct stdin_end);

    s->fn = fn;
    s->arg = to;
    if (!stream_open(&s->stream, l, STDIN_FILENO, &events, s, e)) {
        free(s);
        return false;
    }
    stream_read(s->stream, true);
    *out = s;
    return true;
}

void stdin_end_close(struct stdin_end *s)
{
    if (s)
        stream_close(s->stream);
    free(s);
}

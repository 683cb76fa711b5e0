#include "transport/stdio.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/stream.h"
#include "transport/inlet.h"
#include "transport/outlet.h"

enum { HIGH_WATER = 1 << 20 };

struct stdio {
    struct stream *in, *out;
    struct inlet said;
    struct outlet outlet;
    const struct stdio_events *events;
    void *to;
    void (*done)(void *to);
    void *done_to;
    bool held; /* it is not to be read for now */
    bool over; /* the client will send nothing more, or we listen no more */
};

static void on_line(void *to, struct str line)
{
    struct stdio *s = to;

    if (!s->over)
        s->events->line(s->to, line);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct stdio *s = to;

    if (!s->over)
        s->events->too_long(s->to, bytes);
}

static const struct inlet_events said_events = { .line = on_line, .too_long = on_too_long };

static void on_data(void *to, struct str bytes)
{
    struct stdio *s = to;

    inlet_feed(&s->said, bytes);
}

static void close_once(struct stdio *s)
{
    if (s->over)
        return;
    s->over = true;
    stream_read(s->in, false);
    s->events->closed(s->to);
}

static void on_end(void *to, const struct err *why)
{
    struct stdio *s = to;

    (void)why; /* a client that broke off and one that closed are both gone */
    inlet_end(&s->said);
    close_once(s);
}

static void finish_if_written(struct stdio *s)
{
    void (*done)(void *to) = s->done;

    if (!done || stream_queued(s->out))
        return;
    s->done = NULL;
    done(s->done_to);
}

static void on_drained(void *to)
{
    struct stdio *s = to;

    if (!s->over && !s->held)
        stream_read(s->in, true);
    if (s->events->drained)
        s->events->drained(s->to);
    finish_if_written(s);
}

static void on_broken(void *to, const struct err *why)
{
    struct stdio *s = to;
    void (*done)(void *to) = s->done;

    if (why->kind != ERR_PEER)
        s->events->lost(s->to, why);
    close_once(s);
    if (s->events->gone)
        s->events->gone(s->to);
    s->done = NULL;
    if (done)
        done(s->done_to);
}

static const struct stream_events in_events = { .data = on_data, .end = on_end };
static const struct stream_events out_events = { .drained = on_drained, .broken = on_broken };

bool stdio_open(struct stdio **out, struct loop *l, int in, int outfd, size_t max_line,
                const struct stdio_events *events, void *to, struct err *e)
{
    struct stdio *s = mem_new(struct stdio);

    s->events = events;
    s->to = to;
    inlet_init(&s->said, max_line, &said_events, s);
    outlet_init(&s->outlet);
    if (!stream_open(&s->in, l, in, &in_events, s, e) ||
        !stream_open(&s->out, l, outfd, &out_events, s, e)) {
        stdio_close(s);
        return false;
    }
    stream_read(s->in, true);
    *out = s;
    return true;
}

void stdio_send(struct stdio *s, struct str message)
{
    outlet_send(&s->outlet, s->out, message);
    if (stream_queued(s->out) > HIGH_WATER)
        stream_read(s->in, false);
}

size_t stdio_queued(const struct stdio *s)
{
    return stream_queued(s->out);
}

void stdio_read(struct stdio *s, bool on)
{
    s->held = !on;
    if (!s->over)
        stream_read(s->in, on && stream_queued(s->out) <= HIGH_WATER);
}

void stdio_finish(struct stdio *s, void (*done)(void *to), void *to)
{
    s->over = true;
    stream_read(s->in, false);
    s->done = done;
    s->done_to = to;
    finish_if_written(s);
}

void stdio_close(struct stdio *s)
{
    if (!s)
        return;
    stream_close(s->in);
    stream_close(s->out);
    inlet_release(&s->said);
    outlet_release(&s->outlet);
    free(s);
}

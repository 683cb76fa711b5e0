#include "transport/stdio.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/stream.h"
#include "wire/lines.h"

enum {
    HIGH_WATER = 1 << 20,
    ONE_WRITE = 64 << 10, /* a message up to this size and its newline go out together */
};

struct stdio {
    struct stream *in, *out;
    struct lines lines;
    struct buf line; /* what goes out */
    const struct stdio_events *events;
    void *to;
    void (*done)(void *to);
    void *done_to;
    bool over; /* the client will send nothing more, or we listen no more */
};

static void tell_line(struct stdio *s, enum lines_next kind, struct str line, uint64_t skipped)
{
    if (kind == LINES_LINE)
        s->events->line(s->to, line);
    else
        s->events->too_long(s->to, skipped);
}

static void on_data(void *to, struct str bytes)
{
    struct stdio *s = to;
    enum lines_next next;
    uint64_t skipped = 0;
    struct str line = STR_NONE;

    lines_feed(&s->lines, bytes);
    while ((next = lines_next(&s->lines, &line, &skipped)) != LINES_MORE)
        if (!s->over)
            tell_line(s, next, line, skipped);
}

static void close_once(struct stdio *s)
{
    if (s->over)
        return;
    s->over = true;
    stream_read(s->in, false);
    s->events->closed(s->to);
}

/* A last line without its newline is still what the client said. */
static void on_end(void *to, const struct err *why)
{
    struct stdio *s = to;
    enum lines_next next;
    uint64_t skipped = 0;
    struct str line = STR_NONE;

    (void)why;
    next = lines_end(&s->lines, &line, &skipped);
    if (next != LINES_MORE && !s->over)
        tell_line(s, next, line, skipped);
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

    if (!s->over)
        stream_read(s->in, true);
    finish_if_written(s);
}

static void on_broken(void *to, const struct err *why)
{
    struct stdio *s = to;
    void (*done)(void *to) = s->done;

    (void)why;
    close_once(s);
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
    lines_init(&s->lines, max_line);
    buf_init(&s->line, ONE_WRITE + 1);
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
    buf_clear(&s->line);
    if (message.len <= ONE_WRITE)
        buf_add(&s->line, message);
    else
        stream_write(s->out, message);
    buf_add_ch(&s->line, '\n');
    stream_write(s->out, buf_str(&s->line));
    if (stream_queued(s->out) > HIGH_WATER)
        stream_read(s->in, false);
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
    lines_release(&s->lines);
    buf_release(&s->line);
    free(s);
}

#include "transport/stdio-client.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/stream.h"
#include "transport/line-io.h"

enum { HIGH_WATER = 1 << 20 };

struct stdio_client {
    struct stream *in, *out;
    struct line_reader reader;
    struct line_writer writer;
    const struct stdio_client_events *events;
    void *to;
    void (*done)(void *to);
    void *done_to;
    bool read_paused; /* set by stdio_client_read() */
    bool input_done;  /* end of input, or stdio_client_finish() was called */
};

static void on_line(void *to, struct str line)
{
    struct stdio_client *s = to;

    if (!s->input_done)
        s->events->line(s->to, line);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct stdio_client *s = to;

    if (!s->input_done)
        s->events->too_long(s->to, bytes);
}

static const struct line_reader_events reader_events = { .line = on_line,
                                                         .too_long = on_too_long };

static void on_data(void *to, struct str bytes)
{
    struct stdio_client *s = to;

    line_reader_feed(&s->reader, bytes);
}

static void close_once(struct stdio_client *s)
{
    if (s->input_done)
        return;
    s->input_done = true;
    stream_read(s->in, false);
    s->events->input_closed(s->to);
}

static void on_end(void *to, const struct err *why)
{
    struct stdio_client *s = to;

    (void)why; /* an error on stdin means the same as its end */
    line_reader_end(&s->reader);
    close_once(s);
}

static void finish_if_written(struct stdio_client *s)
{
    void (*done)(void *to) = s->done;

    if (!done || stream_queued(s->out))
        return;
    s->done = NULL;
    done(s->done_to);
}

static void on_drained(void *to)
{
    struct stdio_client *s = to;

    if (!s->input_done && !s->read_paused)
        stream_read(s->in, true);
    if (s->events->drained)
        s->events->drained(s->to);
    finish_if_written(s);
}

static void on_broken(void *to, const struct err *why)
{
    struct stdio_client *s = to;
    void (*done)(void *to) = s->done;

    if (why->kind != ERR_PEER)
        s->events->write_failed(s->to, why);
    close_once(s);
    if (s->events->output_closed)
        s->events->output_closed(s->to);
    s->done = NULL;
    if (done)
        done(s->done_to);
}

static const struct stream_events in_events = { .data = on_data, .end = on_end };
static const struct stream_events out_events = { .drained = on_drained, .broken = on_broken };

bool stdio_client_open(struct stdio_client **out, struct loop *l, int in, int outfd,
                       size_t max_line, const struct stdio_client_events *events, void *to,
                       struct err *e)
{
    struct stdio_client *s = mem_new(struct stdio_client);

    s->events = events;
    s->to = to;
    line_reader_init(&s->reader, max_line, &reader_events, s);
    line_writer_init(&s->writer);
    if (!stream_open(&s->in, l, in, &in_events, s, e) ||
        !stream_open(&s->out, l, outfd, &out_events, s, e)) {
        stdio_client_close(s);
        return false;
    }
    stream_read(s->in, true);
    *out = s;
    return true;
}

void stdio_client_send(struct stdio_client *s, struct str message)
{
    line_writer_send(&s->writer, s->out, message);
    if (stream_queued(s->out) > HIGH_WATER)
        stream_read(s->in, false);
}

size_t stdio_client_queued(const struct stdio_client *s)
{
    return stream_queued(s->out);
}

void stdio_client_read(struct stdio_client *s, bool on)
{
    s->read_paused = !on;
    if (!s->input_done)
        stream_read(s->in, on && stream_queued(s->out) <= HIGH_WATER);
}

void stdio_client_finish(struct stdio_client *s, void (*done)(void *to), void *to)
{
    s->input_done = true;
    stream_read(s->in, false);
    s->done = done;
    s->done_to = to;
    finish_if_written(s);
}

void stdio_client_close(struct stdio_client *s)
{
    if (!s)
        return;
    stream_close(s->in);
    stream_close(s->out);
    line_reader_release(&s->reader);
    line_writer_release(&s->writer);
    free(s);
}

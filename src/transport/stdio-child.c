#include "transport/stdio-child.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/process.h"
#include "loop/stream.h"
#include "wire/lines.h"
#include "wire/talk.h"

enum { ONE_WRITE = 64 << 10 }; /* a message up to this size goes out with its newline */

struct stdio_child {
    struct process *process;
    struct stream *in, *out, *err; /* as the server calls them; `in` NULL: closed */
    struct lines lines;
    struct talk talk;
    struct buf line; /* what goes out */
    const struct stdio_child_events *events;
    void *to;
    int code, signum;
    bool ending;               /* nothing more is sent */
    bool out_ended, err_ended; /* all of it was read */
    bool closed;               /* told so */
};

static void tell_line(struct stdio_child *c, enum lines_next kind, struct str line,
                      uint64_t skipped)
{
    if (kind == LINES_LINE)
        c->events->line(c->to, line);
    else
        c->events->too_long(c->to, skipped);
}

static void tell_closed(struct stdio_child *c)
{
    if (c->closed)
        return;
    c->closed = true;
    c->events->closed(c->to);
}

static void check_drained(struct stdio_child *c)
{
    if (c->out_ended && c->err_ended)
        process_drained(c->process);
}

static void out_data(void *to, struct str bytes)
{
    struct stdio_child *c = to;
    enum lines_next next;
    uint64_t skipped = 0;
    struct str line = STR_NONE;

    process_heard(c->process);
    lines_feed(&c->lines, bytes);
    while ((next = lines_next(&c->lines, &line, &skipped)) != LINES_MORE)
        tell_line(c, next, line, skipped);
}

/* A last line without its newline is still what the server said. */
static void hand_rest_over(struct stdio_child *c)
{
    uint64_t skipped = 0;
    struct str line = STR_NONE;
    enum lines_next next = lines_end(&c->lines, &line, &skipped);

    if (next != LINES_MORE)
        tell_line(c, next, line, skipped);
    tell_closed(c);
}

static void out_end(void *to, const struct err *why)
{
    struct stdio_child *c = to;

    (void)why;
    c->out_ended = true;
    hand_rest_over(c);
    check_drained(c);
}

static void err_data(void *to, struct str bytes)
{
    struct stdio_child *c = to;

    talk_feed(&c->talk, bytes, c->events->stderr_text, c->to);
}

static void err_end(void *to, const struct err *why)
{
    struct stdio_child *c = to;

    (void)why;
    talk_end(&c->talk, c->events->stderr_text, c->to);
    c->err_ended = true;
    check_drained(c);
}

static void close_in_if_written(struct stdio_child *c)
{
    if (!c->ending || !c->in || stream_queued(c->in))
        return;
    stream_close(c->in);
    c->in = NULL;
}

static void in_drained(void *to)
{
    close_in_if_written(to);
}

static void in_broken(void *to, const struct err *why)
{
    (void)why; /* it may still talk */
    close_in_if_written(to);
}

static const struct stream_events in_events = { .drained = in_drained, .broken = in_broken };
static const struct stream_events out_events = { .data = out_data, .end = out_end };
static const struct stream_events err_events = { .data = err_data, .end = err_end };

static void process_exited(void *to, int code, int signum)
{
    struct stdio_child *c = to;

    c->code = code;
    c->signum = signum;
}

static void process_done(void *to)
{
    struct stdio_child *c = to;

    if (!c->closed)
        hand_rest_over(c); /* somebody it left behind holds its stdout open */
    talk_end(&c->talk, c->events->stderr_text, c->to);
    c->events->done(c->to, c->code, c->signum);
}

static const struct process_events process_events = { .exited = process_exited,
                                                      .done = process_done };

bool stdio_child_start(struct stdio_child **out, struct loop *l, char *const *argv,
                       size_t max_line, const struct stdio_child_events *events, void *to,
                       int *errnum, struct err *e)
{
    struct stdio_child *c = mem_new(struct stdio_child);
    struct child_fds fds;
    bool ok;

    c->events = events;
    c->to = to;
    c->code = -1;
    buf_init(&c->line, ONE_WRITE + 1);
    lines_init(&c->lines, max_line);
    talk_init(&c->talk);
    if (!process_start(&c->process, l, argv, &fds, &process_events, c, errnum, e)) {
        stdio_child_close(c);
        return false;
    }
    ok = stream_open(&c->in, l, fds.in, &in_events, c, e) &&
         stream_open(&c->out, l, fds.out, &out_events, c, e) &&
         stream_open(&c->err, l, fds.err, &err_events, c, e);
    BUG_IF(!ok); /* pipes that were made just now */
    stream_read(c->out, true);
    stream_read(c->err, true);
    *out = c;
    return true;
}

void stdio_child_send(struct stdio_child *c, struct str message)
{
    if (c->ending)
        return;
    buf_clear(&c->line);
    if (message.len <= ONE_WRITE)
        buf_add(&c->line, message);
    else
        stream_write(c->in, message);
    buf_add_ch(&c->line, '\n');
    stream_write(c->in, buf_str(&c->line));
}

void stdio_child_end(struct stdio_child *c)
{
    c->ending = true;
    close_in_if_written(c);
    process_let_go(c->process);
}

void stdio_child_stop(struct stdio_child *c)
{
    c->ending = true;
    process_ask(c->process, 0);
}

void stdio_child_close(struct stdio_child *c)
{
    if (!c)
        return;
    stream_close(c->in);
    stream_close(c->out);
    stream_close(c->err);
    lines_release(&c->lines);
    talk_release(&c->talk);
    buf_release(&c->line);
    process_close(c->process);
    free(c);
}

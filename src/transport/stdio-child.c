#include "transport/stdio-child.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/process.h"
#include "loop/stream.h"
#include "transport/inlet.h"
#include "transport/outlet.h"
#include "wire/talk.h"

enum { UNREAD_MAX = 4 << 20 }; /* bytes taken after stdio_child_end() */

struct stdio_child {
    struct process *process;
    struct stream *in, *out, *err; /* as the server calls them; `in` NULL: closed */
    struct inlet said;
    struct talk talk;
    struct outlet outlet;
    const struct stdio_child_events *events;
    void *to;
    int code, signum;
    size_t unread;             /* bytes it wrote after `ending` was set, stderr included */
    bool ending;               /* nothing more is sent, and no client reads its output */
    bool out_ended, err_ended; /* all of it was read */
    bool closed;               /* told so */
};

static void on_line(void *to, struct str line)
{
    struct stdio_child *c = to;

    c->events->line(c->to, line);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct stdio_child *c = to;

    c->events->too_long(c->to, bytes);
}

static const struct inlet_events said_events = { .line = on_line, .too_long = on_too_long };

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

/* Counts output that no client reads. After UNREAD_MAX bytes the server is not read any
 * more: it waits in write(2) until its time is over. */
static void count_unread(struct stdio_child *c, size_t bytes)
{
    if (!c->ending || c->unread > UNREAD_MAX)
        return;
    c->unread += bytes;
    if (c->unread <= UNREAD_MAX)
        return;
    stream_read(c->out, false);
    stream_read(c->err, false);
    process_drained(c->process);
}

static void out_data(void *to, struct str bytes)
{
    struct stdio_child *c = to;

    process_heard(c->process);
    inlet_feed(&c->said, bytes);
    count_unread(c, bytes.len);
}

static void out_end(void *to, const struct err *why)
{
    struct stdio_child *c = to;

    (void)why;
    c->out_ended = true;
    inlet_end(&c->said);
    tell_closed(c);
    check_drained(c);
}

static void err_data(void *to, struct str bytes)
{
    struct stdio_child *c = to;

    talk_feed(&c->talk, bytes, c->events->stderr_text, c->to);
    count_unread(c, bytes.len);
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

static void process_hurried(void *to)
{
    struct stdio_child *c = to;

    if (c->events->hurried)
        c->events->hurried(c->to);
}

static void process_done(void *to)
{
    struct stdio_child *c = to;

    inlet_end(&c->said); /* somebody it left behind may hold its stdout open */
    tell_closed(c);
    talk_end(&c->talk, c->events->stderr_text, c->to);
    c->events->done(c->to, c->code, c->signum);
}

static const struct process_events process_events = { .exited = process_exited,
                                                      .hurried = process_hurried,
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
    inlet_init(&c->said, max_line, &said_events, c);
    outlet_init(&c->outlet);
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
    if (!c->ending)
        outlet_send(&c->outlet, c->in, message);
}

size_t stdio_child_queued(const struct stdio_child *c)
{
    return c->in ? stream_queued(c->in) : 0;
}

void stdio_child_end(struct stdio_child *c)
{
    c->ending = true;
    close_in_if_written(c);
    process_let_go(c->process);
    process_unread(c->process);
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
    inlet_release(&c->said);
    talk_release(&c->talk);
    outlet_release(&c->outlet);
    process_close(c->process);
    free(c);
}

#include "transport/stdio-server.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/process.h"
#include "loop/stream.h"
#include "transport/line-io.h"
#include "wire/text-lines.h"

enum { UNREAD_MAX = 4 << 20 }; /* bytes read after stdio_server_end() */

struct stdio_server {
    struct process *process;
    struct stream *in, *out, *err; /* the server's stdin, stdout, stderr; `in` NULL: closed */
    struct line_reader stdout_lines;
    struct text_lines stderr_lines;
    struct line_writer writer;
    const struct stdio_server_events *events;
    void *to;
    int code, signum;
    size_t unread;             /* bytes it wrote after `ending` was set, stderr included */
    bool ending;               /* nothing more is sent, and no client reads its output */
    bool out_ended, err_ended; /* end of file was read */
    bool close_reported;       /* `output_closed` was called */
};

static void on_line(void *to, struct str line)
{
    struct stdio_server *c = to;

    c->events->line(c->to, line);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct stdio_server *c = to;

    c->events->too_long(c->to, bytes);
}

static const struct line_reader_events stdout_events = { .line = on_line,
                                                         .too_long = on_too_long };

static void report_closed(struct stdio_server *c)
{
    if (c->close_reported)
        return;
    c->close_reported = true;
    c->events->output_closed(c->to);
}

static void check_drained(struct stdio_server *c)
{
    if (c->out_ended && c->err_ended)
        process_note_drained(c->process);
}

/* Counts output that no client reads. After UNREAD_MAX bytes the server is not read any
 * more: it waits in write(2) until its time is over. */
static void count_unread(struct stdio_server *c, size_t bytes)
{
    if (!c->ending || c->unread > UNREAD_MAX)
        return;
    c->unread += bytes;
    if (c->unread <= UNREAD_MAX)
        return;
    stream_read(c->out, false);
    stream_read(c->err, false);
    process_note_drained(c->process);
}

static void out_data(void *to, struct str bytes)
{
    struct stdio_server *c = to;

    process_note_output(c->process);
    line_reader_feed(&c->stdout_lines, bytes);
    count_unread(c, bytes.len);
}

static void out_end(void *to, const struct err *why)
{
    struct stdio_server *c = to;

    (void)why;
    c->out_ended = true;
    line_reader_end(&c->stdout_lines);
    report_closed(c);
    check_drained(c);
}

static void err_data(void *to, struct str bytes)
{
    struct stdio_server *c = to;

    text_lines_feed(&c->stderr_lines, bytes, c->events->stderr_text, c->to);
    count_unread(c, bytes.len);
}

static void err_end(void *to, const struct err *why)
{
    struct stdio_server *c = to;

    (void)why;
    text_lines_end(&c->stderr_lines, c->events->stderr_text, c->to);
    c->err_ended = true;
    check_drained(c);
}

static void close_in_if_written(struct stdio_server *c)
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
    (void)why; /* it may still write */
    close_in_if_written(to);
}

static const struct stream_events in_events = { .drained = in_drained, .broken = in_broken };
static const struct stream_events out_events = { .data = out_data, .end = out_end };
static const struct stream_events err_events = { .data = err_data, .end = err_end };

static void process_exited(void *to, int code, int signum)
{
    struct stdio_server *c = to;

    c->code = code;
    c->signum = signum;
}

static void process_sigterm_sent(void *to)
{
    struct stdio_server *c = to;

    if (c->events->sigterm_sent)
        c->events->sigterm_sent(c->to);
}

static void process_done(void *to)
{
    struct stdio_server *c = to;

    line_reader_end(&c->stdout_lines); /* a process that it started may hold its stdout open */
    report_closed(c);
    text_lines_end(&c->stderr_lines, c->events->stderr_text, c->to);
    c->events->done(c->to, c->code, c->signum);
}

static const struct process_events process_events = { .exited = process_exited,
                                                      .term_sent = process_sigterm_sent,
                                                      .done = process_done };

bool stdio_server_start(struct stdio_server **out, struct loop *l, char *const *argv,
                        size_t max_line, const struct stdio_server_events *events, void *to,
                        int *errnum, struct err *e)
{
    struct stdio_server *c = mem_new(struct stdio_server);
    struct child_fds fds;
    bool ok;

    c->events = events;
    c->to = to;
    c->code = -1;
    line_reader_init(&c->stdout_lines, max_line, &stdout_events, c);
    line_writer_init(&c->writer);
    text_lines_init(&c->stderr_lines);
    if (!process_start(&c->process, l, argv, &fds, &process_events, c, errnum, e)) {
        stdio_server_close(c);
        return false;
    }
    ok = stream_open(&c->in, l, fds.in, &in_events, c, e) &&
         stream_open(&c->out, l, fds.out, &out_events, c, e) &&
         stream_open(&c->err, l, fds.err, &err_events, c, e);
    BUG_IF(!ok); /* new pipes */
    stream_read(c->out, true);
    stream_read(c->err, true);
    *out = c;
    return true;
}

void stdio_server_send(struct stdio_server *c, struct str message)
{
    if (!c->ending)
        line_writer_send(&c->writer, c->in, message);
}

size_t stdio_server_queued(const struct stdio_server *c)
{
    return c->in ? stream_queued(c->in) : 0;
}

void stdio_server_end(struct stdio_server *c)
{
    c->ending = true;
    close_in_if_written(c);
    process_expect_exit(c->process);
    process_note_unread(c->process);
}

void stdio_server_stop(struct stdio_server *c)
{
    c->ending = true;
    process_terminate(c->process, 0);
}

void stdio_server_close(struct stdio_server *c)
{
    if (!c)
        return;
    stream_close(c->in);
    stream_close(c->out);
    stream_close(c->err);
    line_reader_release(&c->stdout_lines);
    text_lines_release(&c->stderr_lines);
    line_writer_release(&c->writer);
    process_close(c->process);
    free(c);
}

#include "transport/stdio-relay.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/process.h"
#include "loop/stream.h"
#include "loop/timer.h"
#include "transport/line-io.h"
#include "wire/text-lines.h"

enum {
    HIGH_WATER = 1 << 20,
    CLIENT_POLL_MS = 250, /* interval to check whether a client that is not read has closed */
    CLOSE_STDOUT_MS =
        250, /* from the end of the server's stdout to the close of ours, if it runs on */
    IDLE_POLLS_MAX =
        4, /* checks without progress until the output of an exited server is given up */
};

/* One direction: client to server, server to client, or the server's stderr to ours. */
struct relay_pipe {
    struct stream *from, *into;
    bool ended;  /* end of `from` */
    bool paused; /* `from` is not read while the queue of `into` is full */
};

struct stdio_relay {
    struct loop *loop;
    const struct stdio_relay_events *events;
    void *to;
    struct process *server;
    struct relay_pipe to_server, to_client, stderr_pipe;
    /* The copies for the owner. */
    struct line_reader client_lines, server_lines;
    struct text_lines stderr_lines;
    struct timer *poll_timer, *close_timer;
    size_t unsent_to_server;    /* at the last check for progress */
    uint64_t server_bytes;      /* output of the server, in all */
    uint64_t client_read_bytes; /* bytes that the client had taken at the last check */
    int idle_polls;             /* checks without progress, in a row */
    bool exited;                /* the server has */
};

static void on_client_line(void *to, struct str line)
{
    struct stdio_relay *r = to;

    r->events->line(r->to, TO_SERVER, line);
}

static void on_server_line(void *to, struct str line)
{
    struct stdio_relay *r = to;

    r->events->line(r->to, TO_CLIENT, line);
}

static void on_client_too_long(void *to, uint64_t bytes)
{
    struct stdio_relay *r = to;

    r->events->too_long(r->to, TO_SERVER, bytes);
}

static void on_server_too_long(void *to, uint64_t bytes)
{
    struct stdio_relay *r = to;

    r->events->too_long(r->to, TO_CLIENT, bytes);
}

static const struct line_reader_events client_line_events = { .line = on_client_line,
                                                              .too_long = on_client_too_long };
static const struct line_reader_events server_line_events = { .line = on_server_line,
                                                              .too_long = on_server_too_long };

static bool is_drained(const struct relay_pipe *p)
{
    return p->ended && (!p->into || !stream_queued(p->into));
}

static void finish_if_drained(struct stdio_relay *r)
{
    if (is_drained(&r->to_client) && is_drained(&r->stderr_pipe))
        process_note_drained(r->server);
}

static void report_stderr(void *to, struct str bytes)
{
    struct stdio_relay *r = to;

    r->events->stderr_text(r->to, bytes);
}

static void server_exited(void *to, int code, int signum)
{
    struct stdio_relay *r = to;

    r->exited = true;
    r->events->exited(r->to, code, signum);
}

static size_t server_unsent(const struct stdio_relay *r)
{
    return r->to_server.into ? stream_queued(r->to_server.into) : 0;
}

static size_t client_unsent(const struct stdio_relay *r)
{
    return r->to_client.into ? stream_queued(r->to_client.into) : 0;
}

/* Returns whether the client still has output to take and may take it. One that has closed its
 * side gets a limited time without progress. */
static bool is_client_slow(struct stdio_relay *r)
{
    uint64_t before = r->client_read_bytes;

    r->client_read_bytes = r->server_bytes - client_unsent(r);
    if (!client_unsent(r))
        return false;
    if (r->client_read_bytes > before || !r->to_server.ended) {
        r->idle_polls = 0;
        return true;
    }
    return r->exited && ++r->idle_polls < IDLE_POLLS_MAX;
}

static bool has_backpressure(void *to)
{
    struct stdio_relay *r = to;
    size_t before = r->unsent_to_server;
    bool slow = is_client_slow(r);

    r->unsent_to_server = server_unsent(r);
    return r->unsent_to_server < before || slow;
}

static void server_done(void *to)
{
    struct stdio_relay *r = to;

    /* An unfinished line was forwarded, too. */
    line_reader_end(&r->client_lines);
    line_reader_end(&r->server_lines);
    text_lines_end(&r->stderr_lines, report_stderr, r);
    r->events->done(r->to);
}

static void server_sigterm_sent(void *to)
{
    struct stdio_relay *r = to;

    if (r->events->sigterm_sent)
        r->events->sigterm_sent(r->to);
}

static const struct process_events server_events = { .exited = server_exited,
                                                     .term_sent = server_sigterm_sent,
                                                     .busy = has_backpressure,
                                                     .done = server_done };

static void forward_bytes(struct relay_pipe *p, struct str bytes)
{
    if (!p->into)
        return;
    stream_write(p->into, bytes);
    if (!p->from || stream_queued(p->into) <= HIGH_WATER)
        return;
    stream_read(p->from, false);
    p->paused = true;
}

static void resume_reading(struct relay_pipe *p)
{
    p->paused = false;
    if (!p->ended)
        stream_read(p->from, true);
}

static void client_data(void *to, struct str bytes)
{
    struct stdio_relay *r = to;

    line_reader_feed(&r->client_lines, bytes);
    forward_bytes(&r->to_server, bytes);
    if (r->to_server.paused)
        timer_set(r->poll_timer, CLIENT_POLL_MS);
}

static void end_server(struct stdio_relay *r)
{
    r->unsent_to_server = server_unsent(r);
    r->client_read_bytes = r->server_bytes - client_unsent(r);
    process_expect_exit(r->server);
}

/* Notices that the client is gone while it is not read because the server does not read. */
static void poll_client_eof(void *to)
{
    struct stdio_relay *r = to;

    if (!r->to_server.paused)
        return;
    if (stream_is_peer_closed(r->to_server.from))
        end_server(r);
    else
        timer_set(r->poll_timer, CLIENT_POLL_MS);
}

static void close_server_stdin(struct stdio_relay *r)
{
    stream_close(r->to_server.into);
    r->to_server.into = NULL;
    process_note_output(r->server); /* its time to exit begins now */
}

/* The client has closed: closes the server's stdin after the queued bytes and has the server
 * end. */
static void begin_closing(struct stdio_relay *r)
{
    r->to_server.ended = true;
    if (r->to_server.into && !stream_queued(r->to_server.into))
        close_server_stdin(r);
    end_server(r);
}

static void client_input_end(void *to, const struct err *why)
{
    struct stdio_relay *r = to;

    (void)why; /* an error on stdin means the same as its end */
    line_reader_end(&r->client_lines);
    begin_closing(r);
}

static void server_stdin_drained(void *to)
{
    struct stdio_relay *r = to;

    resume_reading(&r->to_server);
    if (r->to_server.ended && r->to_server.into)
        close_server_stdin(r);
}

/* The server may run on with its stdin closed: the client is still read, else its end would not
 * be seen. */
static void server_stdin_closed(void *to, const struct err *why)
{
    (void)why;
    server_stdin_drained(to);
}

static void server_data(void *to, struct str bytes)
{
    struct stdio_relay *r = to;

    if (!client_unsent(r)) /* a client that takes nothing must not extend its time */
        process_note_output(r->server);
    r->server_bytes += bytes.len;
    line_reader_feed(&r->server_lines, bytes);
    forward_bytes(&r->to_client, bytes);
}

/* Closes our stdout: the server has closed its own and the client has all output. If the server
 * has exited, the relay ends before the timer does. */
static void close_client_stdout(void *to)
{
    struct stdio_relay *r = to;

    stream_hang_up(r->to_client.into);
    r->to_client.into = NULL;
}

static void check_server_output_end(struct stdio_relay *r)
{
    if (is_drained(&r->to_client))
        timer_set(r->close_timer, CLOSE_STDOUT_MS);
    finish_if_drained(r);
}

static void server_output_end(void *to, const struct err *why)
{
    struct stdio_relay *r = to;

    (void)why;
    line_reader_end(&r->server_lines);
    r->to_client.ended = true;
    check_server_output_end(r);
}

static void client_drained(void *to)
{
    struct stdio_relay *r = to;

    resume_reading(&r->to_client);
    check_server_output_end(r);
}

static void client_lost(void *to, const struct err *why)
{
    struct stdio_relay *r = to;

    (void)why;
    begin_closing(r);
    process_note_unread(r->server);
    if (r->to_client.ended)
        return;
    /* The server gets EPIPE, as without the relay. */
    stream_close(r->to_client.from);
    r->to_client.from = NULL;
    server_output_end(r, NULL);
}

static void stderr_data(void *to, struct str bytes)
{
    struct stdio_relay *r = to;

    text_lines_feed(&r->stderr_lines, bytes, report_stderr, r);
    forward_bytes(&r->stderr_pipe, bytes);
}

static void stderr_end(void *to, const struct err *why)
{
    struct stdio_relay *r = to;

    (void)why;
    text_lines_end(&r->stderr_lines, report_stderr, r);
    r->stderr_pipe.ended = true;
    finish_if_drained(r);
}

static void stderr_drained(void *to)
{
    struct stdio_relay *r = to;

    resume_reading(&r->stderr_pipe);
    finish_if_drained(r);
}

static void stderr_lost(void *to, const struct err *why)
{
    (void)why;
    stderr_drained(to);
}

static const struct stream_events client_in_events = { .data = client_data,
                                                       .end = client_input_end };
static const struct stream_events server_in_events = { .drained = server_stdin_drained,
                                                       .broken = server_stdin_closed };
static const struct stream_events server_out_events = { .data = server_data,
                                                        .end = server_output_end };
static const struct stream_events client_out_events = { .drained = client_drained,
                                                        .broken = client_lost };
static const struct stream_events server_err_events = { .data = stderr_data,
                                                        .end = stderr_end };
static const struct stream_events stderr_out_events = { .drained = stderr_drained,
                                                        .broken = stderr_lost };

static bool open_client(struct stdio_relay *r, const struct stdio_relay_config *config,
                        struct err *e)
{
    struct loop *l = r->loop;
    struct err ignored = ERR_NONE;

    if (!stream_open(&r->to_server.from, l, config->client_in, &client_in_events, r, e) ||
        !stream_open(&r->to_client.into, l, config->client_out, &client_out_events, r, e))
        return false;
    /* If our stderr is closed, the server's is only recorded. */
    if (!stream_open(&r->stderr_pipe.into, l, config->stderr_fd, &stderr_out_events, r,
                     &ignored))
        r->stderr_pipe.into = NULL;
    return true;
}

static bool start_server(struct stdio_relay *r, const struct stdio_relay_config *config,
                         int *errnum, struct err *e)
{
    struct loop *l = r->loop;
    struct child_fds fds;
    bool ok;

    if (!process_start(&r->server, l, config->argv, &fds, &server_events, r, errnum, e))
        return false;
    ok = stream_open(&r->to_server.into, l, fds.in, &server_in_events, r, e) &&
         stream_open(&r->to_client.from, l, fds.out, &server_out_events, r, e) &&
         stream_open(&r->stderr_pipe.from, l, fds.err, &server_err_events, r, e);
    BUG_IF(!ok); /* new pipes */
    return true;
}

bool stdio_relay_start(struct stdio_relay **out, struct loop *l,
                       const struct stdio_relay_config *config,
                       const struct stdio_relay_events *events, void *to, int *errnum,
                       struct err *e)
{
    struct stdio_relay *r = mem_new(struct stdio_relay);

    *r = (struct stdio_relay){ .loop = l, .events = events, .to = to };
    line_reader_init(&r->client_lines, config->max_line, &client_line_events, r);
    line_reader_init(&r->server_lines, config->max_line, &server_line_events, r);
    text_lines_init(&r->stderr_lines);
    *errnum = 0;
    if (!open_client(r, config, e) || !start_server(r, config, errnum, e)) {
        stdio_relay_close(r);
        return false;
    }
    r->poll_timer = timer_new(l, poll_client_eof, r);
    r->close_timer = timer_new(l, close_client_stdout, r);
    stream_read(r->to_server.from, true);
    stream_read(r->to_client.from, true);
    stream_read(r->stderr_pipe.from, true);
    *out = r;
    return true;
}

void stdio_relay_signal(struct stdio_relay *r, int signum)
{
    process_terminate(r->server, signum);
}

static void close_pipe(struct relay_pipe *p)
{
    stream_close(p->from);
    stream_close(p->into);
}

void stdio_relay_close(struct stdio_relay *r)
{
    if (!r)
        return;
    close_pipe(&r->to_server);
    close_pipe(&r->to_client);
    close_pipe(&r->stderr_pipe);
    line_reader_release(&r->client_lines);
    line_reader_release(&r->server_lines);
    text_lines_release(&r->stderr_lines);
    timer_close(r->poll_timer);
    timer_close(r->close_timer);
    process_close(r->server);
    free(r);
}

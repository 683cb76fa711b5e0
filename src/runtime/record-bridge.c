#include "runtime/record-bridge.h"

#include "loop/timer.h"
#include "runtime/peer.h"
#include "runtime/record-session.h"
#include "trace/limits.h"
#include "transport/stdio-client.h"

enum {
    HIGH_WATER = 1 << 20,         /* unread bytes for the client */
    SERVER_HIGH_WATER = 16 << 20, /* unsent bytes for the server */
    GRACE_MS = 1000,              /* for the client to read at the end */
};

enum { CONN = 1 }; /* one client, one connection */

struct bridge_recording {
    struct record_session session;
    struct message_parser parser; /* classifies lines */
    struct stdio_client *client;
    struct peer *peer;
    struct timer *grace;     /* set at the end after a signal */
    bool client_paused;      /* the client is not read until the server takes more */
    bool all_sent;           /* all was sent to the client, which may not have read it */
    struct err stdout_error; /* ERR_OK, or why standard output cannot be written */
};

/* Reads the client only as fast as the server takes messages. */
static void adjust_reading(struct bridge_recording *b)
{
    bool hold = peer_queued(b->peer) > SERVER_HIGH_WATER;

    if (hold != b->client_paused)
        stdio_client_read(b->client, !hold);
    b->client_paused = hold;
}

static void on_message(void *to, struct str message)
{
    struct bridge_recording *b = to;

    stdio_client_send(b->client, message);
    if (stdio_client_queued(b->client) > HIGH_WATER)
        peer_read(b->peer, false);
}

static void on_progress(void *to)
{
    struct bridge_recording *b = to;

    if (b->client_paused)
        adjust_reading(b);
}

static void stop_loop(void *to)
{
    struct bridge_recording *b = to;

    loop_stop(b->session.loop);
}

/* After a signal, waits only briefly for the client to read. */
static void set_grace(struct bridge_recording *b)
{
    if (b->session.stop_requested && b->all_sent)
        timer_set(b->grace, GRACE_MS);
}

static void on_exited(void *to)
{
    struct bridge_recording *b = to;

    b->all_sent = true;
    set_grace(b);
    stdio_client_finish(b->client, stop_loop, b);
}

static const struct peer_events server_events = { .message = on_message,
                                                  .progress = on_progress,
                                                  .exited = on_exited };

/* Non-messages are recorded here, since HTTP does not carry them. */
static void on_line(void *to, struct str line)
{
    struct bridge_recording *b = to;

    if (message_parser_peek(&b->parser, line) == PARSE_OTHER)
        traffic_recorder_add_line(&b->session.output.recorder, CONN, TO_SERVER, line);
    peer_send(b->peer, line);
    adjust_reading(b);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct bridge_recording *b = to;
    struct record_output *r = &b->session.output;

    traffic_recorder_add_too_long(&r->recorder, CONN, TO_SERVER, bytes);
    log_printf(r->app->log, LOG_WARN, "the client sent a line of %llu bytes; it was ignored",
               (unsigned long long)bytes);
}

static void on_closed(void *to)
{
    struct bridge_recording *b = to;

    peer_end(b->peer, true);
}

static void on_lost(void *to, const struct err *why)
{
    struct bridge_recording *b = to;

    b->stdout_error = *why;
    err_wrap(&b->stdout_error, "cannot write 'standard output'");
}

static void on_gone(void *to)
{
    struct bridge_recording *b = to;

    peer_stop(b->peer, STR_NONE);
}

static void on_drained(void *to)
{
    struct bridge_recording *b = to;

    peer_read(b->peer, true);
}

static const struct stdio_client_events client_events = { .line = on_line,
                                                          .too_long = on_too_long,
                                                          .input_closed = on_closed,
                                                          .write_failed = on_lost,
                                                          .drained = on_drained,
                                                          .output_closed = on_gone };

static int start(void *to, struct err *e)
{
    struct bridge_recording *b = to;
    bool ok = stdio_client_open(&b->client, b->session.loop, 0, 1, LIMIT_MESSAGE,
                                &client_events, b, e);

    return ok ? 0 : app_exit_code(e);
}

static void stop(void *to, int signum)
{
    struct bridge_recording *b = to;

    (void)signum; /* a signal is the normal end of a stdio server */
    set_grace(b);
    peer_stop(b->peer, STR(RECORD_WHY_STOPPED));
    peer_read(b->peer, true); /* responses are read, but not delivered */
}

static int end(void *to, struct err *e)
{
    struct bridge_recording *b = to;
    bool served = !b->peer->outcome.unanswered &&
                  !rejection_log_never_served(&b->session.output.rejection_log);

    peer_free(b->peer);
    if (b->stdout_error.kind == ERR_OK)
        return served ? EXIT_OK : EXIT_SERVER;
    *e = b->stdout_error;
    return RECORD_OUTPUT_FAILED;
}

static const struct record_session_kind session_kind = {
    .transport = STR_INIT("http"),
    .start = start,
    .stop = stop,
    .end = end,
};

static int run(struct bridge_recording *b, const struct remote_config *server, struct err *e)
{
    struct peer_target target = { .remote = server };
    struct peer_owner owner = { .loop = b->session.loop,
                                .app = b->session.output.app,
                                .events = &server_events,
                                .to = b,
                                .recorder = &b->session.output.recorder,
                                .conn = CONN };
    int code, errnum;

    if (!peer_start(&b->peer, &target, &owner, &errnum, e))
        return app_exit_code(e);
    b->grace = timer_new(b->session.loop, stop_loop, b);
    code = record_session_run(&b->session, e);
    stdio_client_close(b->client);
    timer_close(b->grace);
    return code;
}

int record_bridge_run(const struct app *app, struct record_path *target,
                      const struct record_settings *settings,
                      const struct remote_config *server, struct err *e)
{
    struct bridge_recording b = { .client = NULL };
    int code;

    record_session_init(&b.session, app, target, settings, &session_kind, &b);
    b.session.output.batch_writes = true;
    b.session.output.rejection_log.log_at_end = true; /* HTTP+SSE is tried next */
    message_parser_init(&b.parser);
    code = run(&b, server, e);
    message_parser_release(&b.parser);
    record_session_release(&b.session);
    return code;
}

#include "runtime/record-bridge.h"

#include "loop/signals.h"
#include "loop/timer.h"
#include "runtime/peer-http.h"
#include "trace/limits.h"
#include "transport/stdio-client.h"

enum {
    HIGH_WATER = 1 << 20,         /* unread bytes for the client */
    SERVER_HIGH_WATER = 16 << 20, /* unsent bytes for the server */
    GRACE_MS = 1000,              /* for the client to read at the end */
};

struct bridge_recording {
    struct record_output output;
    struct http_recorder recorder;
    struct message_parser parser; /* classifies lines */
    struct loop *loop;
    struct stdio_client *client;
    struct peer *peer;
    struct signals *signals;
    struct timer *grace;     /* set at the end after a signal */
    bool client_paused;      /* the client is not read until the server takes more */
    bool stop_requested;     /* set by the first signal */
    bool all_sent;           /* all was sent to the client, which may not have read it */
    struct err stdout_error; /* ERR_OK, or why standard output cannot be written */
};

static struct recorder_time now(void *to)
{
    struct bridge_recording *b = to;

    return record_output_now(&b->output);
}

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

static void on_commit_record(void *to)
{
    struct bridge_recording *b = to;

    record_output_report_errors(&b->output,
                                http_recorder_check(&b->recorder, &b->output.error));
    if (b->client_paused)
        adjust_reading(b);
}

static void stop(void *to)
{
    struct bridge_recording *b = to;

    loop_stop(b->loop);
}

/* After a signal, waits only briefly for the client to read. */
static void set_grace(struct bridge_recording *b)
{
    if (b->stop_requested && b->all_sent)
        timer_set(b->grace, GRACE_MS);
}

static void on_exited(void *to)
{
    struct bridge_recording *b = to;

    b->all_sent = true;
    set_grace(b);
    stdio_client_finish(b->client, stop, b);
}

static const struct peer_events server_events = { .message = on_message, .exited = on_exited };

/* Non-messages are recorded here, since HTTP does not carry them. */
static void on_line(void *to, struct str line)
{
    struct bridge_recording *b = to;
    struct record_output *r = &b->output;

    if (message_parser_peek(&b->parser, line) == PARSE_OTHER)
        record_output_report_errors(r, recorder_add_line(&r->recorder, TO_SERVER, line,
                                                         record_output_now(r), &r->error));
    peer_send(b->peer, line);
    adjust_reading(b);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct bridge_recording *b = to;
    struct record_output *r = &b->output;

    r->too_long++;
    record_output_report_errors(r, recorder_add_too_long(&r->recorder, TO_SERVER, bytes,
                                                         record_output_now(r), &r->error));
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

static void on_signal(void *to, int signum)
{
    struct bridge_recording *b = to;

    (void)signum; /* a signal is the normal end of a stdio server */
    if (b->stop_requested)
        loop_stop(b->loop); /* a second signal ends at once */
    b->stop_requested = true;
    set_grace(b);
    peer_stop(b->peer, STR(RECORD_WHY_STOPPED));
    peer_read(b->peer, true); /* responses are read, but not delivered */
}

/* Restores default signal handling while only the disk is waited for. */
static void on_disk_wait(void *to)
{
    struct bridge_recording *b = to;

    signals_close(b->signals);
    b->signals = NULL;
}

static int session_exit_code(struct bridge_recording *b, struct err *e)
{
    int code = EXIT_OK;

    if (b->stdout_error.kind != ERR_OK) {
        *e = b->stdout_error;
        code = RECORD_OUTPUT_FAILED;
    } else if (b->peer->outcome.unanswered ||
               refused_request_never_served(&b->output.refused)) {
        code = EXIT_SERVER;
    }
    return code;
}

static int run(struct bridge_recording *b, struct err *e)
{
    int code;

    b->signals = signals_watch(b->loop, on_signal, b);
    b->grace = timer_new(b->loop, stop, b);
    if (!record_output_open(&b->output, true, e)) {
        code = app_exit_code(e);
    } else if (!stdio_client_open(&b->client, b->loop, 0, 1, LIMIT_MESSAGE, &client_events, b,
                                  e)) {
        code = app_exit_code(e);
        record_output_remove(&b->output);
    } else {
        record_output_write_header(&b->output, STR("http"));
        peer_http_record(b->peer, &(struct peer_http_recording){ .recorder = &b->recorder,
                                                                 .now = now,
                                                                 .commit = on_commit_record });
        loop_run(b->loop);
        code = session_exit_code(b, e);
    }
    peer_free(b->peer);
    if (b->client) {
        b->output.too_long += b->recorder.too_long;
        code = record_output_finish(&b->output, code, NULL);
    }
    stdio_client_close(b->client);
    timer_close(b->grace);
    signals_close(b->signals);
    return code;
}

int record_bridge_run(const struct app *app, struct record_path *target,
                      const struct record_settings *settings,
                      const struct remote_config *server, struct err *e)
{
    struct bridge_recording b = { .loop = loop_new() };
    struct peer_target server_target = { .remote = server };
    struct peer_owner owner = {
        .loop = b.loop, .app = app, .events = &server_events, .to = &b
    };
    int code, errnum;

    if (!peer_start(&b.peer, &server_target, &owner, &errnum, e)) {
        loop_free(b.loop);
        return app_exit_code(e);
    }
    record_output_init(&b.output, app, target, settings, on_disk_wait, &b);
    b.output.batch_writes = true;
    b.output.refused.log_at_end = true; /* HTTP+SSE is tried next */
    http_recorder_init(&b.recorder, &b.output.recorder, settings->max_message,
                       redaction_seen_secrets(settings->redaction));
    if (!settings->redaction->redactor.keep_url)
        http_recorder_redact_urls(&b.recorder, str_z(server->url));
    message_parser_init(&b.parser);
    code = run(&b, e);
    loop_free(b.loop);
    message_parser_release(&b.parser);
    http_recorder_release(&b.recorder);
    record_output_release(&b.output);
    return code;
}

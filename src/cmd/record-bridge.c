#include "cmd/record-bridge.h"

#include "cmd/server-at.h"
#include "loop/signals.h"
#include "loop/timer.h"
#include "trace/limits.h"
#include "transport/stdio.h"

enum {
    HIGH_WATER = 1 << 20,         /* for the client, and not taken */
    SERVER_HIGH_WATER = 16 << 20, /* for the server */
    GRACE_MS = 1000,              /* to take what was said, when we are to end */
};

struct bridge {
    struct reel reel;
    struct http_tap tap;
    struct intake look; /* is a line a message? */
    struct loop *loop;
    struct stdio *client;
    struct server_at server;
    struct signals *signals;
    struct timer *grace; /* runs once all is said and somebody wants us to end */
    bool holding;        /* the client is not read: the server has to take what there is */
    bool signalled;      /* somebody wants us to end */
    bool said_all;       /* to the client, which may not have taken it */
    struct err lost;     /* ERR_OK, or why standard output cannot be written */
};

static struct tap_time now(void *to)
{
    struct bridge *b = to;

    return reel_now(&b->reel);
}

/* The client is read only as fast as the server takes. */
static void adjust(struct bridge *b)
{
    bool hold = server_at_queued(&b->server) > SERVER_HIGH_WATER;

    if (hold != b->holding)
        stdio_read(b->client, !hold);
    b->holding = hold;
}

static void on_message(void *to, struct str message)
{
    struct bridge *b = to;

    stdio_send(b->client, message);
    if (stdio_queued(b->client) > HIGH_WATER)
        server_at_read(&b->server, false);
}

static void on_settle(void *to)
{
    struct bridge *b = to;

    reel_check(&b->reel, http_tap_trouble(&b->tap, &b->reel.why));
    if (b->holding)
        adjust(b);
}

static void stop(void *to)
{
    struct bridge *b = to;

    loop_stop(b->loop);
}

/* Who is asked to end does not wait for long for a client to read. */
static void set_grace(struct bridge *b)
{
    if (b->signalled && b->said_all)
        timer_set(b->grace, GRACE_MS);
}

static void on_done(void *to)
{
    struct bridge *b = to;

    b->said_all = true;
    set_grace(b);
    stdio_finish(b->client, stop, b);
}

static const struct server_at_events server_events = { .message = on_message,
                                                       .settle = on_settle,
                                                       .done = on_done };

/* What is no message has no place in HTTP, but one in the recording. */
static void on_line(void *to, struct str line)
{
    struct bridge *b = to;
    struct reel *r = &b->reel;

    if (intake_look(&b->look, line) == INTAKE_OTHER)
        reel_check(r, tap_line(&r->tap, TO_SERVER, line, reel_now(r), &r->why));
    server_at_say(&b->server, line);
    adjust(b);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct bridge *b = to;
    struct reel *r = &b->reel;

    r->too_long++;
    reel_check(r, tap_too_long(&r->tap, TO_SERVER, bytes, reel_now(r), &r->why));
    log_say(r->app->log, LOG_WARN, "the client sent a line of %llu bytes; it was ignored",
            (unsigned long long)bytes);
}

static void on_closed(void *to)
{
    struct bridge *b = to;

    server_at_close(&b->server);
}

static void on_lost(void *to, const struct err *why)
{
    struct bridge *b = to;

    b->lost = *why;
    err_wrap(&b->lost, "cannot write 'standard output'");
}

static void on_gone(void *to)
{
    struct bridge *b = to;

    server_at_leave(&b->server, STR_NONE);
}

static void on_drained(void *to)
{
    struct bridge *b = to;

    server_at_read(&b->server, true);
}

static const struct stdio_events client_events = { .line = on_line,
                                                   .too_long = on_too_long,
                                                   .closed = on_closed,
                                                   .lost = on_lost,
                                                   .drained = on_drained,
                                                   .gone = on_gone };

static void on_signal(void *to, int signum)
{
    struct bridge *b = to;

    (void)signum; /* being ended by its client is how a stdio server ends */
    if (b->signalled)
        loop_stop(b->loop); /* who asks twice does not want to wait */
    b->signalled = true;
    set_grace(b);
    server_at_leave(&b->server, STR(RECORD_WHY_ENDED));
    server_at_read(&b->server, true); /* nothing of what comes now is for the client */
}

/* Only the disk is waited for: whoever is tired of that may end us as any other program. */
static void on_waits(void *to)
{
    struct bridge *b = to;

    signals_close(b->signals);
    b->signals = NULL;
}

static int end(struct bridge *b, struct err *e)
{
    int code = EXIT_OK;

    if (b->lost.kind != ERR_OK) {
        *e = b->lost;
        code = RECORD_SESSION_FAILED;
    } else if (http_speaker_spoke_in_vain(&b->server.speaker) ||
               refused_request_all(&b->reel.refused)) {
        code = EXIT_SERVER;
    }
    return code;
}

static int run(struct bridge *b, struct err *e)
{
    int code;

    b->signals = signals_watch(b->loop, on_signal, b);
    b->grace = timer_new(b->loop, stop, b);
    if (!reel_settle(&b->reel, true, e)) {
        code = app_exit_code(e);
    } else if (!stdio_open(&b->client, b->loop, 0, 1, LIMIT_MESSAGE, &client_events, b, e)) {
        code = app_exit_code(e);
        reel_abandon(&b->reel);
    } else {
        reel_begin(&b->reel, STR("http"));
        server_at_record(&b->server, &b->tap, now);
        loop_run(b->loop);
        code = end(b, e);
    }
    server_at_release(&b->server);
    if (b->client) {
        b->reel.too_long += b->tap.too_long;
        code = reel_end(&b->reel, code, NULL);
    }
    stdio_close(b->client);
    timer_close(b->grace);
    signals_close(b->signals);
    return code;
}

int record_bridge_run(const struct app *app, struct record_place *place,
                      const struct record_settings *how, const struct remote *server,
                      struct err *e)
{
    struct bridge b = { .loop = loop_new() };
    int code;

    if (!server_at_open(&b.server, app, b.loop, server, &server_events, &b, e)) {
        loop_free(b.loop);
        return app_exit_code(e);
    }
    reel_init(&b.reel, app, place, how, on_waits, &b);
    b.reel.together = true;
    b.reel.refused.at_end = true; /* it may speak HTTP+SSE, which is tried next */
    http_tap_init(&b.tap, &b.reel.tap, how->max_message, redaction_learnt(how->redaction));
    if (!how->redaction->redactor.keep_url)
        http_tap_hide_addresses(&b.tap, str_z(server->url));
    intake_init(&b.look);
    code = run(&b, e);
    loop_free(b.loop);
    intake_release(&b.look);
    http_tap_release(&b.tap);
    reel_release(&b.reel);
    return code;
}

#include "cmd/as-server.h"

#include "loop/signals.h"
#include "trace/limits.h"
#include "transport/stdio.h"

/* Who hurries us hurries the server, too. */
static bool end_command(struct as_server *s)
{
    bool runs = server_end(&s->upstream);

    if (runs && s->asked_to_end)
        server_stop(&s->upstream);
    return runs;
}

static void dismiss_upstream(void *to)
{
    struct as_server *s = to;

    s->upstream_dismissed = true;
    if (!end_command(s) && !far_server_end(&s->far))
        loop_stop(s->loop);
}

static void on_upstream_gone(void *to, struct str why)
{
    struct as_server *s = to;

    if (s->upstream_dismissed)
        loop_stop(s->loop);
    else
        drive_tell(&s->drive, (struct event){ .kind = EVENT_UPSTREAM_CLOSED, .why = why });
}

static const struct server_events upstream_events = { .gone = on_upstream_gone };

static void on_far_gone(void *to)
{
    struct as_server *s = to;

    loop_stop(s->loop);
}

static void start_upstream(struct as_server *s)
{
    const struct as_server_upstream *behind = &s->behind;
    struct err *e = &s->no_upstream;
    bool there;

    BUG_IF(!behind->argv == !behind->where);
    there = behind->argv ? server_start(&s->upstream, s->loop, behind->argv, e)
                         : far_server_start(&s->far, s->loop, behind->where, e);
    if (!there)
        on_upstream_gone(s, str_z(e->msg));
}

static void send_upstream(struct as_server *s, struct str message)
{
    if (s->behind.argv)
        server_send(&s->upstream, message);
    else
        far_server_send(&s->far, message);
}

static void act(void *to, const struct action *a)
{
    struct as_server *s = to;

    if (a->kind == ACTION_SEND)
        stdio_send(s->client, a->text);
    else if (a->kind == ACTION_FINISH && s->listen)
        http_side_finish(&s->http, dismiss_upstream, s);
    else if (a->kind == ACTION_FINISH)
        stdio_finish(s->client, dismiss_upstream, s);
    else if (a->kind == ACTION_START_UPSTREAM)
        start_upstream(s);
    else if (a->kind == ACTION_SEND_UPSTREAM)
        send_upstream(s, a->text);
    else if (s->listen)
        http_side_act(&s->http, a);
}

static void on_line(void *to, struct str line)
{
    struct as_server *s = to;

    hearing_line(&s->hearing, line);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct as_server *s = to;

    hearing_too_long(&s->hearing, bytes);
}

static void on_closed(void *to)
{
    struct as_server *s = to;

    drive_tell(&s->drive, (struct event){ .kind = EVENT_CLOSED });
}

static void on_lost(void *to, const struct err *why)
{
    struct as_server *s = to;

    s->lost = *why;
    err_wrap(&s->lost, "cannot write 'standard output'");
}

static const struct stdio_events client_events = {
    .line = on_line,
    .too_long = on_too_long,
    .closed = on_closed,
    .lost = on_lost,
};

static void on_signal(void *to, int signum)
{
    struct as_server *s = to;

    (void)signum; /* being ended by its client is how a stdio server ends */
    if (s->asked_to_end)
        loop_stop(s->loop); /* who asks twice does not want to read what is left */
    s->asked_to_end = true;
    drive_tell(&s->drive, (struct event){ .kind = EVENT_CLOSED, .hurry = true });
}

void as_server_init(struct as_server *s, const struct app *app, drive_step_fn *step,
                    void *engine, const struct as_server_upstream *upstream,
                    const struct as_server_listen *listen)
{
    *s = (struct as_server){ .loop = loop_new(), .listen = listen };
    if (upstream)
        s->behind = *upstream;
    drive_init(&s->drive, app, s->loop, step, engine, act, s);
    hearing_init(&s->hearing, &s->drive, EVENT_RECORD, TO_SERVER);
    server_init(&s->upstream, &s->drive, EVENT_UPSTREAM, LOG_INFO, &upstream_events, s);
    far_server_init(&s->far, &s->drive, EVENT_UPSTREAM, on_far_gone, s);
}

static bool open_http(struct as_server *s, struct err *e)
{
    if (!http_side_open(&s->http, s->loop, &s->drive, &s->listen->at, e))
        return false;
    s->http.gate = listening_gate(s->listen->args, &s->listen->at);
    return listening_tell(s->drive.app, s->listen->args, http_server_at(s->http.server),
                          s->listen->path.len ? s->listen->path : STR("/mcp"), e);
}

static bool open_client(struct as_server *s, struct err *e)
{
    if (s->listen)
        return open_http(s, e);
    return stdio_open(&s->client, s->loop, 0, 1, LIMIT_MESSAGE, &client_events, s, e);
}

static bool serve(struct as_server *s, struct err *e)
{
    /* Before anybody is told that we are there: it may be enough to ask us to end. */
    struct signals *signals = s->listen ? signals_watch_listener(s->loop, on_signal, s)
                                        : signals_watch(s->loop, on_signal, s);
    bool opened = open_client(s, e);

    if (opened) {
        drive_tell(&s->drive, (struct event){ .kind = EVENT_OPENED });
        loop_run(s->loop);
    }
    signals_close(signals);
    if (!opened)
        return false;
    if (s->lost.kind == ERR_OK)
        return true;
    *e = s->lost;
    return false;
}

int as_server_run(struct as_server *s, struct err *e)
{
    int code = serve(s, e) ? s->drive.exit_code : app_exit_code(e);

    server_release(&s->upstream);
    far_server_release(&s->far);
    stdio_close(s->client);
    if (s->listen)
        http_side_close(&s->http);
    hearing_release(&s->hearing);
    drive_release(&s->drive);
    loop_free(s->loop);
    return code;
}

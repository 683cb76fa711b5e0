#include "runtime/run-server.h"

#include <signal.h>

#include "loop/signals.h"
#include "loop/stdin-end.h"
#include "trace/limits.h"
#include "transport/stdio-client.h"

/* After a signal the server is terminated at once. */
static void end_upstream(void *to)
{
    struct run_server *s = to;

    s->upstream_ended = true;
    if (!peer_lines_end(&s->upstream, false))
        loop_stop(s->loop);
    else if (s->stop_requested)
        peer_lines_stop(&s->upstream);
}

static void on_upstream_exited(void *to, struct str why)
{
    struct run_server *s = to;

    if (s->upstream_ended)
        loop_stop(s->loop);
    else
        driver_dispatch(&s->driver,
                        (struct event){ .kind = EVENT_UPSTREAM_CLOSED, .why = why });
}

static const struct peer_lines_events upstream_events = { .exited = on_upstream_exited };

static void start_upstream(struct run_server *s)
{
    struct err *e = &s->upstream_error;

    if (!peer_lines_start(&s->upstream, s->loop, &s->upstream_target, e))
        on_upstream_exited(s, str_z(e->msg));
}

static void act(void *to, const struct action *a)
{
    struct run_server *s = to;

    if (a->kind == ACTION_SEND)
        stdio_client_send(s->client, a->text);
    else if (a->kind == ACTION_FINISH && s->listen)
        http_clients_finish(&s->http_clients, end_upstream, s);
    else if (a->kind == ACTION_FINISH)
        stdio_client_finish(s->client, end_upstream, s);
    else if (a->kind == ACTION_START_UPSTREAM)
        start_upstream(s);
    else if (a->kind == ACTION_SEND_UPSTREAM)
        peer_lines_send(&s->upstream, a->text);
    else if (s->listen)
        http_clients_act(&s->http_clients, a);
}

static void on_line(void *to, struct str line)
{
    struct run_server *s = to;

    driver_lines_add(&s->lines, line);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct run_server *s = to;

    driver_lines_add_too_long(&s->lines, bytes);
}

static void on_closed(void *to)
{
    struct run_server *s = to;

    driver_dispatch(&s->driver, (struct event){ .kind = EVENT_INPUT_CLOSED });
}

static void on_lost(void *to, const struct err *why)
{
    struct run_server *s = to;

    s->stdout_error = *why;
    err_wrap(&s->stdout_error, "cannot write 'standard output'");
}

static const struct stdio_client_events client_events = {
    .line = on_line,
    .too_long = on_too_long,
    .input_closed = on_closed,
    .write_failed = on_lost,
};

static void on_signal(void *to, int signum)
{
    struct run_server *s = to;

    (void)signum; /* a signal is the normal end of a stdio server */
    if (s->stop_requested)
        loop_stop(s->loop); /* a second signal ends at once */
    s->stop_requested = true;
    driver_dispatch(&s->driver,
                    (struct event){ .kind = EVENT_INPUT_CLOSED, .shutting_down = true });
}

static void on_stdin_end(void *to)
{
    struct run_server *s = to;

    if (!s->stop_requested) /* it is no second signal */
        on_signal(s, SIGTERM);
}

void run_server_init(struct run_server *s, const struct app *app, driver_step_fn *step,
                     void *engine, const struct peer_target *upstream,
                     const struct run_server_listen *listen)
{
    *s = (struct run_server){ .loop = loop_new(), .listen = listen };
    if (upstream)
        s->upstream_target = *upstream;
    driver_init(&s->driver, app, s->loop, step, engine, act, s);
    driver_lines_init(&s->lines, &s->driver, EVENT_RECORD, TO_SERVER);
    peer_lines_init(&s->upstream, &s->driver, EVENT_UPSTREAM_RECORD, LOG_INFO, &upstream_events,
                    s);
    s->upstream.reconnect_hint = STR("the next request starts a new one");
}

static bool open_http(struct run_server *s, struct err *e)
{
    if (!http_clients_open(&s->http_clients, s->loop, &s->driver, &s->listen->address, e))
        return false;
    if (s->listen->args->end_with_stdin &&
        !stdin_end_watch(&s->stdin_end, s->loop, on_stdin_end, s, e))
        return false;
    s->http_clients.access_rules = listen_config_access(s->listen->args, &s->listen->address);
    return listen_config_announce(s->driver.app, s->listen->args,
                                  http_server_address(s->http_clients.server),
                                  s->listen->path.len ? s->listen->path : STR("/mcp"), e);
}

static bool open_client(struct run_server *s, struct err *e)
{
    if (s->listen)
        return open_http(s, e);
    return stdio_client_open(&s->client, s->loop, 0, 1, LIMIT_MESSAGE, &client_events, s, e);
}

static bool serve(struct run_server *s, struct err *e)
{
    /* Before the address is announced: a client may send a signal at once. */
    struct signals *signals = s->listen ? signals_watch_listener(s->loop, on_signal, s)
                                        : signals_watch(s->loop, on_signal, s);
    bool opened = open_client(s, e);

    if (opened) {
        driver_dispatch(&s->driver, (struct event){ .kind = EVENT_OPENED });
        loop_run(s->loop);
    }
    signals_close(signals);
    stdin_end_close(s->stdin_end);
    if (!opened)
        return false;
    if (s->stdout_error.kind == ERR_OK)
        return true;
    *e = s->stdout_error;
    return false;
}

int run_server_run(struct run_server *s, struct err *e)
{
    int code = serve(s, e) ? s->driver.exit_code : app_exit_code(e);

    peer_lines_release(&s->upstream);
    stdio_client_close(s->client);
    if (s->listen)
        http_clients_close(&s->http_clients);
    driver_lines_release(&s->lines);
    driver_release(&s->driver);
    loop_free(s->loop);
    return code;
}

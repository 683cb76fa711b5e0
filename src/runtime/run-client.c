#include "runtime/run-client.h"

#include "base/clock.h"
#include "loop/signals.h"
#include "loop/timer.h"

static void act(void *to, const struct action *a)
{
    struct run_client *c = to;

    if (a->kind == ACTION_SEND)
        peer_lines_send(&c->server, a->text);
    else if (a->kind == ACTION_FINISH) {
        c->ended = !c->closed;
        peer_lines_end(&c->server, true);
    } else
        BUG("a client has no server behind it");
}

static void on_closed(void *to)
{
    struct run_client *c = to;

    c->closed = true;
    driver_dispatch(&c->driver, (struct event){ .kind = EVENT_INPUT_CLOSED,
                                                .shutting_down = c->interrupted });
}

static void on_exited(void *to, struct str why)
{
    struct run_client *c = to;

    (void)why; /* the outcome says enough */
    loop_stop(c->loop);
}

static const struct peer_lines_events server_events = { .closed = on_closed,
                                                        .exited = on_exited };

static void on_timeout(void *to)
{
    struct run_client *c = to;

    c->timed_out = true;
    peer_lines_stop(&c->server);
}

static void on_signal(void *to, int signum)
{
    struct run_client *c = to;

    if (c->interrupted)
        loop_stop(c->loop); /* a second signal ends at once */
    c->interrupted = signum;
    peer_lines_end(&c->server, false);
    peer_lines_stop(&c->server);
}

void run_client_init(struct run_client *c, const struct app *app, driver_step_fn *step,
                     void *engine, enum log_level stderr_level)
{
    *c = (struct run_client){ .loop = loop_new() };
    driver_init(&c->driver, app, c->loop, step, engine, act, c);
    peer_lines_init(&c->server, &c->driver, EVENT_RECORD, stderr_level, &server_events, c);
}

void run_client_release(struct run_client *c)
{
    peer_lines_release(&c->server);
    driver_release(&c->driver);
    loop_free(c->loop);
}

static void run(struct run_client *c, const struct run_client_options *options)
{
    struct timer *limit = timer_new(c->loop, on_timeout, c);

    if (options->limit_ms)
        timer_set(limit, options->limit_ms);
    driver_dispatch(&c->driver, (struct event){ .kind = EVENT_OPENED });
    loop_run(c->loop);
    timer_close(limit);
}

bool run_client_run(struct run_client *c, const struct peer_target *target,
                    const struct run_client_options *options, struct err *e)
{
    /* Before the start: a process that runs must not lose us to a signal. */
    struct signals *signals =
        options->stop_on_signal ? signals_watch(c->loop, on_signal, c) : NULL;
    bool started;

    c->server.no_get_stream = options->no_get_stream;
    started = peer_lines_start(&c->server, c->loop, target, e);
    if (started)
        run(c, options);
    signals_close(signals);
    if (!started)
        return false;
    if (c->timed_out && !c->interrupted) {
        char text[CLOCK_TEXT_SIZE];
        struct str how_long = clock_format_duration(text, (int64_t)options->limit_ms * 1000);

        return err_set(e, ERR_PEER, "the session with '%s' did not end within %.*s",
                       peer_target_name(target), STR_ARG(how_long));
    }
    return true;
}

const struct peer_outcome *run_client_outcome(const struct run_client *c)
{
    BUG_IF(!c->server.peer);
    return &c->server.peer->outcome;
}

static const char *status_hint(unsigned status)
{
    if (status == 401 || status == 403)
        return "it wants a login: pass credentials with --header-env NAME=VARIABLE";
    return status >= 500 ? "the server failed: its log may say why"
                         : "check that the URL is that of an MCP endpoint";
}

/* A process that wrote something else than messages is not, or not only, an MCP server. */
static bool hint_at_output(const struct run_client *c, struct err *e, const char *otherwise)
{
    struct str noise = buf_str(&c->server.first_noise);

    if (noise.len)
        return err_hint(e,
                        "its standard output has text that is no MCP message: '%.*s'\n"
                        "is it an MCP server on stdio?",
                        STR_ARG(noise));
    return err_hint(e, "%s", otherwise);
}

bool run_client_explain_silence(const struct run_client *c, const struct peer_target *target,
                                struct err *e)
{
    const struct peer_outcome *end = run_client_outcome(c);
    const char *name = peer_target_name(target), *colon = end->last_stderr.len ? ": " : "";

    if (target->remote && end->redirect.len)
        return err_set(e, ERR_PEER, "cannot speak to the server at '%s': %.*s", name,
                       STR_ARG(buf_str(&end->redirect)));
    if (target->remote && end->error_status) {
        err_set(e, ERR_PEER, "the server at '%s' answered HTTP %u", name, end->error_status);
        return err_hint(e, "%s", status_hint(end->error_status));
    }
    if (target->remote && end->lost_reason.len) {
        err_set(e, ERR_PEER, "cannot reach the server at '%s': %.*s", name,
                STR_ARG(buf_str(&end->lost_reason)));
        return err_hint(e, "--wait-ready 30s waits for a server that is being started");
    }
    if (target->remote) {
        err_set(e, ERR_PEER, "the server at '%s' did not respond", name);
        return err_hint(e, "is it an MCP endpoint? --timeout gives it more time");
    }
    if (end->exit_text.len && !end->stop_reason.len && !c->timed_out && !c->ended) {
        err_set(e, ERR_PEER, "%.*s before it responded%s%.*s",
                STR_ARG(buf_str(&end->exit_text)), colon, STR_ARG(buf_str(&end->last_stderr)));
        return hint_at_output(c, e,
                              end->last_stderr.len
                                  ? "-v shows its standard error"
                                  : "it wrote nothing; is it an MCP server on stdio?");
    }
    err_set(e, ERR_PEER, "'%s' did not respond%s%.*s", name, colon,
            STR_ARG(buf_str(&end->last_stderr)));
    return hint_at_output(c, e, "is it an MCP server on stdio? --timeout gives it more time");
}

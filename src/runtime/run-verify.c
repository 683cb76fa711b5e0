#include "runtime/run-verify.h"

#include "base/clock.h"
#include "loop/timer.h"

enum { PROBE_MS = 5000, PROBE_PAUSE_MS = 200 };

static void step_verify(void *engine, const struct event *ev)
{
    verify_step(engine, ev);
}

/* Runs a shell command; its standard input is empty. */

static void step_before(void *engine, const struct event *ev)
{
    (void)engine;
    (void)ev; /* its output is no MCP */
}

static bool run_before(struct run_verify *r, struct err *e)
{
    struct arena a = { 0 };
    struct run_client shell;
    struct str script = arena_printf(&a, "exec </dev/null\n%s", r->before);
    char sh[] = "/bin/sh", dash_c[] = "-c";
    char *argv[] = { sh, dash_c, arena_z(&a, script), NULL };
    struct peer_target target = { .argv = argv };
    struct run_client_options options = { .stop_on_signal = true };
    const struct peer_outcome *end;
    bool ok;

    run_client_init(&shell, r->app, step_before, NULL, LOG_INFO);
    ok = run_client_run(&shell, &target, &options, e);
    if (ok) {
        end = run_client_outcome(&shell);
        r->interrupted = shell.interrupted;
        if (end->signum)
            ok = err_set(e, ERR_PEER, "'--before' failed: signal %d ended '%s'", end->signum,
                         r->before);
        else if (end->exit_code)
            ok = err_set(e, ERR_PEER, "'--before' failed: '%s' ended with exit code %d",
                         r->before, end->exit_code);
    }
    run_client_release(&shell);
    arena_release(&a);
    return ok;
}

/* Finds out whether an HTTP server can be reached: any HTTP response to a ping will do. */

struct probe {
    struct mcp_session session;
    struct run_client client;
    bool lost;
};

static void on_probe_response(void *to, uint64_t request, const struct mcp_message *m,
                              int64_t took_us)
{
    struct probe *p = to;

    (void)request;
    (void)m;
    (void)took_us;
    actions_finish(&p->session.actions, 0);
}

static void on_probe_lost(void *to, uint64_t request, enum mcp_session_loss loss,
                          struct str why, unsigned http_status)
{
    struct probe *p = to;

    (void)request;
    (void)loss;
    (void)why;
    p->lost = !http_status;
    actions_finish(&p->session.actions, 0);
}

static void on_probe_message(void *to, const struct mcp_message *m, uint64_t request)
{
    (void)to;
    (void)m;
    (void)request;
}

static void on_probe_request(void *to, const struct mcp_message *m)
{
    (void)to;
    (void)m;
}

static void on_probe_violation(void *to, struct str what, struct str text)
{
    (void)to;
    (void)what;
    (void)text;
}

static const struct mcp_session_events probe_events = {
    on_probe_response, on_probe_lost, on_probe_message, on_probe_request, on_probe_violation,
};

static void step_probe(void *engine, const struct event *ev)
{
    struct probe *p = engine;

    mcp_session_step(&p->session, ev);
    if (ev->kind == EVENT_OPENED)
        mcp_session_request(&p->session, STR("ping"), STR_NONE);
}

/* Returns whether the server could be reached. */
static bool probe_server(struct run_verify *r, bool *reached, struct err *e)
{
    struct run_client_options options = { .limit_ms = PROBE_MS, .stop_on_signal = true };
    struct app quiet = *r->app;
    struct log log = *r->app->log;
    struct probe p = { .lost = false };
    bool ok;

    log.level = LOG_ERROR; /* that it is not there yet is no news */
    quiet.log = &log;
    run_client_init(&p.client, &quiet, step_probe, &p, LOG_DEBUG);
    mcp_session_init(&p.session, &p.client.driver.actions, 0, &probe_events, &p);
    ok = run_client_run(&p.client, &r->target, &options, e) || p.client.timed_out;
    r->interrupted = p.client.interrupted;
    *reached = ok && !p.lost;
    mcp_session_release(&p.session);
    run_client_release(&p.client);
    return ok;
}

static void stop_loop(void *to)
{
    loop_stop(to);
}

static void pause_ms(uint64_t ms)
{
    struct loop *l = loop_new();
    struct timer *t = timer_new(l, stop_loop, l);

    timer_set(t, ms);
    loop_run(l);
    timer_close(t);
    loop_free(l);
}

static bool wait_until_ready(struct run_verify *r, struct err *e)
{
    int64_t end_us = clock_mono_us() + r->wait_ready_us;
    bool reached = false;

    if (!r->wait_ready_us || !r->target.remote)
        return true;
    while (!reached && !r->interrupted) {
        if (!probe_server(r, &reached, e))
            return false;
        if (reached)
            break;
        if (clock_mono_us() >= end_us) {
            err_set(e, ERR_PEER, "the server at '%s' could not be reached in time",
                    r->target.remote->display_url);
            return err_hint(e, "start it, or give it more time with --wait-ready");
        }
        pause_ms(PROBE_PAUSE_MS);
    }
    return true;
}

/* Reports how a process ended that should have answered more. */
static void report_exit(struct run_verify *r, uint32_t session, const struct peer_outcome *end)
{
    struct arena a = { 0 };
    struct finding f = { .rule = STR("server-exited"), .severity = FINDING_WARNING };
    struct str last = buf_str(&end->last_stderr);

    f.message =
        arena_printf(&a, "session %u: %.*s%s%.*s", session + 1,
                     STR_ARG(buf_str(&end->exit_text)), last.len ? ": " : "", STR_ARG(last));
    r->events->finding(r->to, &f);
    arena_release(&a);
}

/* Why no request of a session got a response. */
static bool explain_silence(const struct run_verify *r, const struct run_client *c,
                            struct err *e)
{
    const struct peer_outcome *end = run_client_outcome(c);
    const char *name = peer_target_name(&r->target);

    if (r->target.remote && end->error_status) {
        err_set(e, ERR_PEER, "the server at '%s' answered HTTP %u", name, end->error_status);
        return end->error_status == 401 || end->error_status == 403
                   ? err_hint(e, "it wants a login: pass credentials with --header-env "
                                 "'Authorization=VARIABLE'")
                   : err_hint(e, "check that the URL is that of an MCP endpoint");
    }
    if (r->target.remote) {
        err_set(e, ERR_PEER, "cannot reach the server at '%s': %.*s", name,
                STR_ARG(buf_str(&end->lost_reason)));
        return err_hint(e, "--wait-ready 30s waits for a server that is being started");
    }
    if (end->exit_text.len && !c->timed_out) {
        err_set(e, ERR_PEER, "%.*s before it responded%s%.*s",
                STR_ARG(buf_str(&end->exit_text)), end->last_stderr.len ? ": " : "",
                STR_ARG(buf_str(&end->last_stderr)));
        return err_hint(e, "-v shows its standard error");
    }
    err_set(e, ERR_PEER, "'%s' did not respond", name);
    return err_hint(e, "is it an MCP server on stdio? --timeout gives it more time");
}

/* Runs one session. `*spoke` is whether the server responded to anything; if not, `*silence`
 * gets the reason. */
static bool run_session(struct run_verify *r, uint32_t session, bool *spoke,
                        struct err *silence, struct err *e)
{
    struct run_client_options options = { .stop_on_signal = true };
    struct run_client client;
    struct verify engine;
    bool ok, closed_early;

    run_client_init(&client, r->app, step_verify, &engine, LOG_DEBUG);
    verify_init(&engine, &r->config, session, r->last_number + 1, &client.driver.actions,
                r->events, r->to);
    ok = run_client_run(&client, &r->target, &options, e);
    closed_early = engine.closed_early;
    if (!ok)
        verify_abandon(&engine, STR("the server could not be started"));
    else if (client.interrupted)
        verify_abandon(&engine, STR("the run was interrupted"));
    else
        verify_abandon(&engine, STR("the server has exited"));
    r->interrupted = client.interrupted;
    r->last_number = engine.last_number;
    r->rebound += engine.request.rebound;
    *spoke = engine.responses > 0;
    if (ok && !*spoke)
        explain_silence(r, &client, silence);
    else if (ok && closed_early && !r->target.remote && !client.interrupted)
        report_exit(r, session, run_client_outcome(&client));
    if (ok && engine.error.kind != ERR_OK) {
        *e = engine.error;
        ok = false;
    }
    verify_release(&engine);
    run_client_release(&client);
    return ok;
}

bool run_verify_run(struct run_verify *r, struct err *e)
{
    struct err silence = ERR_NONE;
    bool any_spoke = false, spoke;

    if (!wait_until_ready(r, e))
        return false;
    for (uint32_t i = 0; i < r->config.index->session_count && !r->interrupted; i++) {
        if (!verify_has_requests(&r->config, i))
            continue;
        if (r->before && !run_before(r, e))
            return false;
        r->sessions++;
        if (!run_session(r, i, &spoke, &silence, e))
            return false;
        any_spoke = any_spoke || spoke;
    }
    if (!any_spoke && !r->interrupted && silence.kind != ERR_OK) {
        *e = silence;
        return false;
    }
    return true;
}

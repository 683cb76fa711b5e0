#include "runtime/run-verify.h"

#include "runtime/wait-ready.h"

/* One session that runs. */
struct running {
    struct verify engine;
    const struct run_verify *run;
};

static void step_verify(void *to, const struct event *ev)
{
    struct running *s = to;

    verify_step(&s->engine, ev);
    if (s->run->stepped)
        s->run->stepped(s->run->to);
}

static void step_before(void *engine, const struct event *ev)
{
    (void)engine;
    (void)ev; /* its output is no MCP */
}

/* Runs a shell command; its standard input is empty. */
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
    r->interrupted = shell.interrupted;
    if (ok && !r->interrupted) { /* else the signal has ended the command, however it exits */
        end = run_client_outcome(&shell);
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

/* Sets `*e` to the reason why the server responded to no request: ERR_PEER. */
static void explain_silence(const struct run_verify *r, const struct run_client *client,
                            const struct verify *engine, struct err *e)
{
    if (!engine->not_mcp.len) {
        run_client_explain_silence(client, &r->target, e);
        return;
    }
    err_set(e, ERR_PEER, "'%s' does not speak MCP: %.*s", peer_target_name(&r->target),
            STR_ARG(buf_str(&engine->not_mcp)));
    err_hint(e, r->target.remote ? "check that the URL is that of an MCP endpoint"
                                 : "check that the command starts an MCP server on stdio");
}

/* Runs one session. `*spoke` is whether the server responded to anything; if not, `*silence`
 * gets the reason. */
static bool run_session(struct run_verify *r, uint32_t session, bool *spoke,
                        struct err *silence, struct err *e)
{
    struct run_client_options options = {
        .stop_on_signal = true,
        .no_get_stream = !index_order_wants_get(r->config.order, session),
    };
    struct run_client client;
    struct running running = { .run = r };
    struct verify *engine = &running.engine;
    bool ok, closed_early;

    run_client_init(&client, r->app, step_verify, &running, LOG_DEBUG);
    verify_init(engine, &r->config, session, r->last_number + 1, &client.driver.actions,
                r->events, r->to);
    ok = run_client_run(&client, &r->target, &options, e);
    closed_early = engine->closed_early;
    if (!ok)
        verify_abandon(engine, STR("the server could not be started"));
    else if (client.interrupted)
        verify_abandon(engine, STR("interrupted"));
    else
        verify_abandon(engine, STR("the server has exited"));
    r->interrupted = client.interrupted;
    r->last_number = engine->last_number;
    r->rebound += engine->request.rebound;
    *spoke = engine->responses > 0;
    if (ok && !*spoke)
        explain_silence(r, &client, engine, silence);
    else if (ok && closed_early && !r->target.remote && !client.interrupted)
        report_exit(r, session, run_client_outcome(&client));
    if (ok && engine->error.kind != ERR_OK) {
        *e = engine->error;
        ok = false;
    }
    verify_release(engine);
    run_client_release(&client);
    return ok;
}

static void put_nowhere(struct action_sink *self, const struct action *a)
{
    (void)self;
    (void)a; /* nothing is sent to a server that does not run */
}

/* Gives verdicts to the calls of all sessions from `session` on, which are not run: they are
 * blocked for the reason `why`. */
static void block_sessions(struct run_verify *r, uint32_t session, struct str why)
{
    struct action_sink nowhere = { put_nowhere };
    struct verify engine;

    for (; session < r->config.index->session_count; session++) {
        if (!verify_has_requests(&r->config, session))
            continue;
        verify_init(&engine, &r->config, session, r->last_number + 1, &nowhere, r->events,
                    r->to);
        verify_abandon(&engine, why);
        r->last_number = engine.last_number;
        verify_release(&engine);
    }
}

/* Runs the sessions one after another, until an error or a signal. `*any_spoke` is whether the
 * server responded in one of them. */
static bool run_sessions(struct run_verify *r, bool *any_spoke, struct err *silence,
                         struct err *e)
{
    uint32_t i;
    bool spoke;

    for (i = 0; i < r->config.index->session_count && !r->interrupted; i++) {
        if (!verify_has_requests(&r->config, i))
            continue;
        if (r->before && !run_before(r, e)) {
            block_sessions(r, i, STR("'--before' failed"));
            return false;
        }
        if (r->interrupted)
            break;
        r->sessions++;
        if (!run_session(r, i, &spoke, silence, e)) {
            block_sessions(r, i + 1,
                           e->kind == ERR_PEER ? STR("the server could not be started")
                                               : STR("the recording cannot be read"));
            return false;
        }
        *any_spoke = *any_spoke || spoke;
    }
    if (r->interrupted)
        block_sessions(r, i, STR("interrupted"));
    return true;
}

bool run_verify_run(struct run_verify *r, struct err *e)
{
    struct err silence = ERR_NONE;
    struct wait_ready ready = { .app = r->app,
                                .target = &r->target,
                                .limit_us = r->wait_ready_us };
    bool any_spoke = false;

    r->config.http = r->target.remote != NULL;
    if (!wait_ready_run(&ready, e))
        return false;
    r->interrupted = ready.interrupted;
    if (!run_sessions(r, &any_spoke, &silence, e))
        return false;
    if (!any_spoke && !r->interrupted && silence.kind != ERR_OK) {
        *e = silence;
        return false;
    }
    return true;
}

#include "runtime/wait-ready.h"

#include "base/clock.h"
#include "client/mcp-session.h"
#include "loop/timer.h"
#include "runtime/run-client.h"

enum { PROBE_MS = 5000, PROBE_PAUSE_MS = 200 };

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
static bool probe_server(struct wait_ready *r, bool *reached, struct err *e)
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
    ok = run_client_run(&p.client, r->target, &options, e) || p.client.timed_out;
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

bool wait_ready_run(struct wait_ready *r, struct err *e)
{
    int64_t end_us = clock_mono_us() + r->limit_us;
    bool reached = false;

    if (!r->limit_us || !r->target->remote)
        return true;
    while (!reached && !r->interrupted) {
        if (!probe_server(r, &reached, e))
            return false;
        if (reached)
            break;
        if (clock_mono_us() >= end_us) {
            err_set(e, ERR_PEER, "the server at '%s' could not be reached in time",
                    r->target->remote->display_url);
            return err_hint(e, "start it, or give it more time with --wait-ready");
        }
        pause_ms(PROBE_PAUSE_MS);
    }
    return true;
}

#include "runtime/wait-ready.h"

#include "base/clock.h"
#include "client/mcp-session.h"
#include "loop/signals.h"
#include "loop/timer.h"
#include "runtime/run-client.h"

enum { PROBE_MS = 5000, PROBE_PAUSE_MS = 200 };

/* Finds out whether an HTTP server can be reached: any HTTP response to a ping will do that is
 * not from a proxy whose server is not there yet. */

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

static bool is_proxy_status(unsigned status)
{
    return status == 502 || status == 503 || status == 504;
}

/* Finds out whether the server can be reached. Sets `*status` to 502, 503 or 504 if a proxy
 * says that it cannot. */
static bool probe_server(struct wait_ready *r, uint64_t limit_ms, bool *reached,
                         unsigned *status, struct err *e)
{
    struct run_client_options options = { .limit_ms = limit_ms, .stop_on_signal = true };
    struct app quiet = *r->app;
    struct log log = *r->app->log;
    struct probe p = { .lost = false };
    bool ok, rejected;

    log.level = LOG_ERROR; /* that it is not there yet is no news */
    quiet.log = &log;
    run_client_init(&p.client, &quiet, step_probe, &p, LOG_DEBUG);
    mcp_session_init(&p.session, &p.client.driver.actions, 0, &probe_events, &p);
    ok = run_client_run(&p.client, r->target, &options, e) || p.client.timed_out;
    r->interrupted = p.client.interrupted;
    rejected = ok && is_proxy_status(run_client_outcome(&p.client)->error_status);
    if (rejected)
        *status = run_client_outcome(&p.client)->error_status;
    *reached = ok && !p.lost && !rejected;
    mcp_session_release(&p.session);
    run_client_release(&p.client);
    return ok;
}

/* Between two probes. */
struct rest {
    struct loop *loop;
    int signum; /* that ended it; 0: none */
};

static void on_rest_end(void *to)
{
    struct rest *p = to;

    loop_stop(p->loop);
}

static void on_rest_signal(void *to, int signum)
{
    struct rest *p = to;

    p->signum = signum;
    loop_stop(p->loop);
}

/* Waits; returns the signal that ended it early, or 0. */
static int rest_ms(uint64_t ms)
{
    struct rest p = { .loop = loop_new() };
    struct signals *signals = signals_watch(p.loop, on_rest_signal, &p);
    struct timer *t = timer_new(p.loop, on_rest_end, &p);

    timer_set(t, ms);
    loop_run(p.loop);
    timer_close(t);
    signals_close(signals);
    loop_free(p.loop);
    return p.signum;
}

static bool report_late(const struct wait_ready *r, unsigned status, struct err *e)
{
    const char *url = r->target->remote->display_url;

    if (status)
        err_set(e, ERR_PEER, "the server at '%s' was not ready in time: HTTP %u", url, status);
    else
        err_set(e, ERR_PEER, "the server at '%s' could not be reached in time", url);
    return err_hint(e, "start it, or give it more time with --wait-ready");
}

/* Returns the time until `end_us`, from 1 to `most` ms. */
static uint64_t rest_until(int64_t end_us, uint64_t most)
{
    int64_t ms = (end_us - clock_mono_us()) / 1000;

    return ms < 1 ? 1 : (uint64_t)ms > most ? most : (uint64_t)ms;
}

bool wait_ready_run(struct wait_ready *r, struct err *e)
{
    int64_t end_us = clock_mono_us() + r->limit_us;
    bool reached = false;
    unsigned status = 0;

    if (!r->limit_us || !r->target->remote)
        return true;
    while (!reached && !r->interrupted) {
        if (!probe_server(r, rest_until(end_us, PROBE_MS), &reached, &status, e))
            return false;
        if (reached || r->interrupted)
            break;
        if (clock_mono_us() >= end_us)
            return report_late(r, status, e);
        r->interrupted = rest_ms(rest_until(end_us, PROBE_PAUSE_MS));
    }
    return true;
}

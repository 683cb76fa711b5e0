#include "runtime/fetch-surface.h"

#include "diff/surface-fetch.h"
#include "runtime/run-client.h"
#include "runtime/wait-ready.h"

static void step_fetch(void *engine, const struct event *ev)
{
    surface_fetch_step(engine, ev);
}

/* Decides how the session went. */
static bool judge(const struct fetch_surface *f, const struct run_client *client,
                  const struct surface_fetch *engine, struct err *e)
{
    if (client->interrupted)
        return err_set(e, ERR_IO, "interrupted by signal %d", client->interrupted);
    if (!engine->spoke && !engine->timed_out)
        return run_client_explain_silence(client, f->target, e);
    if (engine->failure.len) {
        err_set(e, ERR_PEER, "cannot read the lists of '%s': %.*s", peer_target_name(f->target),
                STR_ARG(buf_str(&engine->failure)));
        return engine->timed_out
                   ? err_hint(e, "is it an MCP server? --timeout gives it more time")
                   : err_hint(e, "-v shows the standard error of the server");
    }
    if (engine->state != FETCH_DONE)
        return err_set(e, ERR_PEER, "'%s' ended before its lists were read",
                       peer_target_name(f->target));
    return true;
}

static bool fetch(const struct fetch_surface *f, struct surface *to, struct err *e)
{
    const struct run_client_options options = { .stop_on_signal = true };
    struct surface_fetch engine;
    struct run_client client;
    bool ok;

    run_client_init(&client, f->app, step_fetch, &engine, LOG_DEBUG);
    surface_fetch_init(&engine, to, f->version, f->timeout_us, &client.driver.actions);
    ok = run_client_run(&client, f->target, &options, e) && judge(f, &client, &engine, e);
    surface_fetch_release(&engine);
    run_client_release(&client);
    return ok;
}

bool fetch_surface_run(const struct fetch_surface *f, struct surface *to, struct err *e)
{
    struct wait_ready ready = { .app = f->app,
                                .target = f->target,
                                .limit_us = f->wait_ready_us };

    if (!wait_ready_run(&ready, e))
        return false;
    if (ready.interrupted)
        return err_set(e, ERR_IO, "interrupted by signal %d", ready.interrupted);
    return fetch(f, to, e);
}

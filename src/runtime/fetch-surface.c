#include "runtime/fetch-surface.h"

#include "diff/surface-fetch.h"
#include "runtime/run-client.h"
#include "runtime/wait-ready.h"
#include "trace/limits.h"

static void step_fetch(void *engine, const struct event *ev)
{
    surface_fetch_step(engine, ev);
}

/* Names the exit of a process that ended while its lists were read; returns false if that is
 * not what happened. */
static bool explain_exit(const struct run_client *client, const struct surface_fetch *engine,
                         struct err *e)
{
    const struct peer_outcome *end = run_client_outcome(client);

    if (!engine->unanswered.len || !end->exit_text.len || end->stop_reason.len || client->ended)
        return false;
    err_set(e, ERR_PEER, "%.*s before it responded to %.*s%s%.*s",
            STR_ARG(buf_str(&end->exit_text)), STR_ARG(engine->unanswered),
            end->last_stderr.len ? ": " : "", STR_ARG(buf_str(&end->last_stderr)));
    err_hint(e, "-v shows its standard error");
    return true;
}

/* Decides how the session went. */
static bool judge(const struct fetch_surface *f, const struct run_client *client,
                  const struct surface_fetch *engine, struct err *e)
{
    if (client->interrupted)
        return err_set(e, ERR_IO, "interrupted by signal %d", client->interrupted);
    if (!engine->spoke && !engine->timed_out)
        return run_client_explain_silence(client, f->target, e);
    if (explain_exit(client, engine, e))
        return false;
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

/* Returns a value without its secrets, in `to`. */
static struct json_val redact_value(struct redactor *r, struct json_val v, struct surface *to)
{
    struct json_val clean = JSON_VAL_NONE;
    struct json_fault fault;
    struct json doc;
    struct buf text;

    if (!json_exists(v))
        return v;
    json_init(&doc);
    buf_init(&text, LIMIT_LINE);
    redactor_redact_value(r, STR_NONE, json_raw(v), &text);
    if (!text.full && json_scan(&doc, buf_str(&text), &fault))
        clean = surface_copy(to, json_root(&doc));
    buf_release(&text);
    json_release(&doc);
    return clean;
}

static struct str redact_text(struct redactor *r, struct str text, struct surface *to)
{
    struct str clean;
    struct buf b;

    buf_init(&b, LIMIT_LINE);
    redactor_redact_text(r, text, &b);
    clean = arena_str(&to->arena, b.full ? STR("[REDACTED]") : buf_str(&b));
    buf_release(&b);
    return clean;
}

static void redact_list(struct redactor *r, const struct surface *s, enum surface_kind kind,
                        struct surface *to)
{
    const struct surface_list *from = &s->lists[kind];

    to->lists[kind].known = from->known;
    to->lists[kind].has_more = from->has_more;
    to->lists[kind].nameless = from->nameless;
    for (size_t i = 0; i < from->count; i++)
        surface_add_item(to, kind, redact_value(r, from->items[i].def, to),
                         from->items[i].line);
}

static void redact_surface(struct redactor *r, struct surface *s)
{
    struct surface clean;

    surface_init(&clean);
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        redact_list(r, s, k, &clean);
    clean.described = s->described;
    clean.sorted = s->sorted;
    clean.protocol_version = redact_text(r, s->protocol_version, &clean);
    clean.instructions = redact_text(r, s->instructions, &clean);
    clean.capabilities = redact_value(r, s->capabilities, &clean);
    clean.server_info = redact_value(r, s->server_info, &clean);
    surface_release(s);
    *s = clean;
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
    if (!fetch(f, to, e))
        return false;
    if (f->redactor)
        redact_surface(f->redactor, to);
    return true;
}

#include "cmd/as-server.h"

#include "base/clock.h"
#include "base/log.h"
#include "loop/signals.h"
#include "trace/limits.h"
#include "transport/stdio.h"

static struct as_server *of_actions(struct action_sink *a)
{
    return (struct as_server *)((char *)a - offsetof(struct as_server, actions));
}

static struct as_server *of_records(struct sink *r)
{
    return (struct as_server *)((char *)r - offsetof(struct as_server, records));
}

/* A client can be found gone while the engine speaks to it. It hears of that when it has
 * finished its step. */
static void take_step(struct as_server *s, const struct event *ev)
{
    bool nested = s->stepping;

    s->stepping = true;
    s->step(s->engine, ev);
    s->stepping = nested;
    if (!nested && s->client_gone && !s->finished) {
        struct event gone = { .kind = EVENT_CLOSED, .now_us = clock_mono_us() };

        s->client_gone = false;
        take_step(s, &gone);
    }
}

static void feed(struct as_server *s, enum event_kind kind, const struct record *r)
{
    struct event ev = { .kind = kind, .now_us = clock_mono_us(), .record = r };

    take_step(s, &ev);
}

static void ring(void *to, uint64_t name)
{
    struct as_server *s = to;
    struct event ev = { .kind = EVENT_TIMER, .now_us = clock_mono_us(), .timer = name };

    take_step(s, &ev);
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    feed(of_records(self), EVENT_RECORD, r);
    return true;
}

static void stop(void *to)
{
    struct as_server *s = to;

    loop_stop(s->loop);
}

static void end_upstream(void *to)
{
    struct as_server *s = to;

    behind_finish(&s->behind, stop);
}

static void put_action(struct action_sink *self, const struct action *a)
{
    struct as_server *s = of_actions(self);

    switch (a->kind) {
    case ACTION_SEND:
        stdio_send(s->client, a->text);
        break;
    case ACTION_REPORT:
        log_say(s->app->log, a->level, "%.*s", STR_ARG(a->text));
        break;
    case ACTION_SET_TIMER:
        alarms_set(&s->alarms, a->timer, a->delay_us);
        break;
    case ACTION_FINISH:
        s->exit_code = a->exit_code;
        s->finished = true;
        stdio_finish(s->client, end_upstream, s);
        break;
    case ACTION_START_UPSTREAM:
        behind_start(&s->behind, s->loop);
        break;
    case ACTION_SEND_UPSTREAM:
        behind_send(&s->behind, a->text);
        break;
    }
}

static void on_line(void *to, struct str line)
{
    struct as_server *s = to;
    struct err e = ERR_NONE;

    if (!intake_line(&s->intake, TO_SERVER, line, &s->records, &e))
        BUG("an engine takes every record");
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct as_server *s = to;

    log_say(s->app->log, LOG_WARN, "the client sent a line of %llu bytes; it was ignored",
            (unsigned long long)bytes);
}

static void on_closed(void *to)
{
    struct as_server *s = to;

    if (s->stepping)
        s->client_gone = true;
    else
        feed(s, EVENT_CLOSED, NULL);
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

static void on_upstream(void *to, const struct record *r)
{
    feed(to, EVENT_UPSTREAM, r);
}

static void on_upstream_gone(void *to, struct str why)
{
    struct as_server *s = to;
    struct event ev = { .kind = EVENT_UPSTREAM_CLOSED, .now_us = clock_mono_us(), .why = why };

    take_step(s, &ev);
}

static const struct behind_events upstream_events = {
    .record = on_upstream,
    .gone = on_upstream_gone,
};

static void on_signal(void *to, int signum)
{
    struct as_server *s = to;

    (void)signum; /* being ended by its client is how a stdio server ends */
    if (s->asked_to_end)
        stop(s); /* who asks twice does not want to read what is left */
    s->asked_to_end = true;
    feed(s, EVENT_CLOSED, NULL);
}

void as_server_init(struct as_server *s, const struct app *app, as_server_step_fn *step,
                    void *engine, char *const *upstream)
{
    *s = (struct as_server){
        .actions = { put_action },
        .records = { put_record },
        .app = app,
        .step = step,
        .engine = engine,
    };
    behind_init(&s->behind, app, upstream, &upstream_events, s);
}

int as_server_run(struct as_server *s, struct err *e)
{
    struct signals *signals;

    s->loop = loop_new();
    intake_init(&s->intake);
    alarms_init(&s->alarms, s->loop, ring, s);
    if (stdio_open(&s->client, s->loop, 0, 1, LIMIT_MESSAGE, &client_events, s, e)) {
        signals = signals_watch(s->loop, on_signal, s);
        feed(s, EVENT_OPENED, NULL);
        loop_run(s->loop);
        signals_close(signals);
    } else {
        s->exit_code = app_exit_code(e);
    }
    if (s->lost.kind != ERR_OK) {
        *e = s->lost;
        s->exit_code = app_exit_code(e);
    }
    behind_release(&s->behind);
    alarms_release(&s->alarms);
    stdio_close(s->client);
    intake_release(&s->intake);
    loop_free(s->loop);
    return s->exit_code;
}

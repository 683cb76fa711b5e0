#include "cmd/as-client.h"

#include "base/clock.h"
#include "base/log.h"
#include "loop/timer.h"
#include "trace/limits.h"
#include "transport/stdio-child.h"

enum { LAST_WORDS = 4096 };

static struct as_client *of_actions(struct action_sink *a)
{
    return (struct as_client *)((char *)a - offsetof(struct as_client, actions));
}

static struct as_client *of_records(struct sink *r)
{
    return (struct as_client *)((char *)r - offsetof(struct as_client, records));
}

static void feed(struct as_client *c, enum event_kind kind, const struct record *r)
{
    struct event ev = { .kind = kind, .now_us = clock_mono_us(), .record = r };

    c->step(c->engine, &ev);
}

static void ring(void *to, uint64_t name)
{
    struct as_client *c = to;
    struct event ev = { .kind = EVENT_TIMER, .now_us = clock_mono_us(), .timer = name };

    c->step(c->engine, &ev);
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    feed(of_records(self), EVENT_RECORD, r);
    return true;
}

static void put_action(struct action_sink *self, const struct action *a)
{
    struct as_client *c = of_actions(self);

    switch (a->kind) {
    case ACTION_SEND:
        stdio_child_send(c->server, a->text);
        break;
    case ACTION_REPORT:
        log_say(c->app->log, a->level, "%.*s", STR_ARG(a->text));
        break;
    case ACTION_SET_TIMER:
        alarms_set(&c->alarms, a->timer, a->delay_us);
        break;
    case ACTION_FINISH:
        c->exit_code = a->exit_code;
        stdio_child_end(c->server);
        break;
    case ACTION_START_UPSTREAM:
    case ACTION_SEND_UPSTREAM:
        BUG("a client has no server behind it");
    }
}

static void on_line(void *to, struct str line)
{
    struct as_client *c = to;
    struct err e = ERR_NONE;

    if (!intake_line(&c->intake, TO_CLIENT, line, &c->records, &e))
        BUG("an engine takes every record");
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct as_client *c = to;

    log_say(c->app->log, LOG_WARN, "the server sent a line of %llu bytes; it was ignored",
            (unsigned long long)bytes);
}

static void on_stderr(void *to, struct str text)
{
    struct as_client *c = to;

    while (text.len) {
        struct str line = str_trim(str_cut(&text, '\n'));

        if (!line.len)
            continue;
        log_say(c->app->log, LOG_DEBUG, "server: %.*s", STR_ARG(line));
        buf_clear(&c->last_words);
        buf_add(&c->last_words, line.len > LAST_WORDS ? str_n(line.at, LAST_WORDS) : line);
    }
}

static void on_closed(void *to)
{
    struct as_client *c = to;

    feed(c, EVENT_CLOSED, NULL);
    stdio_child_end(c->server);
}

static void on_done(void *to, int code, int signum)
{
    struct as_client *c = to;

    c->server_code = code;
    c->server_signal = signum;
    loop_stop(c->loop);
}

static const struct stdio_child_events server_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .closed = on_closed,
    .done = on_done,
};

static void on_late(void *to)
{
    struct as_client *c = to;

    c->late = true;
    stdio_child_stop(c->server);
}

void as_client_init(struct as_client *c, const struct app *app, as_client_step_fn *step,
                    void *engine)
{
    *c = (struct as_client){
        .actions = { put_action },
        .records = { put_record },
        .app = app,
        .step = step,
        .engine = engine,
    };
    intake_init(&c->intake);
    buf_init(&c->last_words, LAST_WORDS);
}

void as_client_release(struct as_client *c)
{
    intake_release(&c->intake);
    buf_release(&c->last_words);
}

static void run(struct as_client *c, uint64_t limit_ms)
{
    struct timer *limit = timer_new(c->loop, on_late, c);

    timer_set(limit, limit_ms);
    alarms_init(&c->alarms, c->loop, ring, c);
    feed(c, EVENT_OPENED, NULL);
    loop_run(c->loop);
    timer_close(limit);
    alarms_release(&c->alarms);
    stdio_child_close(c->server);
}

bool as_client_run(struct as_client *c, char *const *argv, uint64_t limit_ms, struct err *e)
{
    int errnum;
    bool started;

    c->loop = loop_new();
    started = stdio_child_start(&c->server, c->loop, argv, LIMIT_MESSAGE, &server_events, c,
                                &errnum, e);
    if (started)
        run(c, limit_ms);
    loop_free(c->loop);
    if (c->late) {
        char text[CLOCK_TEXT];
        struct str limit = clock_duration(text, (int64_t)limit_ms * 1000);

        return err_set(e, ERR_PEER, "the session with '%s' was not over after %.*s", argv[0],
                       STR_ARG(limit));
    }
    return started;
}

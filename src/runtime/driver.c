#include "runtime/driver.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct driver_lines *h = (struct driver_lines *)self;

    (void)e;
    driver_dispatch(h->driver, (struct event){ .kind = h->kind, .record = r });
    return true;
}

void driver_lines_init(struct driver_lines *h, struct driver *driver, enum event_kind kind,
                       enum record_dir dir)
{
    *h = (struct driver_lines){
        .records = { put_record }, .driver = driver, .kind = kind, .dir = dir
    };
    message_parser_init(&h->parser);
}

void driver_lines_release(struct driver_lines *h)
{
    message_parser_release(&h->parser);
}

void driver_lines_add(struct driver_lines *h, struct str line)
{
    struct err e = ERR_NONE;

    if (!message_parser_line(&h->parser, h->dir, line, &h->records, &e))
        BUG("the engine rejected a record");
}

void driver_lines_add_too_long(const struct driver_lines *h, uint64_t bytes)
{
    const struct record r = { .kind = RECORD_RAW,
                              .bytes = { .dir = h->dir, .why = STR("line too long") } };

    log_printf(h->driver->app->log, LOG_WARN,
               "the %s sent a line of %llu bytes; it was ignored",
               h->dir == TO_CLIENT ? "server" : "client", (unsigned long long)bytes);
    if (h->dir == TO_SERVER)
        driver_dispatch(h->driver, (struct event){ .kind = h->kind, .record = &r });
}

struct driver_timer {
    struct driver_timer *next;
    struct driver_timers *owner;
    struct timer *timer;
    uint64_t number;
};

void driver_timers_init(struct driver_timers *a, struct loop *l, driver_timers_fn *fn, void *to)
{
    *a = (struct driver_timers){ .loop = l, .expired = fn, .to = to };
}

static void remove_timer(struct driver_timer *gone)
{
    struct driver_timer **at = &gone->owner->first;

    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    timer_close(gone->timer);
    free(gone);
}

static void on_expired(void *to)
{
    struct driver_timer *timer = to;
    struct driver_timers *a = timer->owner;
    uint64_t number = timer->number;

    remove_timer(timer);
    a->expired(a->to, number);
}

void driver_timers_set(struct driver_timers *a, uint64_t number, int64_t delay_us)
{
    struct driver_timer *timer = mem_new(struct driver_timer);

    timer->owner = a;
    timer->number = number;
    timer->timer = timer_new(a->loop, on_expired, timer);
    timer->next = a->first;
    a->first = timer;
    timer_set(timer->timer, (uint64_t)(delay_us + 999) / 1000);
}

void driver_timers_release(struct driver_timers *a)
{
    while (a->first)
        remove_timer(a->first);
}

static void on_timer(void *to, uint64_t number)
{
    driver_dispatch(to, (struct event){ .kind = EVENT_TIMER, .timer = number });
}

static void put_action(struct action_sink *self, const struct action *a)
{
    struct driver *d = (struct driver *)self;

    switch (a->kind) {
    case ACTION_REPORT:
        log_printf(d->app->log, a->level, "%.*s", STR_ARG(a->text));
        return;
    case ACTION_SET_TIMER:
        driver_timers_set(&d->timers, a->timer, a->delay_us);
        return;
    case ACTION_FINISH:
        d->exit_code = a->exit_code;
        break;
    case ACTION_SEND:
    case ACTION_CALL_STARTED:
    case ACTION_CANCELLED:
    case ACTION_HTTP_RESPONSE:
    case ACTION_STREAM_OPEN:
    case ACTION_STREAM_WRITE:
    case ACTION_STREAM_END:
    case ACTION_START_UPSTREAM:
    case ACTION_SEND_UPSTREAM:
    case ACTION_END_UPSTREAM:
    case ACTION_UNDELIVERED:
    case ACTION_HTTP_REQUEST:
    case ACTION_HTTP_ABORT:
    case ACTION_INVALID_RESPONSE:
        break;
    }
    d->on_action(d->to, a);
}

void driver_init(struct driver *d, const struct app *app, struct loop *l, driver_step_fn *step,
                 void *engine, driver_action_fn *act, void *to)
{
    *d = (struct driver){
        .actions = { put_action },
        .app = app,
        .step = step,
        .engine = engine,
        .on_action = act,
        .to = to,
    };
    driver_timers_init(&d->timers, l, on_timer, d);
}

void driver_release(struct driver *d)
{
    driver_timers_release(&d->timers);
    free(d->deferred);
}

static void step_engine(struct driver *d, struct event *ev)
{
    ev->now_us = clock_mono_us();
    d->stepping = true;
    d->step(d->engine, ev);
    d->stepping = false;
}

/* Returns whether an event borrows data that does not outlive its dispatch. */
static bool is_borrowed(enum event_kind kind)
{
    return kind == EVENT_RECORD || kind == EVENT_UPSTREAM_RECORD ||
           kind == EVENT_UPSTREAM_LOST || kind == EVENT_CLIENT_LINE ||
           kind == EVENT_RESPONSE_HEAD || kind == EVENT_RESPONSE_DATA ||
           kind == EVENT_REQUEST_FAILED;
}

void driver_dispatch(struct driver *d, struct event ev)
{
    if (d->stepping) {
        BUG_IF(is_borrowed(ev.kind));
        d->deferred = mem_reserve(d->deferred, &d->deferred_cap, d->deferred_count + 1,
                                  sizeof *d->deferred);
        d->deferred[d->deferred_count++] = ev;
        return;
    }
    step_engine(d, &ev);
    for (size_t i = 0; i < d->deferred_count; i++) {
        struct event next = d->deferred[i];

        step_engine(d, &next);
    }
    d->deferred_count = 0;
}

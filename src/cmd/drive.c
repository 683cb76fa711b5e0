#include "cmd/drive.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

static void ring(void *to, uint64_t name)
{
    drive_tell(to, (struct event){ .kind = EVENT_TIMER, .timer = name });
}

static void put_action(struct action_sink *self, const struct action *a)
{
    struct drive *d = (struct drive *)self;

    switch (a->kind) {
    case ACTION_REPORT:
        log_say(d->app->log, a->level, "%.*s", STR_ARG(a->text));
        return;
    case ACTION_SET_TIMER:
        alarms_set(&d->alarms, a->timer, a->delay_us);
        return;
    case ACTION_FINISH:
        d->exit_code = a->exit_code;
        break;
    case ACTION_SEND:
    case ACTION_BEGIN:
    case ACTION_DROP:
    case ACTION_ANSWER:
    case ACTION_OPEN:
    case ACTION_WRITE:
    case ACTION_END:
    case ACTION_START_UPSTREAM:
    case ACTION_SEND_UPSTREAM:
    case ACTION_END_UPSTREAM:
    case ACTION_UNHEARD:
    case ACTION_ASK:
    case ACTION_ABANDON:
    case ACTION_FAULT:
        break;
    }
    d->act(d->to, a);
}

void drive_init(struct drive *d, const struct app *app, struct loop *l, drive_step_fn *step,
                void *engine, drive_act_fn *act, void *to)
{
    *d = (struct drive){
        .actions = { put_action },
        .app = app,
        .step = step,
        .engine = engine,
        .act = act,
        .to = to,
    };
    alarms_init(&d->alarms, l, ring, d);
}

void drive_release(struct drive *d)
{
    alarms_release(&d->alarms);
    free(d->later);
}

static void take_step(struct drive *d, struct event *ev)
{
    ev->now_us = clock_mono_us();
    d->stepping = true;
    d->step(d->engine, ev);
    d->stepping = false;
}

/* What such an event points to is gone when the engine has time for it. */
static bool is_borrowed(enum event_kind kind)
{
    return kind == EVENT_RECORD || kind == EVENT_UPSTREAM || kind == EVENT_UPSTREAM_LOST ||
           kind == EVENT_SAY || kind == EVENT_HEAD || kind == EVENT_DATA ||
           kind == EVENT_FAILED;
}

void drive_tell(struct drive *d, struct event ev)
{
    if (d->stepping) {
        BUG_IF(is_borrowed(ev.kind));
        d->later = mem_reserve(d->later, &d->later_cap, d->later_count + 1, sizeof *d->later);
        d->later[d->later_count++] = ev;
        return;
    }
    take_step(d, &ev);
    for (size_t i = 0; i < d->later_count; i++) {
        struct event next = d->later[i];

        take_step(d, &next);
    }
    d->later_count = 0;
}

#include "cmd/alarms.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"

struct alarm {
    struct alarm *next;
    struct alarms *of;
    struct timer *timer;
    uint64_t name;
};

void alarms_init(struct alarms *a, struct loop *l, alarms_fn *fn, void *to)
{
    *a = (struct alarms){ .loop = l, .fn = fn, .to = to };
}

static void remove_alarm(struct alarm *gone)
{
    struct alarm **at = &gone->of->first;

    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    timer_close(gone->timer);
    free(gone);
}

static void ring(void *to)
{
    struct alarm *one = to;
    struct alarms *a = one->of;
    uint64_t name = one->name;

    remove_alarm(one);
    a->fn(a->to, name);
}

void alarms_set(struct alarms *a, uint64_t name, int64_t delay_us)
{
    struct alarm *one = mem_new(struct alarm);

    one->of = a;
    one->name = name;
    one->timer = timer_new(a->loop, ring, one);
    one->next = a->first;
    a->first = one;
    timer_set(one->timer, (uint64_t)(delay_us + 999) / 1000);
}

void alarms_release(struct alarms *a)
{
    while (a->first)
        remove_alarm(a->first);
}

#include "loop/timer.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

struct timer {
    uv_timer_t uv; /* first: libuv's handle is ours */
    timer_fn *fn;
    void *arg;
};

static void on_timer(uv_timer_t *uv)
{
    struct timer *t = (struct timer *)uv;

    t->fn(t->arg);
}

static void on_closed(uv_handle_t *uv)
{
    free(uv);
}

struct timer *timer_new(struct loop *l, timer_fn *fn, void *to)
{
    struct timer *t = mem_new(struct timer);

    t->fn = fn;
    t->arg = to;
    BUG_IF(uv_timer_init(&l->uv, &t->uv) != 0);
    return t;
}

void timer_set(struct timer *t, uint64_t ms)
{
    /* libuv counts from the loop's cached time, which may be old. */
    uv_update_time(t->uv.loop);
    /* Its clock has whole milliseconds only: the current one does not count. */
    BUG_IF(uv_timer_start(&t->uv, on_timer, ms ? ms + 1 : 0, 0) != 0);
}

void timer_stop(struct timer *t)
{
    uv_timer_stop(&t->uv);
}

void timer_close(struct timer *t)
{
    if (t)
        uv_close((uv_handle_t *)&t->uv, on_closed);
}

#include "loop/signals.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

static const int watched[] = { SIGINT, SIGTERM, SIGHUP };

enum { WATCHED = sizeof watched / sizeof watched[0] };

struct signals {
    uv_signal_t uv[WATCHED];
    size_t open;
    signals_fn *fn;
    void *to;
};

static void caught(uv_signal_t *uv, int signum)
{
    struct signals *s = uv->data;

    s->fn(s->to, signum);
}

struct signals *signals_watch(struct loop *l, signals_fn *fn, void *to)
{
    struct signals *s = mem_new(struct signals);

    s->fn = fn;
    s->to = to;
    for (; s->open < WATCHED; s->open++) {
        uv_signal_t *uv = &s->uv[s->open];
        BUG_IF(uv_signal_init(&l->uv, uv) != 0);
        uv->data = s;
        uv_unref((uv_handle_t *)uv);
        BUG_IF(uv_signal_start(uv, caught, watched[s->open]) != 0);
    }
    return s;
}

static void closed(uv_handle_t *uv)
{
    struct signals *s = uv->data;

    if (--s->open == 0)
        free(s);
}

void signals_close(struct signals *s)
{
    for (size_t i = 0; s && i < WATCHED; i++)
        uv_close((uv_handle_t *)&s->uv[i], closed);
}

#include "loop/signals.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

static const int watched[] = { SIGINT, SIGTERM, SIGHUP };

enum { WATCHED = sizeof watched / sizeof watched[0] };

struct signals {
    uv_signal_t uv[WATCHED];
    size_t open; /* how many of these there are */
    signals_fn *fn;
    void *to;
};

static void caught(uv_signal_t *uv, int signum)
{
    struct signals *s = uv->data;

    s->fn(s->to, signum);
}

/* Under nohup(1), and in the background of a shell without job control. */
static bool is_ignored(int signum)
{
    struct sigaction now;

    return sigaction(signum, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

struct signals *signals_watch(struct loop *l, signals_fn *fn, void *to)
{
    struct signals *s = mem_new(struct signals);

    s->fn = fn;
    s->to = to;
    for (size_t i = 0; i < WATCHED; i++) {
        uv_signal_t *uv = &s->uv[s->open];

        if (is_ignored(watched[i]))
            continue;
        BUG_IF(uv_signal_init(&l->uv, uv) != 0);
        uv->data = s;
        uv_unref((uv_handle_t *)uv);
        BUG_IF(uv_signal_start(uv, caught, watched[i]) != 0);
        s->open++;
    }
    return s;
}

struct signals *signals_watch_listener(struct loop *l, signals_fn *fn, void *to)
{
    if (is_ignored(SIGINT))
        signal(SIGINT, SIG_DFL);
    return signals_watch(l, fn, to);
}

static void closed(uv_handle_t *uv)
{
    struct signals *s = uv->data;

    if (--s->open == 0)
        free(s);
}

void signals_close(struct signals *s)
{
    size_t open = s ? s->open : 0;

    for (size_t i = 0; i < open; i++)
        uv_close((uv_handle_t *)&s->uv[i], closed);
    if (!open)
        free(s);
}

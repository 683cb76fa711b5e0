#include "loop/signals.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

static const int watched[] = { SIGINT, SIGTERM, SIGHUP };

enum { WATCHED = sizeof watched / sizeof watched[0] };

struct signals {
    uv_signal_t uv[WATCHED];
    size_t open_count; /* handles that are not closed */
    signals_fn *fn;
    void *arg;
};

static void on_signal(uv_signal_t *uv, int signum)
{
    struct signals *s = uv->data;

    s->fn(s->arg, signum);
}

/* True under nohup(1), and in the background of a shell without job control. */
static bool is_ignored(int signum)
{
    struct sigaction now;

    return sigaction(signum, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

struct signals *signals_watch(struct loop *l, signals_fn *fn, void *to)
{
    struct signals *s = mem_new(struct signals);

    s->fn = fn;
    s->arg = to;
    for (size_t i = 0; i < WATCHED; i++) {
        uv_signal_t *uv = &s->uv[s->open_count];

        if (is_ignored(watched[i]))
            continue;
        BUG_IF(uv_signal_init(&l->uv, uv) != 0);
        uv->data = s;
        uv_unref((uv_handle_t *)uv);
        BUG_IF(uv_signal_start(uv, on_signal, watched[i]) != 0);
        s->open_count++;
    }
    return s;
}

struct signals *signals_watch_listener(struct loop *l, signals_fn *fn, void *to)
{
    if (is_ignored(SIGINT))
        signal(SIGINT, SIG_DFL);
    return signals_watch(l, fn, to);
}

static void on_handle_closed(uv_handle_t *uv)
{
    struct signals *s = uv->data;

    if (--s->open_count == 0)
        free(s);
}

void signals_close(struct signals *s)
{
    size_t open = s ? s->open_count : 0;

    for (size_t i = 0; i < open; i++)
        uv_close((uv_handle_t *)&s->uv[i], on_handle_closed);
    if (!open)
        free(s);
}

#include "loop/loop.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"
#include "loop/outbox.h"

static void take_signals(struct loop *l)
{
    static const int taken[] = { SIGPIPE, SIGXFSZ, SIGCHLD };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigset_t child;

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        l->taken[i].signum = taken[i];
        sigaction(taken[i], NULL, &l->taken[i].before);
    }
    /* A peer that goes away, or a file that may not grow any more, is an error of
     * write(2), not the end of us. */
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
    /* Whoever started us may have had no interest in its own children. */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_UNBLOCK, &child, &l->mask);
}

void loop_restore(const struct loop *l)
{
    for (size_t i = 0; i < sizeof l->taken / sizeof *l->taken; i++)
        sigaction(l->taken[i].signum, &l->taken[i].before, NULL);
    pthread_sigmask(SIG_SETMASK, &l->mask, NULL);
    descriptors_restore(&l->descriptors);
}

struct loop *loop_new(void)
{
    struct loop *l = mem_new(struct loop);

    take_signals(l);
    descriptors_raise(&l->descriptors);
    BUG_IF(uv_loop_init(&l->uv) != 0);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    outbox_close(l->outbox);
    /* Whoever opened a handle has closed it. Its close callback may be due, or the
     * read of a file that is still under way in the thread pool. The first run may
     * end at once: somebody stopped the loop when it no longer ran. */
    uv_run(&l->uv, UV_RUN_NOWAIT);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    BUG_IF(uv_loop_close(&l->uv) != 0);
    loop_restore(l);
    free(l->chunk);
    free(l);
}

void loop_run(struct loop *l)
{
    uv_run(&l->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *l)
{
    uv_stop(&l->uv);
}

void loop_env(struct loop *l, char *const *env)
{
    l->env = env;
}

bool loop_fault(struct err *e, int uv_code)
{
    return err_set(e, ERR_IO, "%s", uv_strerror(uv_code));
}

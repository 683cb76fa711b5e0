#include "loop/loop.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"
#include "loop/write-batch.h"

static void set_up_signals(struct loop *l)
{
    static const int taken[] = { SIGPIPE, SIGXFSZ, SIGCHLD };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigset_t child;

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        l->saved_signals[i].signum = taken[i];
        sigaction(taken[i], NULL, &l->saved_signals[i].old_action);
    }
    /* A closed pipe or a file that reached its size limit must be an error of write(2), not
     * end the process. */
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
    /* The process that started us may have blocked it. */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_UNBLOCK, &child, &l->old_mask);
}

void loop_restore(const struct loop *l)
{
    for (size_t i = 0; i < sizeof l->saved_signals / sizeof *l->saved_signals; i++)
        sigaction(l->saved_signals[i].signum, &l->saved_signals[i].old_action, NULL);
    pthread_sigmask(SIG_SETMASK, &l->old_mask, NULL);
    fd_limit_restore(&l->fd_limit);
}

struct loop *loop_new(void)
{
    struct loop *l = mem_new(struct loop);

    set_up_signals(l);
    fd_limit_raise(&l->fd_limit);
    BUG_IF(uv_loop_init(&l->uv) != 0);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    write_batch_close(l->write_batch);
    /* All handles have been closed. Their close callbacks may be due, or a file may still be
     * read in the thread pool. The first run may end at once if the loop was stopped when it
     * no longer ran. */
    uv_run(&l->uv, UV_RUN_NOWAIT);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    BUG_IF(uv_loop_close(&l->uv) != 0);
    loop_restore(l);
    free(l->read_buf);
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

void loop_set_env(struct loop *l, char *const *env)
{
    l->env = env;
}

void loop_set_cwd(struct loop *l, const char *folder)
{
    l->cwd = folder;
}

bool loop_set_err(struct err *e, int uv_code)
{
    return err_set(e, ERR_IO, "%s", uv_strerror(uv_code));
}

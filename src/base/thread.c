#include "base/thread.h"

#include <signal.h>
#include <sys/resource.h>

enum { SECOND = 1000000 };

bool thread_start(pthread_t *t, void *(*run)(void *), void *arg, struct err *e)
{
    sigset_t all, before;
    int r;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(t, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r == 0)
        return true;
    err_errno(e, r);
    return err_wrap(e, "cannot start a thread");
}

void thread_leave(pthread_t t, bool ended)
{
    if (ended)
        pthread_join(t, NULL);
    else
        pthread_detach(t);
}

void thread_init_cond(pthread_cond_t *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

bool thread_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until)
{
    struct timespec at = { until / SECOND, until % SECOND * 1000 };

    return pthread_cond_timedwait(c, lock, &at) == 0;
}

long thread_waits(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

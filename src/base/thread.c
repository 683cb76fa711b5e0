#include "base/thread.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SECOND = 1000000 };

/* Has all threads allocate from one heap. glibc reserves up to 128 MB of address space for the
 * heap of each thread; under a limit of it (ulimit -v), nothing may be left for the stacks of
 * libuv's threads, and libuv then aborts. */
static void share_heap(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}

bool thread_start(pthread_t *t, void *(*run)(void *), void *arg, struct err *e)
{
    sigset_t all, before;
    pthread_attr_t attr;
    int r;

    share_heap();
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(t, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (r == 0)
        return true;
    err_errno(e, r);
    return err_wrap(e, "cannot start a thread");
}

void thread_join_or_detach(pthread_t t, bool ended)
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

/* Three numbers: ns on a processor, ns waiting for one, how often. */
static int64_t queued_us(void)
{
    char text[64] = "", *end;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    strtoull(text, &end, 10);
    return (int64_t)(strtoull(end, NULL, 10) / 1000);
}

static int64_t us_of(struct timeval t)
{
    return (int64_t)t.tv_sec * SECOND + t.tv_usec;
}

int64_t thread_busy_us(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return queued_us();
    return us_of(usage.ru_utime) + us_of(usage.ru_stime) + queued_us();
}

/* "pid (name) state ...": the name may hold anything, also parentheses. */
bool thread_is_blocked(pid_t tid)
{
    char text[256] = "", path[64];
    const char *state;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    state = strrchr(text, ')');
    return !state || state[1] != ' ' || state[2] != 'R';
}

#include "base/thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "test.h"

struct thread_run {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool came, all_blocked;
};

static void *run_thread(void *to)
{
    struct thread_run *m = to;
    sigset_t blocked;

    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    pthread_mutex_lock(&m->lock);
    m->all_blocked = sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGCHLD);
    m->came = true;
    pthread_cond_signal(&m->cond);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static void a_thread_blocks_signals_and_its_creator_does_not(void **state)
{
    struct thread_run m = { .lock = PTHREAD_MUTEX_INITIALIZER };
    struct err e = ERR_NONE;
    sigset_t blocked;
    pthread_t t;

    (void)state;
    thread_init_cond(&m.cond);
    assert_true(thread_start(&t, run_thread, &m, &e));
    pthread_mutex_lock(&m.lock);
    while (!m.came)
        thread_wait_until(&m.cond, &m.lock, clock_mono_us() + 1000000);
    assert_true(m.all_blocked);
    pthread_mutex_unlock(&m.lock);
    pthread_join(t, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGTERM));
    pthread_cond_destroy(&m.cond);
}

static void *measure_stack(void *to)
{
    pthread_attr_t attr;

    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstacksize(&attr, to);
        pthread_attr_destroy(&attr);
    }
    return NULL;
}

static void the_stack_of_a_thread_does_not_depend_on_the_c_library(void **state)
{
    struct err e = ERR_NONE;
    size_t size = 0;
    pthread_t t;

    (void)state;
    assert_true(thread_start(&t, measure_stack, &size, &e));
    pthread_join(t, NULL);
    assert_in_range(size, THREAD_STACK, 2 * THREAD_STACK);
}

/* One that has ended is gone afterwards; one that has not is not waited for. */
static void a_detached_thread_is_not_waited_for(void **state)
{
    static struct thread_run m = { .lock = PTHREAD_MUTEX_INITIALIZER }; /* outlives the test */
    struct err e = ERR_NONE;
    pthread_t t;

    (void)state;
    thread_init_cond(&m.cond);
    for (int ended = 0; ended < 2; ended++) {
        m.came = false;
        pthread_mutex_lock(&m.lock); /* it cannot come on */
        assert_true(thread_start(&t, run_thread, &m, &e));
        if (!ended)
            thread_join_or_detach(t, false);
        while (!m.came)
            thread_wait_until(&m.cond, &m.lock, clock_mono_us() + 1000000);
        pthread_mutex_unlock(&m.lock);
        if (ended)
            thread_join_or_detach(t, true);
    }
}

static void a_wait_ends_at_its_time(void **state)
{
    struct thread_run m = { .lock = PTHREAD_MUTEX_INITIALIZER };
    int64_t until = clock_mono_us() + 2000;

    (void)state;
    thread_init_cond(&m.cond);
    pthread_mutex_lock(&m.lock);
    while (thread_wait_until(&m.cond, &m.lock, until))
        ;
    assert_true(clock_mono_us() >= until);
    assert_false(thread_wait_until(&m.cond, &m.lock, 0));
    pthread_mutex_unlock(&m.lock);
    pthread_cond_destroy(&m.cond);
}

/* Nothing is asserted about how long anything takes, only about what it counts as. */
static void thread_time_counts_work_and_not_waiting(void **state)
{
    int64_t start = clock_mono_us(), before = thread_busy_us();

    (void)state;
    while (thread_busy_us() - before < 10000)
        ;
    assert_true(clock_mono_us() - start >= 5000);
    start = clock_mono_us();
    before = thread_busy_us();
    usleep(50000);
    assert_true(clock_mono_us() - start - (thread_busy_us() - before) >= 25000);
}

static void *sleep_long(void *to)
{
    *(atomic_int *)to = gettid();
    pause();
    return NULL;
}

static void a_sleeping_thread_is_blocked(void **state)
{
    struct err e = ERR_NONE;
    atomic_int tid = 0;
    pthread_t t;

    (void)state;
    assert_false(thread_is_blocked(gettid()));
    assert_true(thread_start(&t, sleep_long, &tid, &e));
    while (!tid || !thread_is_blocked(tid))
        usleep(500);
    pthread_cancel(t);
    pthread_join(t, NULL);
    while (!thread_is_blocked(tid)) /* the system removes it after pthread_join() returns */
        usleep(500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_blocks_signals_and_its_creator_does_not),
        cmocka_unit_test(the_stack_of_a_thread_does_not_depend_on_the_c_library),
        cmocka_unit_test(a_detached_thread_is_not_waited_for),
        cmocka_unit_test(a_wait_ends_at_its_time),
        cmocka_unit_test(thread_time_counts_work_and_not_waiting),
        cmocka_unit_test(a_sleeping_thread_is_blocked),
    };
    alarm(60); /* a wait without end must fail the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

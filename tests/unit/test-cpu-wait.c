#include "loop/cpu-wait.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static _Noreturn void burn(void)
{
    alarm(60);
    for (;;)
        ;
}

static pid_t start(void (*body)(void))
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        body();
        _exit(0);
    }
    return pid;
}

static void use_processor_in_grandchild(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        burn();
    }
    alarm(60);
    waitpid(pid, NULL, 0);
}

static void sleep_long(void)
{
    alarm(60);
    pause();
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void wait_until_cpu_wait(pid_t pid, uint64_t us)
{
    for (int ms = 0; ms < 30000 && cpu_wait_us(pid) < us; ms += 5)
        poll(NULL, 0, 5);
    assert_true(cpu_wait_us(pid) >= us);
}

/* One processor for three: each waits while another runs. */
static void time_without_a_processor_is_measured(void **state)
{
    pid_t one, other, idle;
    uint64_t idle_us;
    cpu_set_t all, cpu;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&cpu);
    CPU_SET((size_t)sched_getcpu(), &cpu);
    assert_int_equal(sched_setaffinity(0, sizeof cpu, &cpu), 0);
    idle = start(sleep_long);
    one = start(burn);
    other = start(use_processor_in_grandchild);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    wait_until_cpu_wait(one, 100000);
    wait_until_cpu_wait(other, 100000); /* it is the grandchild that waits */
    idle_us = cpu_wait_us(idle);
    wait_until_cpu_wait(one, cpu_wait_us(one) + 100000);
    assert_int_equal(cpu_wait_us(idle), idle_us); /* it wants no processor */
    end(one);
    end(idle);
    end(other);
    assert_int_equal(cpu_wait_us(one), 0); /* it is no more */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_without_a_processor_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

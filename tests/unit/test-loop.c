#include "loop/loop.h"

#include <signal.h>
#include <unistd.h>

#include "assert-aborts.h"
#include "loop/timer.h"
#include "test.h"

static void count(void *to)
{
    ++*(int *)to;
}

static void an_empty_loop_ends_at_once(void **state)
{
    struct loop *l = loop_new();

    (void)state;
    loop_run(l);
    loop_run(l);
    loop_free(l);
    loop_free(NULL);
}

static void stop(void *to)
{
    loop_stop(*(struct loop **)to);
}

static void a_stopped_loop_can_run_again(void **state)
{
    struct loop *l = loop_new();
    struct timer *first = timer_new(l, stop, &l), *second;
    int fired = 0;

    (void)state;
    second = timer_new(l, count, &fired);
    timer_set(first, 1);
    timer_set(second, 100);
    loop_run(l);
    assert_int_equal(fired, 0);
    loop_run(l);
    assert_int_equal(fired, 1);
    timer_close(first);
    timer_close(second);
    loop_free(l);
}

static void a_loop_stopped_before_its_run_does_not_run(void **state)
{
    struct loop *l = loop_new();
    int fired = 0;
    struct timer *t = timer_new(l, count, &fired);

    (void)state;
    timer_set(t, 1);
    loop_stop(l);
    loop_stop(l);
    loop_run(l);
    assert_int_equal(fired, 0);
    timer_close(t);
    loop_free(l);
}

static void a_loop_stopped_after_its_run_can_be_freed(void **state)
{
    struct loop *l = loop_new();
    struct timer *t = timer_new(l, stop, &l);

    (void)state;
    loop_run(l);
    timer_close(t);
    loop_stop(l);
    loop_free(l);
}

static void sigpipe_is_ignored(void **state)
{
    struct loop *l = loop_new();
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    assert_int_equal(write(fds[1], "x", 1), -1);
    close(fds[1]);
    loop_free(l);
}

static void free_with_a_timer(void)
{
    struct loop *l = loop_new();

    timer_new(l, count, NULL);
    loop_free(l);
}

static void an_open_handle_at_the_end_is_a_bug(void **state)
{
    (void)state;
    assert_aborts(free_with_a_timer, "bug at");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_loop_ends_at_once),
        cmocka_unit_test(a_stopped_loop_can_run_again),
        cmocka_unit_test(a_loop_stopped_before_its_run_does_not_run),
        cmocka_unit_test(a_loop_stopped_after_its_run_can_be_freed),
        cmocka_unit_test(sigpipe_is_ignored),
        cmocka_unit_test(an_open_handle_at_the_end_is_a_bug),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

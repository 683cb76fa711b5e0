#include "loop/fd-limit.h"

#include <sys/resource.h>

#include "test.h"

static struct rlimit limit_now(void)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit;
}

static void set_soft(rlim_t soft)
{
    struct rlimit limit = limit_now();

    limit.rlim_cur = soft;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void the_limit_is_raised_to_the_maximum_and_restored(void **state)
{
    struct rlimit before = limit_now();
    struct fd_limit d;

    (void)state;
    set_soft(200);
    fd_limit_raise(&d);
    assert_int_equal(limit_now().rlim_cur, before.rlim_max);
    assert_int_equal(limit_now().rlim_max, before.rlim_max);
    fd_limit_restore(&d);
    assert_int_equal(limit_now().rlim_cur, 200);
    assert_int_equal(limit_now().rlim_max, before.rlim_max);
    set_soft(before.rlim_cur);
}

static void a_limit_at_its_maximum_is_not_changed(void **state)
{
    struct rlimit before = limit_now();
    struct fd_limit d;

    (void)state;
    set_soft(before.rlim_max);
    fd_limit_raise(&d);
    set_soft(300); /* another process has changed it meanwhile */
    fd_limit_restore(&d);
    assert_int_equal(limit_now().rlim_cur, 300);
    set_soft(before.rlim_cur);
}

static void some_descriptors_are_reserved(void **state)
{
    struct rlimit before = limit_now();

    (void)state;
    set_soft(1024);
    assert_int_equal(fd_limit_capacity(1), 960);
    assert_int_equal(fd_limit_capacity(2), 480);
    set_soft(64);
    assert_int_equal(fd_limit_capacity(1), 32);
    assert_int_equal(fd_limit_capacity(2), 16);
    set_soft(40);
    assert_int_equal(fd_limit_capacity(1), 16);
    set_soft(24);
    assert_int_equal(fd_limit_capacity(1), 1);
    set_soft(before.rlim_cur);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_raised_to_the_maximum_and_restored),
        cmocka_unit_test(a_limit_at_its_maximum_is_not_changed),
        cmocka_unit_test(some_descriptors_are_reserved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

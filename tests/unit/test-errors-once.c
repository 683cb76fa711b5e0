#include "base/errors-once.h"

#include "test.h"

static void add(struct errors_once *t, unsigned kind, bool by_reason, const char *msg)
{
    struct err e = ERR_NONE;

    err_set(&e, ERR_IO, "%s", msg);
    errors_once_add(t, kind, by_reason, &e);
}

static void assert_taken(struct errors_once *t, unsigned kind, const char *msg)
{
    struct err e = ERR_NONE;

    assert_int_equal(errors_once_next(t, &e), kind);
    assert_string_equal(e.msg, msg);
}

static void each_error_is_reported_once_and_in_order(void **state)
{
    struct errors_once t = { 0 };
    struct err e = ERR_NONE;

    (void)state;
    assert_int_equal(errors_once_next(&t, &e), 0);
    add(&t, 1, true, "a");
    add(&t, 1, true, "a");
    add(&t, 1, true, "b");
    add(&t, 2, false, "a");
    assert_taken(&t, 1, "a");
    assert_taken(&t, 1, "b");
    add(&t, 2, false, "c");
    add(&t, 1, true, "b");
    assert_taken(&t, 2, "a");
    assert_int_equal(errors_once_next(&t, &e), 0);
}

static void the_number_of_errors_is_limited(void **state)
{
    struct errors_once t = { 0 };
    struct err e = ERR_NONE;
    int taken = 0;

    (void)state;
    for (unsigned i = 1; i < 100; i++)
        add(&t, i, false, "x");
    while (errors_once_next(&t, &e))
        taken++;
    assert_int_equal(taken, ERRORS_ONCE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_error_is_reported_once_and_in_order),
        cmocka_unit_test(the_number_of_errors_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

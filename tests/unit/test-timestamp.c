#include "trace/timestamp.h"

#include "test.h"

static struct record at(enum record_kind kind, unsigned has, int64_t wall_us, int64_t us)
{
    return (struct record){ .kind = kind, .has = has, .wall_us = wall_us, .us = us };
}

static void see(struct timestamp *m, enum record_kind kind, unsigned has, int64_t wall_us,
                int64_t us)
{
    struct record r = at(kind, has, wall_us, us);

    timestamp_update(m, &r);
}

static void a_record_with_a_date_has_that_time(void **state)
{
    struct timestamp m = { 0 };

    (void)state;
    see(&m, RECORD_MESSAGE, HAS_WALL, 5000, 0);
    assert_true(m.now_known);
    assert_false(m.start_known);
    assert_int_equal(m.now_us, 5000);
    see(&m, RECORD_MESSAGE, HAS_WALL, 4000, 0); /* clocks step back */
    assert_int_equal(m.now_us, 4000);
}

static void without_a_date_the_time_is_start_plus_offset(void **state)
{
    struct timestamp m = { 0 };

    (void)state;
    see(&m, RECORD_HEADER, HAS_WALL | HAS_US, 1000, 10);
    assert_int_equal(m.start_us, 990);
    assert_int_equal(m.now_us, 1000);
    see(&m, RECORD_STDERR, HAS_US, 0, 250);
    assert_int_equal(m.now_us, 1240);
    see(&m, RECORD_MESSAGE, HAS_US | HAS_WALL, 2000, 300); /* the date counts */
    assert_int_equal(m.now_us, 2000);
    assert_int_equal(m.start_us, 990);
}

static void without_a_header_the_first_record_with_both_clocks_gives_the_start(void **state)
{
    struct timestamp m = { 0 };

    (void)state;
    see(&m, RECORD_STDERR, HAS_US, 0, 250);
    assert_false(m.now_known);
    see(&m, RECORD_MESSAGE, HAS_WALL, 7000, 0);
    assert_false(m.start_known);
    see(&m, RECORD_MESSAGE, HAS_WALL | HAS_US, 8000, 500);
    assert_true(m.start_known);
    assert_int_equal(m.start_us, 7500);
}

static void a_record_without_time_has_that_of_the_one_before(void **state)
{
    struct timestamp m = { 0 };

    (void)state;
    see(&m, RECORD_MESSAGE, 0, 0, 0);
    assert_false(m.now_known);
    see(&m, RECORD_HEADER, HAS_WALL, 1000, 0);
    see(&m, RECORD_MESSAGE, 0, 0, 0);
    assert_true(m.now_known);
    assert_int_equal(m.now_us, 1000);
}

static void every_header_resets_the_start(void **state)
{
    struct timestamp m = { 0 };

    (void)state;
    see(&m, RECORD_HEADER, HAS_WALL, 1000, 0);
    see(&m, RECORD_HEADER, HAS_WALL, 5000, 0);
    see(&m, RECORD_STDERR, HAS_US, 0, 7);
    assert_int_equal(m.now_us, 5007);
    see(&m, RECORD_HEADER, 0, 0, 0); /* one without a time */
    assert_false(m.start_known);
    see(&m, RECORD_STDERR, HAS_US, 0, 9);
    assert_int_equal(m.now_us, 5007);
}

static void extreme_numbers_do_not_overflow(void **state)
{
    struct timestamp m = { 0 };

    (void)state;
    assert_int_equal(timestamp_add(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(timestamp_add(INT64_MIN, -1), -INT64_MAX);
    assert_int_equal(timestamp_add(-5, 3), -2);
    see(&m, RECORD_HEADER, HAS_WALL | HAS_US, 1000, INT64_MIN);
    assert_int_equal(m.start_us, INT64_MAX);
    see(&m, RECORD_STDERR, HAS_US, 0, INT64_MAX);
    assert_int_equal(m.now_us, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_with_a_date_has_that_time),
        cmocka_unit_test(without_a_date_the_time_is_start_plus_offset),
        cmocka_unit_test(without_a_header_the_first_record_with_both_clocks_gives_the_start),
        cmocka_unit_test(a_record_without_time_has_that_of_the_one_before),
        cmocka_unit_test(every_header_resets_the_start),
        cmocka_unit_test(extreme_numbers_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

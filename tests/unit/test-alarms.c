#include "cmd/alarms.h"

#include "base/buf.h"
#include "base/clock.h"
#include "test.h"

struct bench {
    struct loop *loop;
    struct alarms alarms;
    struct buf rang;
    int more;                      /* alarms that ringing sets */
    int64_t start_us, earliest_us; /* by how much at least all came after their millisecond */
};

static void ring(void *to, uint64_t name)
{
    struct bench *b = to;
    int64_t after_us = clock_mono_us() - b->start_us - (int64_t)name * 1000;

    b->earliest_us = after_us < b->earliest_us ? after_us : b->earliest_us;
    buf_printf(&b->rang, "%llu ", (unsigned long long)name);
    if (b->more-- > 0)
        alarms_set(&b->alarms, name + 100, 1000);
}

static void open_bench(struct bench *b)
{
    *b = (struct bench){ .loop = loop_new() };
    alarms_init(&b->alarms, b->loop, ring, b);
    buf_init(&b->rang, 1024);
}

static void close_bench(struct bench *b)
{
    alarms_release(&b->alarms);
    loop_free(b->loop);
    buf_release(&b->rang);
}

static void each_rings_once_in_its_time(void **state)
{
    struct bench b;
    int64_t start;

    (void)state;
    open_bench(&b);
    start = clock_mono_us();
    alarms_set(&b.alarms, 3, 60000);
    alarms_set(&b.alarms, 1, 0);
    alarms_set(&b.alarms, 2, 30000);
    loop_run(b.loop);
    assert_str(buf_str(&b.rang), STR("1 2 3 "));
    assert_true(clock_mono_us() - start >= 60000);
    close_bench(&b);
}

/* The loop's own clock has only milliseconds. */
static void none_is_early_not_even_by_a_fraction(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.start_us = clock_mono_us();
    for (uint64_t ms = 1; ms <= 30; ms++)
        alarms_set(&b.alarms, ms, (int64_t)ms * 1000);
    loop_run(b.loop);
    assert_true(b.earliest_us >= 0);
    close_bench(&b);
}

static void one_that_rings_may_set_the_next(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.more = 2;
    alarms_set(&b.alarms, 1, 1000);
    loop_run(b.loop);
    assert_str(buf_str(&b.rang), STR("1 101 201 "));
    close_bench(&b);
}

static void released_they_do_not_ring(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    alarms_set(&b.alarms, 1, 1000);
    alarms_set(&b.alarms, 2, 2000);
    alarms_release(&b.alarms);
    loop_run(b.loop);
    assert_str(buf_str(&b.rang), STR(""));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rings_once_in_its_time),
        cmocka_unit_test(none_is_early_not_even_by_a_fraction),
        cmocka_unit_test(one_that_rings_may_set_the_next),
        cmocka_unit_test(released_they_do_not_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

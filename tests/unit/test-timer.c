#include "loop/timer.h"

#include <unistd.h>

#include "base/buf.h"
#include "test.h"

/* Timers that write their letter down when they fire. */
struct timer_log {
    struct timer *timer;
    struct buf *rung;
    char letter;
    bool closes;
};

static void note_expiry(void *to)
{
    struct timer_log *b = to;

    buf_add_ch(b->rung, b->letter);
    if (b->closes)
        timer_close(b->timer);
}

static void start_timer(struct timer_log *b, struct loop *l, struct buf *rung, char letter)
{
    *b = (struct timer_log){ .timer = timer_new(l, note_expiry, b),
                             .rung = rung,
                             .letter = letter };
}

static void timers_fire_once_and_in_order_of_time(void **state)
{
    struct loop *l = loop_new();
    struct timer_log a, b, c;
    struct buf rung;

    (void)state;
    buf_init(&rung, 100);
    start_timer(&a, l, &rung, 'a');
    start_timer(&b, l, &rung, 'b');
    start_timer(&c, l, &rung, 'c');
    timer_set(a.timer, 30);
    timer_set(b.timer, 0);
    timer_set(c.timer, 15);
    loop_run(l); /* ends: a timer that has fired is nothing to wait for */
    assert_str(buf_str(&rung), STR("bca"));
    timer_close(a.timer);
    timer_close(b.timer);
    timer_close(c.timer);
    loop_free(l);
    buf_release(&rung);
}

static void setting_a_timer_again_replaces_it(void **state)
{
    struct loop *l = loop_new();
    struct timer_log a, b;
    struct buf rung;

    (void)state;
    buf_init(&rung, 100);
    start_timer(&a, l, &rung, 'a');
    start_timer(&b, l, &rung, 'b');
    timer_set(a.timer, 1);
    timer_set(b.timer, 10);
    timer_set(a.timer, 20);
    loop_run(l);
    assert_str(buf_str(&rung), STR("ba"));
    timer_set(a.timer, 1);
    loop_run(l);
    assert_str(buf_str(&rung), STR("baa"));
    timer_close(a.timer);
    timer_close(b.timer);
    loop_free(l);
    buf_release(&rung);
}

static void a_timer_that_is_stopped_or_closed_does_not_fire(void **state)
{
    struct loop *l = loop_new();
    struct timer_log a, b;
    struct buf rung;

    (void)state;
    buf_init(&rung, 100);
    start_timer(&a, l, &rung, 'a');
    start_timer(&b, l, &rung, 'b');
    timer_set(a.timer, 1);
    timer_set(b.timer, 1);
    timer_stop(a.timer);
    timer_stop(a.timer);
    timer_close(b.timer);
    timer_close(NULL);
    loop_run(l);
    assert_int_equal(rung.len, 0);
    timer_close(a.timer);
    loop_free(l);
}

static void a_timer_may_close_itself_when_it_fires(void **state)
{
    struct loop *l = loop_new();
    struct buf rung;
    struct timer_log a;

    (void)state;
    buf_init(&rung, 100);
    start_timer(&a, l, &rung, 'a');
    a.closes = true;
    timer_set(a.timer, 1);
    loop_run(l);
    assert_str(buf_str(&rung), STR("a"));
    loop_free(l);
    buf_release(&rung);
}

/* The loop's time is old when much was done since the loop last updated it. */
static void the_delay_counts_from_the_call(void **state)
{
    struct loop *l = loop_new();
    struct timer_log a, b;
    struct buf rung;

    (void)state;
    buf_init(&rung, 100);
    start_timer(&a, l, &rung, 'a');
    start_timer(&b, l, &rung, 'b');
    timer_set(a.timer, 300);
    usleep(250000);
    timer_set(b.timer, 200);
    loop_run(l);
    assert_str(buf_str(&rung), STR("ab"));
    timer_close(a.timer);
    timer_close(b.timer);
    loop_free(l);
    buf_release(&rung);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_fire_once_and_in_order_of_time),
        cmocka_unit_test(setting_a_timer_again_replaces_it),
        cmocka_unit_test(a_timer_that_is_stopped_or_closed_does_not_fire),
        cmocka_unit_test(a_timer_may_close_itself_when_it_fires),
        cmocka_unit_test(the_delay_counts_from_the_call),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

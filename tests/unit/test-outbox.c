#include "loop/outbox.h"

#include <unistd.h>

#include "base/buf.h"
#include "loop/timer.h"
#include "test.h"

/* One who is written to: what it was sent, each time in brackets. */
struct peer {
    struct buf *seen;
    char name;
};

static void send(void *to, struct str bytes)
{
    struct peer *p = to;

    buf_printf(p->seen, "%c[%.*s]", p->name, (int)(bytes.len < 10 ? bytes.len : 10), bytes.at);
}

struct room {
    struct loop *loop;
    struct outbox *box;
    struct timer *timer;
    struct buf seen;
    struct peer a, b;
};

static void set_up(struct room *r)
{
    *r = (struct room){ .loop = loop_new() };
    buf_init(&r->seen, 1 << 20);
    r->a = (struct peer){ &r->seen, 'a' };
    r->b = (struct peer){ &r->seen, 'b' };
    r->box = outbox_new(r->loop, send);
}

static void tear_down(struct room *r)
{
    outbox_close(r->box);
    loop_free(r->loop);
    buf_release(&r->seen);
}

static void put(struct room *r, struct peer *to, struct str bytes)
{
    assert_true(outbox_put(r->box, to, bytes));
}

static void what_is_put_in_goes_out_in_order_when_it_is_let(void **state)
{
    struct room r;

    (void)state;
    set_up(&r);
    outbox_flush(r.box);
    put(&r, &r.a, STR("1"));
    put(&r, &r.b, STR("2"));
    put(&r, &r.a, STR("3"));
    assert_str(buf_str(&r.seen), STR(""));
    outbox_flush(r.box);
    assert_str(buf_str(&r.seen), STR("a[1]b[2]a[3]"));
    outbox_flush(r.box);
    assert_str(buf_str(&r.seen), STR("a[1]b[2]a[3]"));
    tear_down(&r);
}

static void pieces_for_the_same_one_go_out_together(void **state)
{
    struct room r;

    (void)state;
    set_up(&r);
    put(&r, &r.a, STR("head "));
    put(&r, &r.a, STR("body"));
    put(&r, &r.b, STR("x"));
    outbox_flush(r.box);
    assert_str(buf_str(&r.seen), STR("a[head body]b[x]"));
    tear_down(&r);
}

static void put_from_a_timer(void *to)
{
    struct room *r = to;

    put(r, &r->a, STR("late"));
    assert_str(buf_str(&r->seen), STR("a[early]"));
    timer_close(r->timer);
}

/* Whatever comes next may be long in coming. */
static void nothing_stays_while_the_loop_waits(void **state)
{
    struct room r;

    (void)state;
    set_up(&r);
    put(&r, &r.a, STR("early"));
    r.timer = timer_new(r.loop, put_from_a_timer, &r);
    timer_set(r.timer, 5);
    loop_run(r.loop); /* it does not keep the loop going by itself */
    assert_str(buf_str(&r.seen), STR("a[early]a[late]"));
    tear_down(&r);
}

static void what_does_not_fit_lets_the_rest_go(void **state)
{
    static char much[OUTBOX_BYTES + 1];
    struct room r;

    (void)state;
    memset(much, 'm', sizeof much);
    set_up(&r);
    put(&r, &r.a, STR("1"));
    put(&r, &r.b, str_n(much, OUTBOX_BYTES - 1));
    assert_str(buf_str(&r.seen), STR(""));
    put(&r, &r.a, STR("2"));
    assert_str(buf_str(&r.seen), STR("a[1]b[mmmmmmmmmm]"));
    assert_false(outbox_put(r.box, &r.b, str_n(much, sizeof much)));
    assert_str(buf_str(&r.seen), STR("a[1]b[mmmmmmmmmm]a[2]"));
    tear_down(&r);
}

static void many_small_ones_let_each_other_go(void **state)
{
    struct room r;

    (void)state;
    set_up(&r);
    for (int i = 0; i < OUTBOX_ITEMS; i++)
        put(&r, i % 2 ? &r.a : &r.b, STR("."));
    assert_int_equal(r.seen.len, 0);
    put(&r, &r.b, STR("!"));
    assert_int_equal(r.seen.len, OUTBOX_ITEMS * strlen("a[.]"));
    tear_down(&r);
}

static void closing_loses_nothing(void **state)
{
    struct room r;

    (void)state;
    set_up(&r);
    put(&r, &r.a, STR("last"));
    outbox_close(r.box);
    r.box = NULL;
    assert_str(buf_str(&r.seen), STR("a[last]"));
    tear_down(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_in_goes_out_in_order_when_it_is_let),
        cmocka_unit_test(pieces_for_the_same_one_go_out_together),
        cmocka_unit_test(nothing_stays_while_the_loop_waits),
        cmocka_unit_test(what_does_not_fit_lets_the_rest_go),
        cmocka_unit_test(many_small_ones_let_each_other_go),
        cmocka_unit_test(closing_loses_nothing),
    };
    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

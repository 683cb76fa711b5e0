#include "base/backlog.h"

#include <stdlib.h>

#include "test.h"

static void put(struct backlog *b, struct str text, unsigned lane, struct backlog_loss *lost)
{
    backlog_put(b,
                &(struct backlog_line){ .text = text,
                                        .lane = lane,
                                        .messages = 1,
                                        .bytes = text.len,
                                        .us = (int64_t)text.len },
                lost);
}

static void assert_taken(struct backlog *b, const char *want)
{
    struct backlog_item *item = backlog_take(b);

    assert_non_null(item);
    assert_str(item->line.text, str_z(want));
    free(item);
}

static void lines_come_out_as_they_went_in(void **state)
{
    char text[] = "one\n";
    struct backlog_loss lost = { 0 };
    struct backlog b;

    (void)state;
    backlog_init(&b, 1 << 20);
    assert_null(backlog_take(&b));
    put(&b, str_z(text), 0, &lost);
    text[0] = 'x'; /* it was copied */
    put(&b, STR("two\n"), 1, &lost);
    assert_taken(&b, "one\n");
    put(&b, STR("three\n"), 1, &lost);
    assert_taken(&b, "two\n");
    assert_taken(&b, "three\n");
    assert_null(backlog_take(&b));
    assert_int_equal(b.held, 0);
    assert_false(backlog_loss_any(&lost));
    put(&b, STR("four\n"), 0, &lost);
    backlog_release(&b);
}

static void the_oldest_go_and_are_counted_by_lane(void **state)
{
    struct backlog_loss lost = { 0 };
    struct backlog b;

    (void)state;
    backlog_init(&b, 3 * sizeof(struct backlog_item) + 15);
    put(&b, STR("1\n"), 0, &lost);
    put(&b, STR("22\n"), 1, &lost);
    put(&b, STR("333\n"), 2, &lost);
    assert_false(backlog_loss_any(&lost));
    put(&b, STR("4444\n"), 0, &lost);
    put(&b, STR("55555\n"), 0, &lost);
    assert_true(backlog_loss_any(&lost));
    assert_int_equal(lost.lanes[0].lines, 1);
    assert_int_equal(lost.lanes[0].bytes, 2);
    assert_int_equal(lost.lanes[1].messages, 1);
    assert_int_equal(lost.lanes[2].lines, 0);
    assert_int_equal(lost.us, 3);
    assert_true(b.held <= b.max);
    assert_taken(&b, "333\n");
    backlog_release(&b);
}

static void one_that_is_too_large_is_kept_alone(void **state)
{
    struct backlog_loss lost = { 0 };
    struct backlog b;

    (void)state;
    backlog_init(&b, 1);
    put(&b, STR("1\n"), 0, &lost);
    put(&b, STR("22\n"), 0, &lost);
    assert_int_equal(lost.lanes[0].lines, 1);
    assert_taken(&b, "22\n");
    assert_null(backlog_take(&b));
}

static void the_latest_lines_can_be_cut_off(void **state)
{
    struct backlog_recent r = { .count = 0 };
    struct backlog_loss lost = { 0 };

    (void)state;
    assert_int_equal(backlog_recent_cut(&r, 10, &lost), 0);
    for (unsigned i = 0; i < 3 * BACKLOG_RECENT; i++)
        backlog_recent_add(
            &r, &(struct backlog_line){ .text = str_n(NULL, 5), .lane = i % 2, .messages = 1 });
    assert_int_equal(backlog_recent_cut(&r, 11, &lost), 15);
    assert_int_equal(lost.lanes[0].messages, 1);
    assert_int_equal(lost.lanes[1].messages, 2);
    assert_int_equal(backlog_recent_cut(&r, 1 << 20, &lost), 5 * (BACKLOG_RECENT - 3));
    assert_int_equal(backlog_recent_cut(&r, 1, &lost), 0);
}

static void losses_add_up(void **state)
{
    struct backlog_loss a = { .us = 7 }, b = { .us = 3 };

    (void)state;
    backlog_loss_add_line(&a, &(struct backlog_line){ .lane = 2, .messages = 1, .bytes = 5 });
    backlog_loss_add_line(&b, &(struct backlog_line){ .lane = 2, .bytes = 6, .us = 4 });
    backlog_loss_add(&a, &b);
    assert_int_equal(a.lanes[2].lines, 2);
    assert_int_equal(a.lanes[2].messages, 1);
    assert_int_equal(a.lanes[2].bytes, 11);
    assert_int_equal(a.us, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_out_as_they_went_in),
        cmocka_unit_test(the_oldest_go_and_are_counted_by_lane),
        cmocka_unit_test(one_that_is_too_large_is_kept_alone),
        cmocka_unit_test(the_latest_lines_can_be_cut_off),
        cmocka_unit_test(losses_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

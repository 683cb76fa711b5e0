#include "base/line-queue.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static void put(struct line_queue *b, struct str text, unsigned lane,
                struct line_queue_loss *lost)
{
    line_queue_push(b,
                    &(struct line_queue_line){ .text = text,
                                               .direction = lane,
                                               .messages = 1,
                                               .bytes = text.len,
                                               .us = (int64_t)text.len },
                    lost);
}

static void assert_next_line(struct line_queue *b, const char *want)
{
    struct line_queue_item *item = line_queue_pop(b);

    assert_non_null(item);
    assert_str(item->line.text, str_z(want));
    free(item);
}

static void lines_are_taken_in_order(void **state)
{
    char text[] = "one\n";
    struct line_queue_loss lost = { 0 };
    struct line_queue b;

    (void)state;
    line_queue_init(&b, 1 << 20);
    assert_null(line_queue_pop(&b));
    put(&b, str_z(text), 0, &lost);
    text[0] = 'x'; /* the line was copied */
    put(&b, STR("two\n"), 1, &lost);
    assert_next_line(&b, "one\n");
    put(&b, STR("three\n"), 1, &lost);
    assert_next_line(&b, "two\n");
    assert_next_line(&b, "three\n");
    assert_null(line_queue_pop(&b));
    assert_int_equal(b.bytes, 0);
    assert_false(line_queue_has_loss(&lost));
    put(&b, STR("four\n"), 0, &lost);
    line_queue_release(&b);
}

static void the_oldest_lines_are_dropped_and_counted_by_direction(void **state)
{
    struct line_queue_loss lost = { 0 };
    struct line_queue b;

    (void)state;
    line_queue_init(&b, 3 * sizeof(struct line_queue_item) + 15);
    put(&b, STR("1\n"), 0, &lost);
    put(&b, STR("22\n"), 1, &lost);
    put(&b, STR("333\n"), 2, &lost);
    assert_false(line_queue_has_loss(&lost));
    put(&b, STR("4444\n"), 0, &lost);
    put(&b, STR("55555\n"), 0, &lost);
    assert_true(line_queue_has_loss(&lost));
    assert_int_equal(lost.by_direction[0].lines, 1);
    assert_int_equal(lost.by_direction[0].bytes, 2);
    assert_int_equal(lost.by_direction[1].messages, 1);
    assert_int_equal(lost.by_direction[2].lines, 0);
    assert_int_equal(lost.us, 3);
    assert_true(b.bytes <= b.max_bytes);
    assert_next_line(&b, "333\n");
    line_queue_release(&b);
}

static void a_too_large_line_is_kept_alone(void **state)
{
    struct line_queue_loss lost = { 0 };
    struct line_queue b;

    (void)state;
    line_queue_init(&b, 1);
    put(&b, STR("1\n"), 0, &lost);
    put(&b, STR("22\n"), 0, &lost);
    assert_int_equal(lost.by_direction[0].lines, 1);
    assert_next_line(&b, "22\n");
    assert_null(line_queue_pop(&b));
}

static void the_latest_lines_can_be_removed(void **state)
{
    struct line_queue_recent r = { .count = 0 };
    struct line_queue_loss lost = { 0 };

    (void)state;
    assert_int_equal(line_queue_recent_cut(&r, 10, &lost), 0);
    for (unsigned i = 0; i < 3 * LINE_QUEUE_RECENT_MAX; i++)
        line_queue_recent_add(&r, &(struct line_queue_line){ .text = str_n(NULL, 5),
                                                             .direction = i % 2,
                                                             .messages = 1 });
    assert_int_equal(line_queue_recent_cut(&r, 11, &lost), 15);
    assert_int_equal(lost.by_direction[0].messages, 1);
    assert_int_equal(lost.by_direction[1].messages, 2);
    assert_int_equal(line_queue_recent_cut(&r, 1 << 20, &lost),
                     5 * (LINE_QUEUE_RECENT_MAX - 3));
    assert_int_equal(line_queue_recent_cut(&r, 1, &lost), 0);
}

static void losses_are_added(void **state)
{
    struct line_queue_loss a = { .us = 7 }, b = { .us = 3 };

    (void)state;
    line_queue_loss_add_line(
        &a, &(struct line_queue_line){ .direction = 2, .messages = 1, .bytes = 5 });
    line_queue_loss_add_line(&b,
                             &(struct line_queue_line){ .direction = 2, .bytes = 6, .us = 4 });
    line_queue_loss_add(&a, &b);
    assert_int_equal(a.by_direction[2].lines, 2);
    assert_int_equal(a.by_direction[2].messages, 1);
    assert_int_equal(a.by_direction[2].bytes, 11);
    assert_int_equal(a.us, 7);
}

static void assert_popped(struct message_queue *u, const char *want)
{
    struct message_queue_item *item = message_queue_pop(u);

    assert_non_null(item);
    assert_str(str_n(item->text, item->len), str_z(want));
    free(item);
}

static void queued_messages_are_taken_in_order(void **state)
{
    struct message_queue u = { .first = NULL };

    (void)state;
    assert_null(message_queue_pop(&u));
    message_queue_push(&u, STR("one"));
    message_queue_push(&u, STR(""));
    assert_int_equal(u.bytes, 3);
    assert_popped(&u, "one");
    assert_int_equal(u.bytes, 0);
    message_queue_push(&u, STR("three"));
    assert_popped(&u, "");
    assert_popped(&u, "three");
    assert_null(message_queue_pop(&u));
    message_queue_push(&u, STR("four"));
    message_queue_release(&u);
    assert_int_equal(u.count, 0);
}

static void over_the_limit_the_oldest_messages_are_dropped(void **state)
{
    struct message_queue u = { .first = NULL };
    char text[32];

    (void)state;
    for (int i = 0; i < MESSAGE_QUEUE_MAX + 2; i++) {
        int n = snprintf(text, sizeof text, "%d", i);

        message_queue_push(&u, str_n(text, (size_t)n));
    }
    assert_int_equal(u.count, MESSAGE_QUEUE_MAX);
    assert_popped(&u, "2");
    message_queue_release(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_taken_in_order),
        cmocka_unit_test(the_oldest_lines_are_dropped_and_counted_by_direction),
        cmocka_unit_test(a_too_large_line_is_kept_alone),
        cmocka_unit_test(the_latest_lines_can_be_removed),
        cmocka_unit_test(losses_are_added),
        cmocka_unit_test(queued_messages_are_taken_in_order),
        cmocka_unit_test(over_the_limit_the_oldest_messages_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

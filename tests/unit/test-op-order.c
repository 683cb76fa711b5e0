#include "report/op-order.h"

#include <stdio.h>

#include "base/buf.h"
#include "test.h"

struct received {
    struct op_row_sink rows;
    struct op_order hold;
    struct buf text;
    bool refuses;
};

static bool receive(struct op_row_sink *self, const struct op_row *row, size_t depth,
                    struct err *e)
{
    struct received *h = (struct received *)self;

    if (h->refuses)
        return err_set(e, ERR_IO, "no");
    buf_printf(&h->text, "%*s%.*s ", (int)depth, "", STR_ARG(row->text));
    return true;
}

static void begin_collecting(struct received *h)
{
    *h = (struct received){ .rows = { receive } };
    op_order_init(&h->hold, &h->rows);
    buf_init(&h->text, 4 << 20);
}

static void end_collecting(struct received *h)
{
    op_order_release(&h->hold);
    buf_release(&h->text);
}

static struct operation an_op(uint64_t number, uint64_t parent, uint64_t root)
{
    return (struct operation){ .number = number, .parent = parent, .root = root };
}

static void begin(struct received *h, uint64_t number, uint64_t parent, uint64_t root)
{
    struct operation op = an_op(number, parent, root);

    (void)op_order_row(&h->hold, &op);
}

static void end(struct received *h, uint64_t number, uint64_t parent, uint64_t root,
                bool wanted)
{
    struct operation op = an_op(number, parent, root);
    struct err e = ERR_NONE;
    char text[24];

    snprintf(text, sizeof text, "%u", (unsigned)number);
    assert_true(op_order_end(&h->hold, &op, str_z(text), wanted, &e));
}

static void expected_rows(struct received *h, const char *want)
{
    assert_str(buf_str(&h->text), str_z(want));
    buf_clear(&h->text);
}

static void rows_wait_for_earlier_ones(void **state)
{
    struct received h;

    (void)state;
    begin_collecting(&h);
    begin(&h, 1, 0, 1);
    begin(&h, 2, 0, 2);
    begin(&h, 3, 0, 3);
    end(&h, 3, 0, 3, true);
    end(&h, 2, 0, 2, true);
    expected_rows(&h, "");
    end(&h, 1, 0, 1, true);
    expected_rows(&h, "1 2 3 ");
    end(&h, 4, 0, 4, true);
    expected_rows(&h, "4 ");
    end_collecting(&h);
}

/* 1 is the parent of 2 and 5, 2 of 4; 3 is another family. */
static void children_are_below_their_parents(void **state)
{
    struct received h;

    (void)state;
    begin_collecting(&h);
    begin(&h, 1, 0, 1);
    begin(&h, 2, 1, 1);
    begin(&h, 3, 0, 3);
    begin(&h, 4, 2, 1);
    begin(&h, 5, 1, 1);
    end(&h, 3, 0, 3, true);
    end(&h, 1, 0, 1, true);
    end(&h, 4, 2, 1, true);
    end(&h, 2, 1, 1, true);
    expected_rows(&h, "");
    end(&h, 5, 1, 1, true);
    expected_rows(&h, "1  2   4  5 3 ");
    end_collecting(&h);
}

/* A batch has no message of its own: it is reported only when it ends. */
static void a_parent_may_end_last(void **state)
{
    struct received h;

    (void)state;
    begin_collecting(&h);
    begin(&h, 2, 1, 1);
    end(&h, 2, 1, 1, true);
    begin(&h, 3, 1, 1);
    end(&h, 3, 1, 1, true);
    expected_rows(&h, "");
    end(&h, 1, 0, 1, true);
    expected_rows(&h, "1  2  3 ");
    end_collecting(&h);
}

static void unmatched_children_of_a_matched_row_are_shown(void **state)
{
    struct received h;

    (void)state;
    begin_collecting(&h);
    begin(&h, 1, 0, 1);
    begin(&h, 2, 1, 1);
    begin(&h, 3, 2, 1);
    begin(&h, 4, 1, 1);
    end(&h, 3, 2, 1, false);
    end(&h, 2, 1, 1, true);
    end(&h, 4, 1, 1, false);
    end(&h, 1, 0, 1, false);
    expected_rows(&h, "2  3 ");
    end_collecting(&h);
}

static void a_late_child_is_a_row_of_its_own(void **state)
{
    struct received h;

    (void)state;
    begin_collecting(&h);
    end(&h, 1, 0, 1, true);
    begin(&h, 2, 0, 2);
    end(&h, 3, 1, 1, true);
    end(&h, 2, 0, 2, true);
    expected_rows(&h, "1 2 3 ");
    end_collecting(&h);
}

/* One that never ends does not delay the others for ever. */
static void the_number_of_waiting_rows_is_limited(void **state)
{
    struct received h;
    size_t waiting = 0;

    (void)state;
    begin_collecting(&h);
    begin(&h, 1, 0, 1);
    for (uint64_t n = 2; n < 3 * OP_ORDER_MAX_ROWS; n++) {
        end(&h, n, 0, n, true);
        assert_true(h.hold.rows <= OP_ORDER_MAX_ROWS);
        waiting = h.text.len ? waiting : h.hold.rows;
    }
    assert_int_equal(waiting, OP_ORDER_MAX_ROWS);
    assert_true(str_starts(buf_str(&h.text), STR("2 3 4 5 ")));
    buf_clear(&h.text);
    end(&h, 1, 0, 1, true);
    expected_rows(&h, "1 ");
    end_collecting(&h);
}

static void the_bytes_of_waiting_rows_are_limited(void **state)
{
    struct operation op = an_op(1, 0, 1);
    static char large[OP_ORDER_MAX_BYTES / 4];
    struct err e = ERR_NONE;
    struct received h;

    (void)state;
    begin_collecting(&h);
    begin(&h, 1, 0, 1);
    for (op.number = op.root = 2; op.number < 20; op.root = ++op.number)
        assert_true(op_order_end(&h.hold, &op, str_n(large, sizeof large), false, &e));
    assert_true(h.hold.bytes <= OP_ORDER_MAX_BYTES);
    end_collecting(&h);
}

static void a_sink_that_fails_gets_no_more_rows(void **state)
{
    struct operation op = an_op(1, 0, 1);
    struct err e = ERR_NONE;
    struct received h;

    (void)state;
    begin_collecting(&h);
    h.refuses = true;
    assert_false(op_order_end(&h.hold, &op, STR("x"), true, &e));
    assert_string_equal(e.msg, "no");
    begin(&h, 2, 0, 2);
    assert_true(op_order_finish(&h.hold, &e)); /* it has not ended: nothing to show */
    end_collecting(&h);
}

/* With -f a slow call does not hold up the rows after it. */
static void in_follow_mode_a_family_is_shown_when_complete(void **state)
{
    struct received h;

    (void)state;
    begin_collecting(&h);
    h.hold.by_end = true;
    begin(&h, 1, 0, 1);
    begin(&h, 2, 0, 2);
    begin(&h, 3, 2, 2);
    end(&h, 2, 0, 2, true);
    expected_rows(&h, "");
    end(&h, 3, 2, 2, true);
    expected_rows(&h, "2  3 ");
    end(&h, 4, 0, 4, true);
    expected_rows(&h, "4 ");
    end(&h, 1, 0, 1, true);
    expected_rows(&h, "1 ");
    end_collecting(&h);
}

static void stored_texts_are_copied_and_counted(void **state)
{
    struct operation op = an_op(1, 0, 1);
    struct op_row *row;
    char text[] = "abc";
    struct received h;

    (void)state;
    begin_collecting(&h);
    row = op_order_row(&h.hold, &op);
    op_order_set_text(&h.hold, &row->detail.error, str_z(text));
    text[0] = 'x';
    assert_str(row->detail.error, STR("abc"));
    assert_int_equal(h.hold.bytes, 3);
    op_order_set_text(&h.hold, &row->detail.error, STR("no"));
    assert_int_equal(h.hold.bytes, 2);
    end_collecting(&h);
    assert_int_equal(h.hold.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_wait_for_earlier_ones),
        cmocka_unit_test(children_are_below_their_parents),
        cmocka_unit_test(a_parent_may_end_last),
        cmocka_unit_test(unmatched_children_of_a_matched_row_are_shown),
        cmocka_unit_test(a_late_child_is_a_row_of_its_own),
        cmocka_unit_test(the_number_of_waiting_rows_is_limited),
        cmocka_unit_test(the_bytes_of_waiting_rows_are_limited),
        cmocka_unit_test(in_follow_mode_a_family_is_shown_when_complete),
        cmocka_unit_test(stored_texts_are_copied_and_counted),
        cmocka_unit_test(a_sink_that_fails_gets_no_more_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/parcel.h"

#include "test.h"

static void add(struct parcel *p, struct str text)
{
    parcel_add_line(
        p, &(struct backlog_line){ .text = text, .lane = 1, .messages = 1, .bytes = text.len });
}

static void what_the_file_has_whole_is_taken_out(void **state)
{
    struct parcel p;

    (void)state;
    parcel_init(&p);
    assert_null(parcel_next(&p));
    add(&p, STR("one\n"));
    add(&p, STR("two\n"));
    add(&p, STR("three\n"));
    assert_true(parcel_has_short(&p, 4));
    assert_false(parcel_has_short(&p, 3));
    assert_int_equal(parcel_advance(&p, 3), 0);
    assert_int_equal(parcel_advance(&p, 9), 8);
    assert_str(buf_str(&p.text), STR("three\n"));
    assert_int_equal(parcel_next(&p)->len, 6);
    assert_false(parcel_has_short(&p, 4));
    assert_int_equal(parcel_advance(&p, 6), 6);
    assert_null(parcel_next(&p));
    parcel_release(&p);
}

static void a_line_can_be_left_out_and_that_be_told(void **state)
{
    struct backlog_loss lost = { 0 }, all = { 0 }, untold = { 0 };
    struct parcel p;

    (void)state;
    parcel_init(&p);
    add(&p, STR("one\n"));
    add(&p, STR("two\n"));
    parcel_skip(&p, &lost);
    assert_int_equal(lost.lanes[1].messages, 1);
    parcel_tell_skipped(&p, STR("a gap\n"), &lost);
    assert_str(buf_str(&p.text), STR("a gap\ntwo\n"));
    assert_false(parcel_can_skip(&p)); /* what tells of a loss is not to be lost */
    parcel_losses(&p, &all, &untold);
    assert_int_equal(all.lanes[1].bytes, 4);
    assert_int_equal(untold.lanes[1].bytes, 4);
    assert_int_equal(parcel_advance(&p, 6), 6);
    assert_true(parcel_can_skip(&p));
    parcel_release(&p);
}

static void what_is_torn_or_no_line_of_the_owner_stays(void **state)
{
    struct parcel p;

    (void)state;
    parcel_init(&p);
    assert_false(parcel_can_skip(&p));
    parcel_add(&p, STR_NONE);
    assert_null(parcel_next(&p));
    parcel_add(&p, STR("head\n"));
    assert_false(parcel_can_skip(&p));
    parcel_clear(&p);
    add(&p, STR("one\n"));
    p.torn = 1;
    assert_false(parcel_can_skip(&p));
    parcel_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_file_has_whole_is_taken_out),
        cmocka_unit_test(a_line_can_be_left_out_and_that_be_told),
        cmocka_unit_test(what_is_torn_or_no_line_of_the_owner_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/parcel.h"

#include "test.h"

static void add(struct parcel *p, struct str text)
{
    assert_true(parcel_add_line(
        p,
        &(struct backlog_line){ .text = text, .lane = 1, .messages = 1, .bytes = text.len }));
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
    assert_null(parcel_advance(&p, 3));
    assert_int_equal(parcel_advance(&p, 4)->line.text.len, 4);
    assert_int_equal(parcel_advance(&p, 5)->line.messages, 1);
    assert_str(parcel_text(&p), STR("three\n"));
    assert_int_equal(parcel_next(&p)->line.text.len, 6);
    assert_int_equal(parcel_advance(&p, 6)->kind, PARCEL_LINE);
    assert_null(parcel_next(&p));
    parcel_release(&p);
}

static void what_is_not_written_is_lost_or_untold(void **state)
{
    struct backlog_loss told = { .lanes[2].lines = 7 }, lost = { 0 }, untold = { 0 };
    struct parcel p;

    (void)state;
    parcel_init(&p);
    parcel_add(&p, STR_NONE);
    assert_null(parcel_next(&p));
    parcel_add(&p, STR("head\n"));
    add(&p, STR("one\n"));
    parcel_add_gap(&p, STR("gap\n"), &told);
    add(&p, STR("two\n"));
    assert_int_equal(parcel_advance(&p, 5)->kind, PARCEL_TEXT);
    assert_int_equal(parcel_advance(&p, 4)->kind, PARCEL_LINE);
    parcel_losses(&p, &lost, &untold);
    assert_int_equal(lost.lanes[1].messages, 1);
    assert_int_equal(lost.lanes[1].bytes, 4);
    assert_int_equal(untold.lanes[2].lines, 7);
    parcel_clear(&p);
    assert_null(parcel_next(&p));
    assert_int_equal(parcel_text(&p).len, 0);
    parcel_release(&p);
}

static void a_buffer_is_lent_and_given_back(void **state)
{
    const struct backlog_line lines[] = { { .text = STR("one\n"), .messages = 1 },
                                          { .text = STR("two\n") } };
    struct buf text;
    const char *memory;
    struct parcel p;

    (void)state;
    parcel_init(&p);
    buf_init(&text, 100);
    buf_add(&text, STR("one\ntwo\n"));
    memory = text.at;
    parcel_own(&p, &text, lines, 2);
    assert_int_equal(text.len + text.cap, 0);
    assert_str(parcel_text(&p), STR("one\ntwo\n"));
    assert_int_equal(parcel_advance(&p, 8)->line.messages, 1);
    assert_str(parcel_text(&p), STR("two\n"));
    parcel_give_back(&p, &text);
    assert_ptr_equal(text.at, memory);
    assert_int_equal(text.max, 100);
    assert_int_equal(text.len, 0);
    assert_null(parcel_next(&p));
    add(&p, STR("three\n"));
    assert_str(parcel_text(&p), STR("three\n"));
    buf_release(&text);
    parcel_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_file_has_whole_is_taken_out),
        cmocka_unit_test(what_is_not_written_is_lost_or_untold),
        cmocka_unit_test(a_buffer_is_lent_and_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

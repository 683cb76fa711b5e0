#include "base/appender-lines.h"

#include "test.h"

static void add(struct appender_lines *p, struct str text)
{
    assert_true(appender_lines_add_record(
        p, &(struct line_queue_line){
               .text = text, .direction = 1, .messages = 1, .bytes = text.len }));
}

static void complete_written_lines_are_removed(void **state)
{
    struct appender_lines p;

    (void)state;
    appender_lines_init(&p);
    assert_null(appender_lines_next(&p));
    add(&p, STR("one\n"));
    add(&p, STR("two\n"));
    add(&p, STR("three\n"));
    assert_null(appender_lines_advance(&p, 3));
    assert_int_equal(appender_lines_advance(&p, 4)->line.text.len, 4);
    assert_int_equal(appender_lines_advance(&p, 5)->line.messages, 1);
    assert_str(appender_lines_unwritten(&p), STR("three\n"));
    assert_int_equal(appender_lines_next(&p)->line.text.len, 6);
    assert_int_equal(appender_lines_advance(&p, 6)->kind, APPENDER_RECORD);
    assert_null(appender_lines_next(&p));
    appender_lines_release(&p);
}

static void unwritten_lines_are_lost_or_unreported(void **state)
{
    struct line_queue_loss reported = { .by_direction[2].lines = 7 }, lost = { 0 },
                           untold = { 0 };
    struct appender_lines p;

    (void)state;
    appender_lines_init(&p);
    appender_lines_add_text(&p, STR_NONE);
    assert_null(appender_lines_next(&p));
    appender_lines_add_text(&p, STR("head\n"));
    add(&p, STR("one\n"));
    appender_lines_add_gap(&p, STR("gap\n"), &reported);
    add(&p, STR("two\n"));
    assert_int_equal(appender_lines_advance(&p, 5)->kind, APPENDER_TEXT);
    assert_int_equal(appender_lines_advance(&p, 4)->kind, APPENDER_RECORD);
    appender_lines_add_losses(&p, &lost, &untold);
    assert_int_equal(lost.by_direction[1].messages, 1);
    assert_int_equal(lost.by_direction[1].bytes, 4);
    assert_int_equal(untold.by_direction[2].lines, 7);
    appender_lines_clear(&p);
    assert_null(appender_lines_next(&p));
    assert_int_equal(appender_lines_unwritten(&p).len, 0);
    appender_lines_release(&p);
}

static void a_borrowed_buffer_is_returned(void **state)
{
    const struct line_queue_line lines[] = { { .text = STR("one\n"), .messages = 1 },
                                             { .text = STR("two\n") } };
    struct buf text;
    const char *memory;
    struct appender_lines p;

    (void)state;
    appender_lines_init(&p);
    buf_init(&text, 100);
    buf_add(&text, STR("one\ntwo\n"));
    memory = text.at;
    appender_lines_adopt(&p, &text, lines, 2);
    assert_int_equal(text.len + text.cap, 0);
    assert_str(appender_lines_unwritten(&p), STR("one\ntwo\n"));
    assert_int_equal(appender_lines_advance(&p, 8)->line.messages, 1);
    assert_str(appender_lines_unwritten(&p), STR("two\n"));
    appender_lines_return(&p, &text);
    assert_ptr_equal(text.at, memory);
    assert_int_equal(text.max, 100);
    assert_int_equal(text.len, 0);
    assert_null(appender_lines_next(&p));
    add(&p, STR("three\n"));
    assert_str(appender_lines_unwritten(&p), STR("three\n"));
    buf_release(&text);
    appender_lines_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_written_lines_are_removed),
        cmocka_unit_test(unwritten_lines_are_lost_or_unreported),
        cmocka_unit_test(a_borrowed_buffer_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "wire/text-lines.h"

#include <stdlib.h>

#include "test.h"

/* The reported pieces, each in brackets. */
static void note(void *to, struct str text)
{
    buf_add_ch(to, '[');
    buf_add(to, text);
    buf_add_ch(to, ']');
}

static void only_complete_lines_are_returned(void **state)
{
    struct text_lines t;
    struct buf got;

    (void)state;
    text_lines_init(&t);
    buf_init(&got, 4096);
    text_lines_feed(&t, STR("one\ntwo\nthr"), note, &got);
    assert_str(buf_str(&got), STR("[one\ntwo\n]"));
    text_lines_feed(&t, STR("ee"), note, &got);
    assert_str(buf_str(&got), STR("[one\ntwo\n]"));
    text_lines_feed(&t, STR("\n"), note, &got);
    assert_str(buf_str(&got), STR("[one\ntwo\n][three\n]"));
    text_lines_end(&t, note, &got);
    assert_str(buf_str(&got), STR("[one\ntwo\n][three\n]"));
    text_lines_release(&t);
    buf_release(&got);
}

static void every_split_gives_the_same_text(void **state)
{
    static const char text[] = "a\n\nbc\nd";

    (void)state;
    for (size_t cut = 0; cut < sizeof text; cut++) {
        struct text_lines t;
        struct buf got;
        size_t out = 0;

        text_lines_init(&t);
        buf_init(&got, 4096);
        text_lines_feed(&t, str_n(text, cut), note, &got);
        text_lines_feed(&t, str_n(text + cut, sizeof text - 1 - cut), note, &got);
        text_lines_end(&t, note, &got);
        for (size_t i = 0; i < got.len; i++)
            if (got.at[i] != '[' && got.at[i] != ']')
                got.at[out++] = got.at[i];
        assert_str(str_n(got.at, out), STR("a\n\nbc\nd"));
        text_lines_release(&t);
        buf_release(&got);
    }
}

static void an_incomplete_line_is_returned_at_the_end(void **state)
{
    struct text_lines t;
    struct buf got;

    (void)state;
    text_lines_init(&t);
    buf_init(&got, 4096);
    text_lines_feed(&t, STR("no newline"), note, &got);
    assert_int_equal(got.len, 0);
    text_lines_end(&t, note, &got);
    assert_str(buf_str(&got), STR("[no newline]"));
    text_lines_end(&t, note, &got);
    assert_str(buf_str(&got), STR("[no newline]"));
    text_lines_release(&t);
    buf_release(&got);
}

/* A line without end must not be held for ever. */
static void a_too_long_line_is_not_held(void **state)
{
    enum { BIG = 64 << 10 };
    char *big = malloc(BIG);
    struct text_lines t;
    struct buf got;

    (void)state;
    memset(big, 'x', BIG);
    text_lines_init(&t);
    buf_init(&got, 1 << 20);
    text_lines_feed(&t, str_n(big, BIG), note, &got);
    assert_int_equal(got.len, 0);
    text_lines_feed(&t, STR("y"), note, &got);
    assert_int_equal(got.len, BIG + sizeof "[y]" - 1);
    text_lines_feed(&t, STR("z"), note, &got);
    assert_int_equal(got.len, BIG + sizeof "[y]" - 1);
    text_lines_release(&t);
    buf_release(&got);
    free(big);
}

static void a_piece_of_any_size_is_accepted(void **state)
{
    enum { HUGE_PIECE = 3 << 20 };
    char *piece = malloc(HUGE_PIECE);
    struct text_lines t;
    struct buf got;

    (void)state;
    memset(piece, 'x', HUGE_PIECE);
    text_lines_init(&t);
    buf_init(&got, 4 << 20);
    text_lines_feed(&t, STR("before "), note, &got);
    text_lines_feed(&t, str_n(piece, HUGE_PIECE), note, &got);
    text_lines_feed(&t, STR("after\n"), note, &got);
    assert_int_equal(got.len, HUGE_PIECE + sizeof "[before ][][after\n]" - 1);
    assert_true(str_starts(buf_str(&got), STR("[before ][xxx")));
    text_lines_release(&t);
    buf_release(&got);
    free(piece);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_complete_lines_are_returned),
        cmocka_unit_test(every_split_gives_the_same_text),
        cmocka_unit_test(an_incomplete_line_is_returned_at_the_end),
        cmocka_unit_test(a_too_long_line_is_not_held),
        cmocka_unit_test(a_piece_of_any_size_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

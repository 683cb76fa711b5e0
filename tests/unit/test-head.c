#include "split-input.h"
#include "test.h"
#include "wire/head.h"

static const struct head_limits limits = { .first_line = 8, .bytes = 24, .lines = 3 };

/* The head in brackets or the reason to reject it, and the bytes behind it. */
static void run(struct split_input *c, struct buf *seen)
{
    struct str piece, rest = STR_NONE;
    enum head_next next = HEAD_MORE;
    struct head h;

    head_init(&h, &limits);
    while (next == HEAD_MORE && split_input_next(c, &piece)) {
        next = head_feed(&h, &piece);
        rest = piece;
    }
    if (next == HEAD_COMPLETE)
        buf_printf(seen, "[%.*s] %zu lines, ", STR_ARG(buf_str(&h.text)), h.lines);
    buf_printf(seen, next == HEAD_MORE       ? "more"
                     : next == HEAD_COMPLETE ? "left "
                                             : "refused: ");
    if (next == HEAD_REJECTED) {
        struct str more = STR("\r\n\r\n");

        buf_printf(seen, "%s", reject_reason_text(h.reason));
        assert_int_equal(head_feed(&h, &more), HEAD_REJECTED);
    }
    if (next == HEAD_COMPLETE) {
        buf_add(seen, rest);
        buf_add(seen, c->left);
    }
    head_release(&h);
}

static void a_head_split_at_any_byte_is_the_same(void **state)
{
    (void)state;
    assert_splits(STR("a\r\nb c\r\n\r\nrest\n"), run,
                  STR("[a\r\nb c\r\n\r\n] 2 lines, left rest\n"));
    assert_splits(STR("\r\n\0"), run, STR("[\r\n] 0 lines, left \0"));
    assert_splits(STR("a\r\nb\r\n"), run, STR("more"));
    assert_splits(STR("a\r\nb\r\n\r"), run, STR("more"));
}

static void tabs_and_non_ascii_bytes_are_accepted(void **state)
{
    (void)state;
    assert_splits(STR("a\tb\x80\xff\r\n\r\n"), run,
                  STR("[a\tb\x80\xff\r\n\r\n] 1 lines, left "));
}

static void control_characters_and_incomplete_line_ends_are_rejected_at_once(void **state)
{
    (void)state;
    assert_splits(STR("a\n"), run, STR("refused: a line that ends in LF alone"));
    assert_splits(STR("\n"), run, STR("refused: a line that ends in LF alone"));
    assert_splits(STR("a\rb"), run, STR("refused: a CR without LF"));
    assert_splits(STR("a\r\r\n"), run, STR("refused: a CR without LF"));
    assert_splits(STR("a\r\0"), run, STR("refused: a CR without LF"));
    assert_splits(STR("a\0"), run, STR("refused: a NUL byte"));
    assert_splits(STR("a\x0b"), run, STR("refused: a control character"));
    assert_splits(STR("a\x7f"), run, STR("refused: a control character"));
    assert_splits(STR("\x16\x03\x01"), run, STR("refused: a control character"));
}

static void every_byte_of_a_long_line_is_checked(void **state)
{
    static const struct head_limits wide = { .first_line = 64, .bytes = 64, .lines = 1 };

    (void)state;
    for (int c = 0; c < 256; c++) {
        for (size_t at = 0; at < 40; at++) {
            char line[41] = "0123456789abcdef0123456789abcdef01234567";
            bool plain = c == '\t' || (c >= 0x20 && c != 0x7f);
            struct str in = str_n(line, 40);
            struct head h;

            line[at] = (char)c;
            head_init(&h, &wide);
            if (c == '\r') /* valid or not: the next byte decides */
                assert_int_equal(head_feed(&h, &in), at == 39 ? HEAD_MORE : HEAD_REJECTED);
            else
                assert_int_equal(head_feed(&h, &in), plain ? HEAD_MORE : HEAD_REJECTED);
            head_release(&h);
        }
    }
}

static void the_first_line_has_its_own_limit(void **state)
{
    (void)state;
    assert_splits(STR("1234567\r\n\r\n"), run, STR("[1234567\r\n\r\n] 1 lines, left "));
    assert_splits(STR("12345678\r\n\r\n"), run, STR("[12345678\r\n\r\n] 1 lines, left "));
    assert_splits(STR("123456789\r\n\r\n"), run,
                  STR("refused: a request line that is too long"));
    assert_splits(STR("123456789\0"), run, STR("refused: a request line that is too long"));
    assert_splits(STR("a\r\n123456789\r\n\r\n"), run,
                  STR("[a\r\n123456789\r\n\r\n] 2 lines, left "));
}

static void the_total_size_of_lines_is_limited(void **state)
{
    static const char refused[] = "refused: headers that are too long";

    (void)state;
    assert_splits(STR("a\r\n12345678901234567\r\n\r\n"), run, /* 24 bytes */
                  STR("[a\r\n12345678901234567\r\n\r\n] 2 lines, left "));
    assert_splits(STR("a\r\n123456789012345678\r\n\r\n"), run, str_z(refused));
    assert_splits(STR("a\r\n1234567890123456789012"), run, str_z(refused));
    assert_splits(STR("a\r\n123456789012345678901"), run, STR("more"));
}

static void a_long_head_may_be_split_anywhere(void **state)
{
    static const char text[] = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
                               "Accept: application/json, text/event-stream\r\n\r\nbody";
    static const struct head_limits wide = { .first_line = 64, .bytes = 256, .lines = 3 };
    struct str whole = str_n(text, sizeof text - 1);

    (void)state;
    for (size_t a = 0; a < whole.len; a++) {
        for (size_t b = a; b < whole.len; b++) {
            struct str piece[] = { str_n(text, a), str_n(text + a, b - a),
                                   str_n(text + b, whole.len - b) };
            struct head h;
            size_t left = 0;

            head_init(&h, &wide);
            for (size_t i = 0; i < 3; i++) {
                head_feed(&h, &piece[i]);
                left += piece[i].len;
            }
            assert_true(h.complete && !h.reason);
            assert_int_equal(h.lines, 3);
            assert_int_equal(left, 4);
            assert_str(buf_str(&h.text), str_n(text, whole.len - 4));
            head_release(&h);
        }
    }
}

static void the_number_of_lines_is_limited(void **state)
{
    (void)state;
    assert_splits(STR("a\r\nb\r\nc\r\n\r\n"), run, STR("[a\r\nb\r\nc\r\n\r\n] 3 lines, left "));
    assert_splits(STR("a\r\nb\r\nc\r\nd\r\n"), run, STR("refused: too many headers"));
}

static void a_cleared_head_is_empty(void **state)
{
    struct str first = STR("a\r\n\r\nb\r\n\r\n"), bad = STR("\n"), again = STR("c\r\n\r\n");
    struct head h;

    (void)state;
    head_init(&h, &limits);
    assert_int_equal(head_feed(&h, &first), HEAD_COMPLETE);
    assert_str(first, STR("b\r\n\r\n"));
    assert_int_equal(head_feed(&h, &first), HEAD_COMPLETE); /* takes nothing more */
    assert_str(first, STR("b\r\n\r\n"));
    head_clear(&h);
    assert_int_equal(head_feed(&h, &first), HEAD_COMPLETE);
    assert_str(buf_str(&h.text), STR("b\r\n\r\n"));
    head_clear(&h);
    assert_int_equal(head_feed(&h, &bad), HEAD_REJECTED);
    head_clear(&h);
    assert_int_equal(head_feed(&h, &again), HEAD_COMPLETE);
    assert_int_equal(h.lines, 1);
    head_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_split_at_any_byte_is_the_same),
        cmocka_unit_test(tabs_and_non_ascii_bytes_are_accepted),
        cmocka_unit_test(control_characters_and_incomplete_line_ends_are_rejected_at_once),
        cmocka_unit_test(every_byte_of_a_long_line_is_checked),
        cmocka_unit_test(the_first_line_has_its_own_limit),
        cmocka_unit_test(the_total_size_of_lines_is_limited),
        cmocka_unit_test(a_long_head_may_be_split_anywhere),
        cmocka_unit_test(the_number_of_lines_is_limited),
        cmocka_unit_test(a_cleared_head_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

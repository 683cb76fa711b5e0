#include "test.h"
#include "wire/lines.h"

enum { MAX = 8 };

static void add(struct buf *to, char open, struct str line, char close)
{
    buf_add_ch(to, open);
    buf_add(to, line);
    buf_add_ch(to, close);
}

/* Everything that came out, as text: lines in brackets, lengths of lost ones. */
static void drain(struct lines *l, struct buf *seen)
{
    enum lines_next next;
    uint64_t skipped;
    struct str line;

    while ((next = lines_next(l, &line, &skipped)) != LINES_MORE) {
        if (next == LINES_LINE)
            add(seen, '[', line, ']');
        else
            buf_printf(seen, "<%llu>", (unsigned long long)skipped);
    }
}

static void end(struct lines *l, struct buf *seen)
{
    uint64_t skipped;
    struct str line;

    switch (lines_end(l, &line, &skipped)) {
    case LINES_LINE:
        add(seen, '(', line, ')');
        break;
    case LINES_TOO_LONG:
        buf_printf(seen, "(<%llu>)", (unsigned long long)skipped);
        break;
    case LINES_MORE:
        break;
    }
}

/* The input in pieces of at most `size` bytes, the first one of `first`. */
static void check_pieces(struct str in, size_t first, size_t size, struct str want)
{
    struct lines l;
    struct buf seen;
    size_t n = first;

    lines_init(&l, MAX);
    buf_init(&seen, 4096);
    for (size_t at = 0; at < in.len; at += n, n = size) {
        n = n < in.len - at ? n : in.len - at;
        lines_feed(&l, str_n(in.at + at, n));
        drain(&l, &seen);
    }
    end(&l, &seen);
    assert_str(buf_str(&seen), want);
    buf_release(&seen);
    lines_release(&l);
}

static void check_every_split(struct str in, struct str want)
{
    for (size_t cut = 1; cut <= in.len; cut++)
        check_pieces(in, cut, in.len, want);
    for (size_t size = 1; size <= 3; size++)
        check_pieces(in, size, size, want);
}

static void every_split_gives_the_same_lines(void **state)
{
    (void)state;
    check_every_split(STR("a\n\nbc\r\n{\"x\":1}\nrest"), STR("[a][][bc\r][{\"x\":1}](rest)"));
    check_every_split(STR("\n\n\n"), STR("[][][]"));
}

static void a_nul_is_an_ordinary_byte(void **state)
{
    (void)state;
    check_every_split(STR("a\0b\nc\0"), STR("[a\0b](c\0)"));
}

static void a_line_of_exactly_the_limit_is_kept(void **state)
{
    (void)state;
    check_every_split(STR("12345678\n1234567\n"), STR("[12345678][1234567]"));
}

static void a_too_long_line_is_only_counted_and_the_next_is_kept(void **state)
{
    (void)state;
    check_every_split(STR("123456789\nok\n"), STR("<9>[ok]"));
    check_every_split(STR("1234567890123456789012345\nok\n"), STR("<25>[ok]"));
}

static void an_incomplete_too_long_line_is_counted_at_the_end(void **state)
{
    (void)state;
    check_every_split(STR("ok\n123456789012"), STR("[ok](<12>)"));
}

static void a_line_inside_one_read_is_not_copied(void **state)
{
    static const char in[] = "abc\n";
    struct lines l;
    uint64_t skipped;
    struct str line;

    (void)state;
    lines_init(&l, MAX);
    lines_feed(&l, STR(in));
    assert_int_equal(lines_next(&l, &line, &skipped), LINES_LINE);
    assert_ptr_equal(line.at, in);
    assert_int_equal(lines_next(&l, &line, &skipped), LINES_MORE);
    lines_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_split_gives_the_same_lines),
        cmocka_unit_test(a_nul_is_an_ordinary_byte),
        cmocka_unit_test(a_line_of_exactly_the_limit_is_kept),
        cmocka_unit_test(a_too_long_line_is_only_counted_and_the_next_is_kept),
        cmocka_unit_test(an_incomplete_too_long_line_is_counted_at_the_end),
        cmocka_unit_test(a_line_inside_one_read_is_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

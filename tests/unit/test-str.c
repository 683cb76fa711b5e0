#include "base/str.h"

#include "test.h"

static void equal_means_the_same_bytes(void **state)
{
    (void)state;
    assert_true(str_eq(STR("ab"), str_z("ab")));
    assert_false(str_eq(STR("ab"), STR("aB")));
    assert_false(str_eq(STR("ab"), STR("abc")));
    assert_true(str_eq(STR_NONE, STR("")));
    assert_false(str_eq(STR_NONE, STR("a")));
    assert_true(str_eq(STR("a\0b"), STR("a\0b")));
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
}

static void a_null_string_is_empty(void **state)
{
    (void)state;
    assert_int_equal(str_z(NULL).len, 0);
    assert_int_equal(str_z("").len, 0);
    assert_int_equal(STR("a\0b").len, 3);
}

static void prefixes_and_suffixes_are_recognized(void **state)
{
    (void)state;
    assert_true(str_starts(STR("abc"), STR("ab")));
    assert_true(str_starts(STR("abc"), STR("abc")));
    assert_true(str_starts(STR("abc"), STR_NONE));
    assert_true(str_starts(STR_NONE, STR_NONE));
    assert_false(str_starts(STR("abc"), STR("abcd")));
    assert_false(str_starts(STR("abc"), STR("b")));
    assert_true(str_ends(STR("abc"), STR("bc")));
    assert_true(str_ends(STR("abc"), STR("abc")));
    assert_true(str_ends(STR("abc"), STR_NONE));
    assert_true(str_ends(STR_NONE, STR_NONE));
    assert_false(str_ends(STR("abc"), STR("zabc")));
    assert_false(str_ends(STR("abc"), STR("ab")));
}

static void skipping_stops_at_the_end(void **state)
{
    (void)state;
    assert_str(str_skip(STR("abc"), 0), STR("abc"));
    assert_str(str_skip(STR("abc"), 2), STR("c"));
    assert_str(str_skip(STR("abc"), 3), STR(""));
    assert_str(str_skip(STR("abc"), 4), STR(""));
    assert_str(str_skip(STR_NONE, 1), STR(""));
}

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

static void order_is_by_byte_then_by_length(void **state)
{
    static const char *const sorted[] = { "", "A", "AB", "B", "a", "ab", "b", "\x80", "\xff" };
    enum { SORTED = sizeof sorted / sizeof *sorted };

    (void)state;
    for (int i = 0; i < SORTED; i++) {
        for (int j = 0; j < SORTED; j++)
            assert_int_equal(sign(str_cmp(str_z(sorted[i]), str_z(sorted[j]))), sign(i - j));
    }
    assert_int_equal(str_cmp(STR_NONE, STR("")), 0);
}

static void trimming_removes_only_json_blanks(void **state)
{
    (void)state;
    assert_str(str_trim(STR(" \t\r\na b\n\r\t ")), STR("a b"));
    assert_str(str_trim(STR(" \n")), STR(""));
    assert_str(str_trim(STR_NONE), STR(""));
    assert_str(str_trim(STR("\v\fa\0")), STR("\v\fa\0"));
}

static void find_returns_the_first_position_or_the_length(void **state)
{
    (void)state;
    assert_int_equal(str_find(STR("a:b:c"), ':'), 1);
    assert_int_equal(str_find(STR("abc"), ':'), 3);
    assert_int_equal(str_find(STR_NONE, ':'), 0);
    assert_int_equal(str_find(STR("a\0b"), '\0'), 1);
    assert_int_equal(str_find(STR("a\xff"), (char)0xff), 1);
}

static void cutting_returns_piece_by_piece(void **state)
{
    struct str rest = STR("a,,bc,");

    (void)state;
    assert_str(str_cut(&rest, ','), STR("a"));
    assert_str(str_cut(&rest, ','), STR(""));
    assert_str(str_cut(&rest, ','), STR("bc"));
    assert_int_equal(rest.len, 0);
    rest = STR("whole");
    assert_str(str_cut(&rest, ','), STR("whole"));
    assert_int_equal(rest.len, 0);
    assert_str(str_cut(&rest, ','), STR(""));
}

static void distance_counts_edits(void **state)
{
    static const struct {
        const char *a, *b;
        size_t edits;
    } rows[] = {
        { "", "", 0 },
        { "", "abc", 3 },
        { "replay", "replay", 0 },
        { "replya", "replay", 1 },  /* neighbours swapped */
        { "repay", "replay", 1 },   /* one missing */
        { "repplay", "replay", 1 }, /* one too many */
        { "deplay", "replay", 1 },  /* one wrong */
        { "rpelya", "replay", 2 },  /* two swaps */
        { "ca", "abc", 3 },         /* no edit inside a swap */
        { "record", "replay", 4 },
        { "kitten", "sitting", 3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(str_distance(str_z(rows[i].a), str_z(rows[i].b)), rows[i].edits);
        assert_int_equal(str_distance(str_z(rows[i].b), str_z(rows[i].a)), rows[i].edits);
    }
}

static void long_texts_have_the_maximum_distance(void **state)
{
    char a[65], b[65];

    (void)state;
    memset(a, 'a', sizeof a);
    memset(b, 'a', sizeof b);
    assert_int_equal(str_distance(str_n(a, 64), str_n(b, 64)), 0);
    assert_int_equal(str_distance(str_n(a, 64), str_n(b, 63)), 1);
    assert_int_equal(str_distance(str_n(a, 65), str_n(b, 65)), 64);
    assert_int_equal(str_distance(str_n(a, 1), str_n(b, 65)), 64);
    assert_int_equal(str_distance(str_n(a, 65), str_n(b, 1)), 64);
    assert_int_equal(str_distance(str_n(a, 2), str_n(b, 64)), 62);
}

static void digits_are_parsed_if_the_number_fits(void **state)
{
    static const struct {
        struct str text;
        uint64_t n;
    } good[] = {
        { STR_INIT("0"), 0 },
        { STR_INIT("007"), 7 },
        { STR_INIT("18446744073709551615"), UINT64_MAX },
        { STR_INIT("00000000000000000000000000000001"), 1 },
    };
    static const struct str bad[] = {
        STR_INIT(""),
        STR_INIT(" 1"),
        STR_INIT("1 "),
        STR_INIT("+1"),
        STR_INIT("-1"),
        STR_INIT("1.0"),
        STR_INIT("0x1"),
        STR_INIT("18446744073709551616"),
        STR_INIT("1/"),
        STR_INIT("1:"),
        STR_INIT("99999999999999999999"),
    };
    uint64_t n = 42;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(str_parse_u64(bad[i], &n));
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(str_parse_u64(good[i].text, &n));
        assert_int_equal(n, good[i].n);
    }
}

static void a_number_may_be_negative(void **state)
{
    static const struct {
        struct str text;
        int64_t n;
    } good[] = {
        { STR_INIT("0"), 0 },
        { STR_INIT("-0"), 0 },
        { STR_INIT("-12"), -12 },
        { STR_INIT("9223372036854775807"), INT64_MAX },
        { STR_INIT("-9223372036854775808"), INT64_MIN },
    };
    static const struct str bad[] = {
        STR_INIT(""),    STR_INIT("-"),   STR_INIT("--1"),
        STR_INIT("- 1"), STR_INIT("+1"),  STR_INIT("9223372036854775808"),
        STR_INIT("1-"),  STR_INIT("1e1"), STR_INIT("-9223372036854775809"),
    };
    int64_t n = 42;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(str_parse_i64(bad[i], &n));
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(str_parse_i64(good[i].text, &n));
        assert_int_equal(n, good[i].n);
    }
}

static void contains_finds_a_part(void **state)
{
    (void)state;
    assert_true(str_contains(STR("abcabd"), STR("abd")));
    assert_true(str_contains(STR("abc"), STR("abc")));
    assert_true(str_contains(STR("a\0b"), STR("\0b")));
    assert_true(str_contains(STR("abc"), STR_NONE));
    assert_true(str_contains(STR_NONE, STR_NONE));
    assert_false(str_contains(STR("abc"), STR("abcd")));
    assert_false(str_contains(STR("abab"), STR("abb")));
    assert_false(str_contains(STR_NONE, STR("a")));
}

static void a_list_stores_texts_in_order(void **state)
{
    char room[6] = "......", *at = room;

    (void)state;
    assert_str(str_copy_to(&at, STR("ab")), STR("ab"));
    assert_int_equal(str_copy_to(&at, STR_NONE).len, 0);
    assert_str(str_copy_to(&at, STR("cde")), STR("cde"));
    assert_ptr_equal(at, room + 5);
    assert_memory_equal(room, "abcde.", 6);
}

static void a_percent_encoded_byte_is_decoded(void **state)
{
    char byte = 'x';

    (void)state;
    assert_false(str_parse_percent(STR("41"), &byte));
    assert_false(str_parse_percent(STR("%4"), &byte));
    assert_false(str_parse_percent(STR("%4g"), &byte));
    assert_false(str_parse_percent(STR("%g4"), &byte));
    assert_false(str_parse_percent(STR_NONE, &byte));
    assert_int_equal(byte, 'x');
    assert_true(str_parse_percent(STR("%41%42"), &byte));
    assert_int_equal(byte, 'A');
    assert_true(str_parse_percent(STR("%fF"), &byte));
    assert_int_equal((unsigned char)byte, 0xff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_means_the_same_bytes),
        cmocka_unit_test(a_null_string_is_empty),
        cmocka_unit_test(prefixes_and_suffixes_are_recognized),
        cmocka_unit_test(skipping_stops_at_the_end),
        cmocka_unit_test(order_is_by_byte_then_by_length),
        cmocka_unit_test(trimming_removes_only_json_blanks),
        cmocka_unit_test(find_returns_the_first_position_or_the_length),
        cmocka_unit_test(cutting_returns_piece_by_piece),
        cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(long_texts_have_the_maximum_distance),
        cmocka_unit_test(digits_are_parsed_if_the_number_fits),
        cmocka_unit_test(a_number_may_be_negative),
        cmocka_unit_test(contains_finds_a_part),
        cmocka_unit_test(a_list_stores_texts_in_order),
        cmocka_unit_test(a_percent_encoded_byte_is_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "assert-aborts.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "test.h"
#include "wire/headers.h"

/* The result for some lines: "name=value" in brackets, or the reason of their rejection. */
static void check(struct str text, struct str want)
{
    struct headers f = { .at = NULL };
    enum reject_reason why = headers_parse(&f, text);
    struct buf seen;

    buf_init(&seen, 4096);
    for (size_t i = 0; i < f.count && !why; i++) {
        buf_add_ch(&seen, '[');
        buf_add(&seen, f.at[i].name);
        buf_add_ch(&seen, '=');
        buf_add(&seen, f.at[i].value);
        buf_add_ch(&seen, ']');
    }
    if (why)
        buf_printf(&seen, "%s", reject_reason_text(why));
    assert_str(buf_str(&seen), want);
    buf_release(&seen);
    headers_release(&f);
}

static void order_duplicates_and_spelling_are_kept(void **state)
{
    (void)state;
    check(STR("Accept: a\r\nhost:b\r\nACCEPT: c\r\naccept: a\r\n"),
          STR("[Accept=a][host=b][ACCEPT=c][accept=a]"));
    check(STR(""), STR(""));
}

static void blanks_around_a_value_are_removed(void **state)
{
    (void)state;
    check(STR("a: \t b c \t\r\nd:\r\ne: \t \r\nf:\xff: g\r\n"),
          STR("[a=b c][d=][e=][f=\xff: g]"));
}

static void ambiguous_lines_are_rejected(void **state)
{
    (void)state;
    check(STR(" a: b\r\n"), STR("a header line that begins with whitespace"));
    check(STR("a: b\r\n\tc\r\n"), STR("a header line that begins with whitespace"));
    check(STR("a: b\r\n c: d\r\n"), STR("a header line that begins with whitespace"));
    check(STR("a : b\r\n"), STR("whitespace between a header name and its colon"));
    check(STR("a\t: b\r\n"), STR("whitespace between a header name and its colon"));
    check(STR("a b: c\r\n"), STR("a header name that is not a token"));
    check(STR(": b\r\n"), STR("a header name that is not a token"));
    check(STR("a\xc3\xa9: b\r\n"), STR("a header name that is not a token"));
    check(STR("a(b): c\r\n"), STR("a header name that is not a token"));
    check(STR("\"a\": c\r\n"), STR("a header name that is not a token"));
    check(STR("a\r\n"), STR("a header line without a colon"));
    check(STR("a b\r\n"), STR("a header line without a colon"));
}

static void parse_invalid_header(void)
{
    struct headers f = { .at = NULL };

    headers_parse(&f, STR("a: b\n"));
}

static void lines_without_cr_are_bugs(void **state)
{
    (void)state;
    assert_aborts(parse_invalid_header, "text->at[end] != '\\r'");
}

static void a_name_has_exactly_the_characters_of_a_token(void **state)
{
    static const char good[] = "!#$%&'*+-.^_`|~0123456789"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    (void)state;
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;

        assert_int_equal(headers_is_token(str_n(&byte, 1)),
                         c != 0 && memchr(good, c, sizeof good - 1) != NULL);
    }
    assert_true(headers_is_token(STR("Mcp-Session-Id")));
    assert_false(headers_is_token(STR("a b")));
    assert_false(headers_is_token(STR("")));
}

static void a_value_may_have_all_but_control_characters(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;

        assert_int_equal(headers_is_value(str_n(&byte, 1)), (c >= 32 || c == '\t') && c != 127);
    }
    assert_true(headers_is_value(STR("")));
}

static void names_are_compared_without_case(void **state)
{
    (void)state;
    assert_true(headers_equal_nocase(STR("Content-Type"), STR("content-tYPE")));
    assert_false(headers_equal_nocase(STR("a"), STR("ab")));
    assert_false(
        headers_equal_nocase(STR("@["), STR("`{"))); /* differ by the same bit as letters */
    assert_false(headers_equal_nocase(STR("\xc9"), STR("\xe9")));
    assert_true(headers_equal_nocase(STR(""), STR_NONE));
}

/* Wherever a byte stands, and whether it is looked at alone or with others. */
static void every_byte_is_compared_with_its_lower_case(void **state)
{
    static const size_t places[] = { 0, 3, 7, 8, 15, 16, 18 };

    (void)state;
    for (int c = 0; c < 256 * 256; c++) {
        char one = (char)(c >> 8), other = (char)c;
        bool same = ascii_lower(one) == ascii_lower(other);

        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char a[19] = "\xffZz\x80@[`{\x7f\x01\xda\xfa-Z{", b[19];

            memcpy(b, a, sizeof b);
            a[places[i]] = one;
            b[places[i]] = other;
            if (headers_equal_nocase(str_n(a, sizeof a), str_n(b, sizeof b)) != same)
                fail_msg("%d and %d at %zu", c >> 8, c & 255, places[i]);
        }
    }
}

static void all_headers_of_a_name_are_found_in_order(void **state)
{
    struct headers f = { .at = NULL };
    const struct header *at;

    (void)state;
    assert_int_equal(headers_parse(&f, STR("a: 1\r\nb: 2\r\nA: 3\r\n")), REJECT_NONE);
    at = headers_next(&f, STR("a"), NULL);
    assert_str(at->value, STR("1"));
    at = headers_next(&f, STR("a"), at);
    assert_str(at->value, STR("3"));
    assert_null(headers_next(&f, STR("a"), at));
    assert_int_equal(headers_count(&f, STR("a")), 2);
    assert_int_equal(headers_count(&f, STR("c")), 0);
    assert_str(headers_value(&f, STR("A")), headers_next(&f, STR("a"), NULL)->value);
    assert_str(headers_value(&f, STR("c")), STR_NONE);
    headers_clear(&f);
    assert_null(headers_next(&f, STR("a"), NULL));
    headers_release(&f);
}

/* Those that share a bit with one that is there, too. */
static bool is_a_or_c(struct str name)
{
    return headers_equal_nocase(name, STR("a")) || headers_equal_nocase(name, STR("c"));
}

static void removed_headers_are_not_found_and_the_others_keep_their_order(void **state)
{
    struct headers f = { .at = NULL };

    (void)state;
    assert_int_equal(headers_parse(&f, STR("A: 1\r\nb: 2\r\nC: 3\r\nB: 4\r\nd: 5\r\n")),
                     REJECT_NONE);
    headers_keep_first(&f, STR("B"));
    assert_int_equal(f.count, 4);
    assert_str(headers_value(&f, STR("b")), STR("2"));
    assert_int_equal(headers_count(&f, STR("b")), 1);
    headers_remove(&f, is_a_or_c);
    assert_int_equal(f.count, 2);
    assert_null(headers_next(&f, STR("a"), NULL));
    assert_null(headers_next(&f, STR("c"), NULL));
    assert_str(f.at[0].value, STR("2"));
    assert_str(f.at[1].value, STR("5"));
    headers_release(&f);
}

static void absent_headers_are_not_found(void **state)
{
    struct headers f = { .at = NULL };
    char name[] = "?234567890123456789012345678901234567890";

    (void)state;
    headers_add(&f, STR("Host"), STR("a"));
    headers_add(&f, STR("Accept"), STR("b"));
    headers_add(&f, STR(""), STR("c"));
    for (size_t len = 1; len < sizeof name; len++) {
        for (int c = 0; c < 256; c++) {
            name[0] = (char)c;
            assert_null(headers_next(&f, str_n(name, len), NULL));
            headers_add(&f, str_n(name, len), STR("d"));
            assert_ptr_equal(headers_next(&f, str_n(name, len), NULL), &f.at[3]);
            f.count--;
        }
    }
    assert_str(headers_value(&f, STR("HOST")), STR("a"));
    assert_str(headers_value(&f, STR("aCCEPT")), STR("b"));
    assert_str(headers_value(&f, STR("")), STR("c"));
    headers_clear(&f);
    assert_null(headers_next(&f, STR("Host"), NULL));
    headers_release(&f);
}

static void check_items(struct str list, struct str want)
{
    struct str item = STR("untouched");
    struct buf seen;

    buf_init(&seen, 4096);
    while (headers_next_item(&list, &item)) {
        buf_add_ch(&seen, '[');
        buf_add(&seen, item);
        buf_add_ch(&seen, ']');
    }
    assert_str(buf_str(&seen), want);
    buf_release(&seen);
}

static void a_list_is_split_at_commas_outside_quotes(void **state)
{
    (void)state;
    check_items(STR("a, b;c=d ,\te"), STR("[a][b;c=d][e]"));
    check_items(STR(" , ,a,, "), STR("[a]"));
    check_items(STR(""), STR(""));
    check_items(STR("a;b=\"x,\\\",y\",c"), STR("[a;b=\"x,\\\",y\"][c]"));
    check_items(STR("a\\,b"), STR("[a\\][b]"));
    check_items(STR("a\"b,c"), STR("[a\"b,c]"));
    check_items(STR("\"\\"), STR("[\"\\]"));
}

static void hop_by_hop_headers_are_recognized(void **state)
{
    struct headers f = { .at = NULL };

    (void)state;
    assert_int_equal(
        headers_parse(&f, STR("Connection: close, X-Mine\r\nconnection: other\r\n")),
        REJECT_NONE);
    assert_true(headers_is_hop_by_hop(&f, STR("Connection")));
    assert_true(headers_is_hop_by_hop(&f, STR("KEEP-ALIVE")));
    assert_true(headers_is_hop_by_hop(&f, STR("Transfer-Encoding")));
    assert_true(headers_is_hop_by_hop(&f, STR("Upgrade")));
    assert_true(headers_is_hop_by_hop(&f, STR("x-mine")));
    assert_true(headers_is_hop_by_hop(&f, STR("Other")));
    assert_false(headers_is_hop_by_hop(&f, STR("Content-Type")));
    assert_false(headers_is_hop_by_hop(&f, STR("Authorization")));
    headers_release(&f);
}

static void a_parameter_value_is_a_token_or_a_quoted_string(void **state)
{
    static const struct {
        const char *text;
        size_t token, word;
    } rows[] = {
        { "", 0, 0 },
        { "abc", 3, 3 },
        { "abc;d", 3, 3 },
        { " abc", 0, 0 },
        { "\"a b\" c", 0, 5 },
        { "\"\"", 0, 2 },
        { "\"a\\\"b\"c", 0, 6 },
        { "\"a\\\\\"b", 0, 5 },
        { "\"", 0, 0 },
        { "\"abc", 0, 0 },
        { "\"abc\\", 0, 0 },
        { "\"abc\\\"", 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(headers_token_length(str_z(rows[i].text)), rows[i].token);
        assert_int_equal(headers_word_length(str_z(rows[i].text)), rows[i].word);
    }
    assert_int_equal(headers_word_length(STR_NONE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_duplicates_and_spelling_are_kept),
        cmocka_unit_test(blanks_around_a_value_are_removed),
        cmocka_unit_test(ambiguous_lines_are_rejected),
        cmocka_unit_test(lines_without_cr_are_bugs),
        cmocka_unit_test(a_name_has_exactly_the_characters_of_a_token),
        cmocka_unit_test(a_parameter_value_is_a_token_or_a_quoted_string),
        cmocka_unit_test(a_value_may_have_all_but_control_characters),
        cmocka_unit_test(names_are_compared_without_case),
        cmocka_unit_test(every_byte_is_compared_with_its_lower_case),
        cmocka_unit_test(all_headers_of_a_name_are_found_in_order),
        cmocka_unit_test(removed_headers_are_not_found_and_the_others_keep_their_order),
        cmocka_unit_test(absent_headers_are_not_found),
        cmocka_unit_test(a_list_is_split_at_commas_outside_quotes),
        cmocka_unit_test(hop_by_hop_headers_are_recognized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

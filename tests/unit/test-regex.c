#include "base/regex.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

static bool matches(const char *pattern, enum regex_case fold, struct str text)
{
    struct err e = ERR_NONE;
    struct regex *r;
    bool found;

    if (!regex_new(&r, str_z(pattern), fold, &e))
        fail_msg("%s", e.msg);
    found = regex_search(r, text);
    regex_free(r);
    return found;
}

static void a_pattern_matches_anywhere(void **state)
{
    (void)state;
    assert_true(matches("b+c", REGEX_EXACT, STR("aabbcc")));
    assert_false(matches("^b", REGEX_EXACT, STR("ab")));
    assert_true(matches("", REGEX_EXACT, STR("")));
    assert_true(matches("caf\xc3\xa9", REGEX_EXACT, STR("un caf\xc3\xa9")));
}

static void case_is_ignored_if_requested(void **state)
{
    (void)state;
    assert_false(matches("ABC", REGEX_EXACT, STR("abc")));
    assert_true(matches("ABC", REGEX_ANY_CASE, STR("abc")));
}

static void any_bytes_can_be_searched(void **state)
{
    (void)state;
    assert_true(matches("x", REGEX_EXACT, STR("\xff\0\xfex")));
    assert_false(matches("y", REGEX_EXACT, STR("\xff\0\xfex")));
}

static void an_invalid_pattern_reports_the_reason(void **state)
{
    static const char *const bad[] = { "(",     "a{1001}", "(?=a)",  "(a)\\1",
                                       "[z-a]", "\\",      "(?<!a)b" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = ERR_NONE;
        struct regex *r;

        assert_false(regex_new(&r, str_z(bad[i]), REGEX_EXACT, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_non_null(strstr(e.msg, bad[i]));
        assert_non_null(strstr(e.hint, "look-around"));
    }
}

/* A backtracking engine would take longer than the universe. */
static void nested_quantifiers_take_linear_time(void **state)
{
    enum { LENGTH = 100000 };
    char *text = mem_alloc(LENGTH);

    (void)state;
    memset(text, 'a', LENGTH);
    assert_false(matches("(a+)+$b", REGEX_EXACT, str_n(text, LENGTH)));
    assert_false(matches("(a|a)*c", REGEX_EXACT, str_n(text, LENGTH)));
    free(text);
}

/* A set of patterns, sealed. */
static struct regex_set *set_of(const char *const *patterns, size_t count)
{
    struct regex_set *s = regex_set_new();
    struct err e = ERR_NONE;

    for (size_t i = 0; i < count; i++)
        if (!regex_set_add(s, str_z(patterns[i]), &e))
            fail_msg("%s", e.msg);
    assert_true(regex_set_compile(s, &e));
    return s;
}

#define SET_OF(...)                                                                            \
    set_of((const char *const[]){ __VA_ARGS__ },                                               \
           sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static bool note_match(void *to, size_t pattern, size_t at, size_t end)
{
    struct buf *b = to;

    buf_printf(b, "%zu:%zu-%zu ", pattern, at, end);
    return b->len < 40;
}

static void assert_matches(struct regex_set *s, const char *text, const char *want)
{
    struct buf b;

    buf_init(&b, 1 << 10);
    assert_true(regex_set_search(s, str_z(text), note_match, &b));
    assert_string_equal(buf_z(&b), want);
    buf_release(&b);
    regex_set_free(s);
}

static void a_set_finds_every_match_of_every_pattern(void **state)
{
    (void)state;
    assert_matches(SET_OF("b+", "x"), "abbxb", "0:1-3 0:4-5 1:3-4 ");
    assert_matches(SET_OF("^ab", "\\bb$"), "ab b", "0:0-2 1:3-4 ");
    assert_matches(SET_OF("a"), "bcd", "");
    assert_matches(regex_set_new(), "anything", "");
}

static void a_set_stops_when_the_callback_returns_false(void **state)
{
    struct regex_set *s = SET_OF("a");
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 10);
    assert_false(regex_set_search(s, STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), note_match, &b));
    buf_release(&b);
    regex_set_free(s);
}

static void assert_literals(struct regex_set *s, bool any, const char *want)
{
    struct buf b;
    bool got;

    buf_init(&b, 1 << 10);
    for (size_t i = 0; i < regex_set_literals(s, &got); i++)
        buf_printf(&b, "%.*s ", STR_ARG(regex_set_literal(s, i)));
    regex_set_literals(s, &got);
    assert_int_equal(got, any);
    assert_string_equal(buf_z(&b), want);
    buf_release(&b);
    regex_set_free(s);
}

static void a_set_has_the_required_literals_of_its_patterns(void **state)
{
    (void)state;
    assert_literals(SET_OF("Session-[0-9a-f]{32}"), false, "session- ");
    assert_literals(SET_OF("[0-9]{16}"), true, "");
    assert_literals(SET_OF("Session-[0-9]+", "[0-9]{16}"), true, "");
    assert_literals(SET_OF("ab[0-9]+"), true, "");
    assert_literals(SET_OF("caf\xc3\xa9[0-9]+"), true, "");
    assert_literals(regex_set_new(), false, "");
}

static void a_pattern_that_matches_the_empty_text_is_rejected(void **state)
{
    static const char *const bad[] = {
        "(",          "a*",          "",        "x?",    "(?=secret)",
        "\\b",        "(secret)\\1", "secret(", "^",     "$",
        "\\b|secret", "(?m)^$",      "\\B",     "(?:)+", "\\b(?:secret)?\\b",
        "\\A\\b",     "\\b\\z",
    };
    struct regex_set *s = regex_set_new();

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = ERR_NONE;
        assert_false(regex_set_add(s, str_z(bad[i]), &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_null(strstr(e.msg, "secret"));
    }
    regex_set_free(s);
    regex_set_free(SET_OF("\\bsecret\\b", "^a$", "a?b", "\\b.", "(?m)^x", " \\b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_matches_anywhere),
        cmocka_unit_test(case_is_ignored_if_requested),
        cmocka_unit_test(any_bytes_can_be_searched),
        cmocka_unit_test(an_invalid_pattern_reports_the_reason),
        cmocka_unit_test(nested_quantifiers_take_linear_time),
        cmocka_unit_test(a_set_finds_every_match_of_every_pattern),
        cmocka_unit_test(a_set_stops_when_the_callback_returns_false),
        cmocka_unit_test(a_set_has_the_required_literals_of_its_patterns),
        cmocka_unit_test(a_pattern_that_matches_the_empty_text_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

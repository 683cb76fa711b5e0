#include "base/regex.h"

#include <stdlib.h>

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

static void case_counts_only_if_it_is_to(void **state)
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

static void what_is_no_pattern_says_why(void **state)
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
static void the_classic_trap_is_none(void **state)
{
    enum { LENGTH = 100000 };
    char *text = mem_alloc(LENGTH);

    (void)state;
    memset(text, 'a', LENGTH);
    assert_false(matches("(a+)+$b", REGEX_EXACT, str_n(text, LENGTH)));
    assert_false(matches("(a|a)*c", REGEX_EXACT, str_n(text, LENGTH)));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_matches_anywhere),
        cmocka_unit_test(case_counts_only_if_it_is_to),
        cmocka_unit_test(any_bytes_can_be_searched),
        cmocka_unit_test(what_is_no_pattern_says_why),
        cmocka_unit_test(the_classic_trap_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

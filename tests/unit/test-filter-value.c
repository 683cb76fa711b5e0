#include "filter/filter-value.h"

#include "terse.h"
#include "test.h"

struct made {
    struct arena arena;
    struct filter_value value;
};

static struct made make(const char *key, enum filter_op op, const char *text)
{
    const struct filter_key *k = key ? filter_key_find(str_z(key)) : NULL;
    struct made m = { 0 };
    struct err e = ERR_NONE;

    if (!filter_value_init(&m.value, k, op,
                           (struct filter_token){ FILTER_TOKEN_WORD, str_z(text) }, &m.arena,
                           &e))
        fail_msg("%s", e.msg);
    return m;
}

static void end(struct made *m)
{
    filter_value_release(&m->value);
    arena_release(&m->arena);
}

static bool fits(const char *key, enum filter_op op, const char *text, int64_t n)
{
    struct made m = make(key, op, text);
    bool yes = filter_value_matches_number(&m.value, n);

    end(&m);
    return yes;
}

static void the_smallest_and_largest_numbers_are_accepted(void **state)
{
    (void)state;
    assert_true(fits("code", FILTER_OP_IS, "9223372036854775807", INT64_MAX));
    assert_false(fits("code", FILTER_OP_GREATER, "9223372036854775807", INT64_MAX));
    assert_true(fits("code", FILTER_OP_IS, "-9223372036854775808", INT64_MIN));
    assert_false(fits("code", FILTER_OP_LESS, "-9223372036854775808", INT64_MIN));
    assert_true(fits("code", FILTER_OP_LESS_EQUAL, "0", INT64_MIN));
    assert_true(fits("code", FILTER_OP_GREATER_EQUAL, "-0", INT64_MAX));
}

static void a_time_of_day_matches_every_day(void **state)
{
    int64_t day = INT64_C(86400) * 1000000, noon = day / 2;

    (void)state;
    assert_true(fits("t", FILTER_OP_IS, "12:00", noon));
    assert_true(fits("t", FILTER_OP_IS, "12:00", noon + 20000 * day));
    assert_true(fits("t", FILTER_OP_IS, "12:00:00", noon - 5 * day));
    assert_false(fits("t", FILTER_OP_LESS, "12:00", noon - 5 * day));
}

/* Special characters of regular expressions have no meaning in a word. */
static void a_word_is_not_a_pattern(void **state)
{
    static const char text[] = "a.b+c(d)[e]{f}^g$h|i\\j\x01 k?-/";
    struct made m = make(NULL, FILTER_OP_IS, text);

    (void)state;
    assert_int_equal(m.value.kind, FILTER_VALUE_REGEX);
    assert_true(filter_value_matches_text(&m.value, str_z(text)));
    assert_false(filter_value_matches_text(&m.value, STR("aXb+c")));
    end(&m);
    m = make("tool", FILTER_OP_IS, "a.*c");
    assert_true(filter_value_matches_text(&m.value, STR("a.\n.c")));
    assert_false(filter_value_matches_text(&m.value, STR("abc")));
    assert_false(filter_value_matches_text(&m.value, STR("a.c\n")));
    end(&m);
}

static void numbers_in_json_are_compared_by_value(void **state)
{
    static const struct {
        enum filter_op op;
        const char *text, *json;
        bool want;
    } cases[] = {
        { FILTER_OP_IS, "1", "1.0", true },
        { FILTER_OP_IS, "1", "'1'", true },
        { FILTER_OP_IS, "01", "'01'", true },
        { FILTER_OP_IS, "01", "1", false },
        { FILTER_OP_IS, "9007199254740993", "9007199254740993", true },
        { FILTER_OP_IS, "9007199254740993", "9007199254740992", false },
        { FILTER_OP_IS, "1..3", "2.5", true },
        { FILTER_OP_IS, "1..3", "'1..3'", false },
        { FILTER_OP_IS, "a..b", "'a..b'", true },
        { FILTER_OP_GREATER, "1e3", "1001", true },
        { FILTER_OP_GREATER, "1", "'2'", false },
        { FILTER_OP_LESS, "0", "-1e400", true },
        { FILTER_OP_IS, "true", "true", true },
        { FILTER_OP_IS, "{}", "{}", true },
        { FILTER_OP_REGEX, "^\\[1", "[1,2]", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct terse_scanned s = { 0 };
        struct made m = make("arg", cases[i].op, cases[i].text);

        if (filter_value_matches_json(&m.value, terse_scan(&s, cases[i].json)) != cases[i].want)
            fail_msg("%s, %s", cases[i].text, cases[i].json);
        terse_scanned_release(&s);
        end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_and_largest_numbers_are_accepted),
        cmocka_unit_test(a_time_of_day_matches_every_day),
        cmocka_unit_test(a_word_is_not_a_pattern),
        cmocka_unit_test(numbers_in_json_are_compared_by_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

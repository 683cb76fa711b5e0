#include "json/equal.h"

#include "base/buf.h"
#include "test.h"

static struct json left, right;

static const struct json_rules by_value = { .numbers_by_value = true };

static bool is_equal_by(struct str a, struct str b, const struct json_rules *rules)
{
    struct json_fault fault;
    bool equal;

    assert_true(json_scan(&left, a, &fault));
    assert_true(json_scan(&right, b, &fault));
    equal = json_equal(json_root(&left), json_root(&right), rules);
    assert_int_equal(equal, json_equal(json_root(&right), json_root(&left), rules));
    /* Unequal values could share a hash, but none of these does. */
    assert_int_equal(equal,
                     json_hash(json_root(&left), rules) == json_hash(json_root(&right), rules));
    return equal;
}

static bool same(const char *a, const char *b)
{
    return is_equal_by(str_z(a), str_z(b), NULL);
}

static void spelling_does_not_matter(void **state)
{
    (void)state;
    assert_true(same("{\"a\":1,\"b\":[true,null]}", " { \"b\" : [ true , null ] ,\n\"a\":1}"));
    assert_true(same("\"caf\\u00e9\\/\"", "\"caf\xC3\xA9/\""));
    assert_true(same("\"\\u0041\\n\"", "\"A\\u000a\""));
    assert_true(same("{\"\\u0061\":1}", "{\"a\":1}"));
    assert_true(same("[\"\\ud83d\\ude80\"]", "[\"\xF0\x9F\x9A\x80\"]"));
    assert_true(same("{\"a\":{\"x\":1,\"y\":{\"p\":[],\"q\":{}}}}",
                     "{\"a\":{\"y\":{\"q\":{},\"p\":[]},\"x\":1}}"));
}

static void different_values_differ(void **state)
{
    static const char *const values[] = {
        "null",
        "true",
        "false",
        "0",
        "1",
        "\"\"",
        "\"0\"",
        "\"1\"",
        "\"null\"",
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "[null]",
        "[1]",
        "[1,2]",
        "[2,1]",
        "[[1],2]",
        "[[1,2]]",
        "{\"a\":1}",
        "{\"a\":2}",
        "{\"b\":1}",
        "{\"a\":[1]}",
        "{\"a\":1,\"b\":2}",
        "{\"a\":2,\"b\":1}",
        "{\"\":1}",
        "{\"a\":{\"b\":1}}",
        "{\"a\":null}",
        "\"\\ud83d\"",
        "\"\\ude80\"",
        "\"\\ufffd\"",
    };
    const size_t n = sizeof values / sizeof *values;

    (void)state;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            assert_int_equal(same(values[i], values[k]), i == k);
}

static void the_last_of_duplicate_members_counts(void **state)
{
    (void)state;
    assert_true(same("{\"a\":1,\"a\":2}", "{\"a\":2}"));
    assert_true(same("{\"a\":1,\"b\":3,\"\\u0061\":2}", "{\"b\":3,\"a\":2}"));
    assert_false(same("{\"a\":2,\"a\":1}", "{\"a\":2}"));
    assert_false(same("{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":1}"));
}

static void numbers_are_compared_by_text_or_by_value(void **state)
{
    static const char *const alike[][2] = {
        { "2", "2.0" },
        { "2", "20e-1" },
        { "0", "-0.0" },
        { "1E400", "10e399" },
        { "1.5", "1.50" },
        { "[100]", "[1e2]" },
        { "12345678901234567890123", "12345678901234567890123.0" },
    };
    static const char *const unlike[][2] = {
        { "2", "-2" },
        { "2", "2.0000000000000000000000000000001" },
        { "1e400", "1e401" },
        { "9007199254740992", "9007199254740993" },
        { "0.1", "0.10000000000000000555" },
        { "1", "\"1\"" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        assert_false(same(alike[i][0], alike[i][1]));
        assert_true(is_equal_by(str_z(alike[i][0]), str_z(alike[i][1]), &by_value));
    }
    for (size_t i = 0; i < sizeof unlike / sizeof *unlike; i++)
        assert_false(is_equal_by(str_z(unlike[i][0]), str_z(unlike[i][1]), &by_value));
}

static void skipped_members_are_ignored_only_in_the_outermost_object(void **state)
{
    const struct str skip[] = { STR("_meta"), STR("id") };
    const struct json_rules rules = { .skip = skip, .skip_count = 2 };

    (void)state;
    assert_true(is_equal_by(STR("{\"a\":1,\"_meta\":{\"x\":1},\"\\u0069d\":2}"),
                            STR("{\"a\":1}"), &rules));
    assert_true(is_equal_by(STR("{\"id\":1}"), STR("{\"id\":2}"), &rules));
    assert_false(is_equal_by(STR("{\"a\":{\"id\":1}}"), STR("{\"a\":{\"id\":2}}"), &rules));
    assert_false(is_equal_by(STR("[{\"id\":1}]"), STR("[{\"id\":2}]"), &rules));
}

static void an_absent_value_equals_only_another_absent_one(void **state)
{
    struct json_fault fault;

    (void)state;
    assert_true(json_scan(&left, STR("null"), &fault));
    assert_true(json_equal(JSON_VAL_NONE, JSON_VAL_NONE, NULL));
    assert_false(json_equal(JSON_VAL_NONE, json_root(&left), NULL));
    assert_true(json_hash(JSON_VAL_NONE, NULL) != json_hash(json_root(&left), NULL));
}

/* Quadratic work on these would take minutes. */
static void large_and_deep_values_are_compared(void **state)
{
    enum { MANY = 100000 };
    struct buf a, b;

    (void)state;
    buf_init(&a, 64 << 20);
    buf_init(&b, 64 << 20);
    buf_add_ch(&a, '{');
    buf_add_ch(&b, '{');
    for (int i = 0; i < MANY; i++) {
        buf_printf(&a, "\"key %d\":[%d],", i, i);
        buf_printf(&b, "\"key %d\":[%d],", MANY - 1 - i, MANY - 1 - i);
    }
    for (int i = 0; i < MANY; i++)
        buf_printf(&b, "\"\\u006bey %d\":[%d],", i, i);
    buf_add(&a, STR("\"\":0}"));
    buf_add(&b, STR("\"\":0}"));
    assert_true(is_equal_by(buf_str(&a), buf_str(&b), NULL));
    b.at[b.len - 2] = '1';
    assert_false(is_equal_by(buf_str(&a), buf_str(&b), NULL));

    buf_clear(&a);
    buf_clear(&b);
    for (int i = 0; i < JSON_MAX_DEPTH; i++) {
        buf_add(&a, STR("{\"a\":"));
        buf_add(&b, STR("{\"a\":"));
    }
    buf_add(&a, STR("10"));
    buf_add(&b, STR("1e1"));
    for (int i = 0; i < JSON_MAX_DEPTH; i++) {
        buf_add(&a, STR(",\"b\":1}"));
        buf_add(&b, STR(",\"b\":1}"));
    }
    assert_false(is_equal_by(buf_str(&a), buf_str(&b), NULL));
    assert_true(is_equal_by(buf_str(&a), buf_str(&b), &by_value));

    buf_clear(&a);
    buf_add_ch(&a, '1');
    for (int i = 0; i < 10 * MANY; i++)
        buf_add_ch(&a, '0');
    assert_true(is_equal_by(buf_str(&a), STR("1e1000000"), &by_value));
    buf_release(&a);
    buf_release(&b);
}

static int release(void **state)
{
    (void)state;
    json_release(&left);
    json_release(&right);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spelling_does_not_matter),
        cmocka_unit_test(different_values_differ),
        cmocka_unit_test(the_last_of_duplicate_members_counts),
        cmocka_unit_test(numbers_are_compared_by_text_or_by_value),
        cmocka_unit_test(skipped_members_are_ignored_only_in_the_outermost_object),
        cmocka_unit_test(an_absent_value_equals_only_another_absent_one),
        cmocka_unit_test(large_and_deep_values_are_compared),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}

#include "json/portability.h"

#include "base/buf.h"
#include "test.h"

static unsigned findings_of(struct str text, unsigned around)
{
    struct json_fault fault;
    unsigned found;
    struct json j;

    json_init(&j);
    if (!json_scan(&j, text, &fault))
        fail_msg("not JSON at %zu: %s", fault.at, fault.what);
    found = json_portability_issues(json_root(&j), around);
    json_release(&j);
    return found;
}

static void a_lone_surrogate_is_found_at_any_position(void **state)
{
    static const struct {
        const char *text;
        bool lone;
    } cases[] = {
        { "\"plain\"", false },
        { "\"\\ud83d\"", true },
        { "\"\\uD83D\"", true },
        { "\"\\ude00\"", true },
        { "\"\\uDfFf\"", true },
        { "\"\\ud83d\\ude00\"", false },
        { "\"\\uD83D\\uDE00 and \\ud83d\\ude00\"", false },
        { "\"\\ud83d\\ude00\\ude00\"", true },
        { "\"\\ud83d\\ud83d\\ude00\"", true },
        { "\"\\ud83d x\"", true },
        { "\"\\ud83d\\n\\ude00\"", true },
        { "\"\\\\ud83d\"", false }, /* a backslash and letters */
        { "\"\\\\\\ud83d\"", true },
        { "\"\\u00e9\\ud7ff\\ue000\"", false },
        { "{\"\\ud83d\":1}", true },
        { "{\"a\":[0,{\"b\":\"\\ud83d\"}]}", true },
        { "{\"a\":[0,{\"b\":\"\\n\"}],\"c\":\"\\t\"}", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (findings_of(str_z(cases[i].text), 0) != (cases[i].lone ? JSON_LONE_SURROGATE : 0u))
            fail_msg("wrong about %s", cases[i].text);
}

/* `n` times `open`, 1, `n` times `close`. */
static struct str nested(struct buf *to, size_t n, const char *open, const char *close)
{
    buf_clear(to);
    for (size_t i = 0; i < n; i++)
        buf_add(to, str_z(open));
    buf_add_ch(to, '1');
    for (size_t i = 0; i < n; i++)
        buf_add(to, str_z(close));
    return buf_str(to);
}

/* The numbers are those of jq 1.6. */
static void nesting_is_counted_as_jq_does(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 20);
    assert_int_equal(findings_of(nested(&b, 256, "[", "]"), 0), 0);
    assert_int_equal(findings_of(nested(&b, 257, "[", "]"), 0), JSON_TOO_DEEP);
    assert_int_equal(findings_of(nested(&b, 128, "{\"a\":", "}"), 0), 0);
    assert_int_equal(findings_of(nested(&b, 129, "{\"a\":", "}"), 0), JSON_TOO_DEEP);
    assert_int_equal(findings_of(nested(&b, 127, "{\"a\":", "}"), JSON_OBJECT_DEPTH), 0);
    assert_int_equal(findings_of(nested(&b, 128, "{\"a\":", "}"), JSON_OBJECT_DEPTH),
                     JSON_TOO_DEEP);
    assert_int_equal(findings_of(nested(&b, 85, "[{\"a\":", "}]"), 0), 0);
    assert_int_equal(findings_of(nested(&b, 86, "[{\"a\":", "}]"), 0), JSON_TOO_DEEP);
    buf_release(&b);
}

static void values_side_by_side_are_not_deep(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 20);
    buf_add(&b, STR("[[[]]"));
    for (int i = 0; i < 1000; i++)
        buf_add(&b, STR(",{\"a\":[{}],\"b\":{}},[[]]"));
    buf_add_ch(&b, ']');
    assert_int_equal(findings_of(buf_str(&b), 250), 0);
    assert_int_equal(findings_of(buf_str(&b), 252), JSON_TOO_DEEP);
    buf_release(&b);
}

static void only_the_value_itself_is_checked(void **state)
{
    struct json_fault fault;
    struct json j;

    (void)state;
    json_init(&j);
    assert_true(json_scan(&j, STR("[\"\\ud83d\",[\"x\"],\"\\ud83d\"]"), &fault));
    assert_int_equal(json_portability_issues(json_item(json_root(&j), 1), 0), 0);
    assert_int_equal(json_portability_issues(json_item(json_root(&j), 2), 0),
                     JSON_LONE_SURROGATE);
    assert_int_equal(json_portability_issues(JSON_VAL_NONE, 0), 0);
    json_release(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_surrogate_is_found_at_any_position),
        cmocka_unit_test(nesting_is_counted_as_jq_does),
        cmocka_unit_test(values_side_by_side_are_not_deep),
        cmocka_unit_test(only_the_value_itself_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "scenario/scenario-expect.h"

#include "test.h"

enum { SEEN_MAX = 4096 };

/* One response, one expectation or one value to save. */
static void check_response(const char *response, const struct scenario_expect *x,
                           struct scenario_values *values, const char *want)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct finding *f;
    struct json j;
    struct buf seen;
    size_t count;

    json_init(&j);
    buf_init(&seen, SEEN_MAX);
    assert_true(json_scan(&j, str_z(response), &fault));
    f = scenario_expect_judge(x, json_root(&j), values, &a, &count);
    for (size_t i = 0; i < count; i++)
        buf_printf(&seen, "%.*s: %.*s [%.*s|%.*s]\n", STR_ARG(f[i].rule), STR_ARG(f[i].message),
                   STR_ARG(f[i].recorded), STR_ARG(f[i].live));
    assert_str(buf_str(&seen), str_z(want));
    buf_release(&seen);
    json_release(&j);
    arena_release(&a);
}

static void check_value(const char *response, const char *path, const char *json,
                        const char *want)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct json_path compiled;
    struct scenario_expect_value value = { .path_text = str_z(path),
                                           .path = &compiled,
                                           .json = str_z(json) };
    struct scenario_expect x = { .values = &value, .value_count = 1 };
    struct scenario_values values;

    scenario_values_init(&values);
    scenario_values_set(&values, STR("n"), STR("4"));
    assert_true(json_path_compile(&compiled, str_z(path), &a, &e));
    check_response(response, &x, &values, want);
    scenario_values_release(&values);
    arena_release(&a);
}

static void values_are_compared(void **state)
{
    (void)state;
    check_value("{\"result\":{\"a\":4.0}}", "$.result.a", "4", "");
    check_value("{\"result\":{\"a\":4}}", "$.result.a", "\"{{n}}\"", "");
    check_value("{\"result\":{\"a\":5}}", "$.result.a", "\"{{n}}\"",
                "expect-value: $.result.a is not as expected [4|5]\n");
    check_value("{\"result\":{\"a\":[1,2,3]}}", "$.result.a[*]", "3", "");
    check_value("{\"result\":{\"a\":[1,2]}}", "$.result.a[*]", "3",
                "expect-value: $.result.a[*] is not as expected [3|1]\n");
    check_value("{\"result\":{\"a\":null}}", "$.result.a", "null", "");
    check_value("{\"result\":{}}", "$.result.a", "null",
                "expect-no-value: the response has no value at $.result.a [|]\n");
    check_value("{\"result\":{\"a\":{\"x\":1,\"y\":2}}}", "$.result.a", "{\"y\":2,\"x\":1}",
                "");
}

static void check_error(const char *response, enum scenario_expect_error expected,
                        const char *want)
{
    struct scenario_expect x = { .is_error = expected };
    struct scenario_values values;

    scenario_values_init(&values);
    check_response(response, &x, &values, want);
    scenario_values_release(&values);
}

static void errors_are_of_the_protocol_or_of_a_tool(void **state)
{
    static const char *const ok = "{\"result\":{\"isError\":false}}";
    static const char *const tool = "{\"result\":{\"isError\":true}}";
    static const char *const rpc = "{\"error\":{\"code\":-1}}";
    (void)state;

    check_error(ok, EXPECT_NO_ERROR, "");
    check_error(ok, EXPECT_AN_ERROR, "expect-is-error: the response is no error [|]\n");
    check_error(tool, EXPECT_AN_ERROR, "");
    check_error(tool, EXPECT_NO_ERROR,
                "expect-is-error: the response is an error [|{\"isError\":true}]\n");
    check_error(rpc, EXPECT_AN_ERROR, "");
    check_error(rpc, EXPECT_NO_ERROR,
                "expect-is-error: the response is an error [|{\"code\":-1}]\n");
    check_error(rpc, EXPECT_ANY, "");
}

static void the_first_value_is_saved(void **state)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct json_path compiled;
    struct scenario_expect_save save = { .name = STR("id"),
                                         .path_text = STR("$.result.ids[*]"),
                                         .path = &compiled };
    struct scenario_expect x = { .saves = &save, .save_count = 1 };
    struct scenario_values values;
    struct buf to;

    (void)state;
    buf_init(&to, SEEN_MAX);
    scenario_values_init(&values);
    assert_true(json_path_compile(&compiled, save.path_text, &a, &e));
    check_response("{\"result\":{\"ids\":[\"x\",\"y\"]}}", &x, &values, "");
    scenario_values_fill(&values, STR("\"{{id}}\""), &to);
    assert_str(buf_str(&to), STR("\"x\""));
    check_response("{\"result\":{\"ids\":[]}}", &x, &values,
                   "expect-no-value: the response has no value at $.result.ids[*] [|]\n");
    buf_release(&to);
    scenario_values_release(&values);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_compared),
        cmocka_unit_test(errors_are_of_the_protocol_or_of_a_tool),
        cmocka_unit_test(the_first_value_is_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "engine/http-params.h"

#include "http-spoken.h"
#include "terse.h"

static void learn(struct http_params *p, const char *result)
{
    struct terse_scanned s;

    http_params_learn(p, terse_scan(&s, result));
    terse_scanned_release(&s);
}

static bool fit(const struct http_params *p, const char *headers, const char *arguments)
{
    struct arena a = { NULL, 0 };
    struct str params = terse_json(&a, arguments);
    struct str line = arena_printf(
        &a, "POST %s{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"%s%.*s}}",
        headers, params.len ? ",\"arguments\":" : "", STR_ARG(params));
    struct http_spoken s;
    bool fits = http_params_fit(p, http_spoken(&s, SESSION_NONE, line.at), &a);

    http_spoken_release(&s);
    arena_release(&a);
    return fits;
}

#define TOOL(name, properties)                                                                 \
    "{'tools':[{'name':'" name "','inputSchema':{'properties':{" properties "}}}]}"

static void texts_numbers_and_truth_are_compared_by_what_they_mean(void **state)
{
    struct http_params p;

    (void)state;
    http_params_init(&p);
    learn(&p, TOOL("t", "'r':{'x-mcp-header':'Region'}"));
    assert_true(fit(&p, "Mcp-Param-Region:eu ", "{'r':'eu'}"));
    assert_true(fit(&p, "mcp-param-region:eu ", "{'r':'eu'}"));
    assert_true(fit(&p, "Mcp-Param-Region:=?base64?w6k=?= ", "{'r':'é'}"));
    assert_true(fit(&p, "Mcp-Param-Region:42 ", "{'r':42}"));
    assert_true(fit(&p, "Mcp-Param-Region:42 ", "{'r':'42'}"));
    assert_true(fit(&p, "Mcp-Param-Region:true ", "{'r':true}"));
    assert_true(fit(&p, "", "{'r':null}"));
    assert_true(fit(&p, "", "{}"));
    assert_true(fit(&p, "", ""));
    assert_false(fit(&p, "", "{'r':'eu'}"));
    assert_false(fit(&p, "Mcp-Param-Region:EU ", "{'r':'eu'}"));
    assert_false(fit(&p, "Mcp-Param-Region:43 ", "{'r':42}"));
    assert_false(fit(&p, "Mcp-Param-Region:x ", "{'r':42}"));
    assert_false(fit(&p, "Mcp-Param-Region:false ", "{'r':true}"));
    assert_false(fit(&p, "Mcp-Param-Region:eu ", "{}"));
    assert_false(fit(&p, "Mcp-Param-Region:=?base64?!?= ", "{'r':'!'}"));
    http_params_release(&p);
}

static void all_that_properties_lead_to_counts_and_nothing_else(void **state)
{
    struct http_params p;

    (void)state;
    http_params_init(&p);
    learn(&p, TOOL("t", "'o':{'properties':{'i':{'x-mcp-header':'I'}}},"
                        "'l':{'items':{'x-mcp-header':'L'}},'a':{'x-mcp-header':'A'},"
                        "'n':{'x-mcp-header':7}"));
    assert_true(
        fit(&p, "Mcp-Param-I:1 Mcp-Param-A:2 ", "{'o':{'i':1},'a':2,'l':['x'],'n':'y'}"));
    assert_false(fit(&p, "Mcp-Param-I:1 ", "{'o':{'i':1},'a':2}"));
    assert_false(fit(&p, "Mcp-Param-A:2 ", "{'o':{'i':1},'a':2}"));
    http_params_release(&p);
}

static void what_was_learnt_last_counts(void **state)
{
    struct http_params p;

    (void)state;
    http_params_init(&p);
    assert_true(fit(&p, "Mcp-Param-A:1 ", "{'a':2}")); /* nothing is known of it */
    learn(&p, TOOL("t", "'a':{'x-mcp-header':'A'}"));
    assert_false(fit(&p, "Mcp-Param-A:1 ", "{'a':2}"));
    learn(&p, TOOL("other", ""));
    learn(&p, "{'prompts':[]}");
    assert_false(fit(&p, "Mcp-Param-A:1 ", "{'a':2}"));
    learn(&p, TOOL("t", "'a':{'x-mcp-header':'B'}"));
    assert_true(fit(&p, "Mcp-Param-A:1 Mcp-Param-B:2 ", "{'a':2}"));
    learn(&p, TOOL("t", "'a':{}"));
    assert_true(fit(&p, "Mcp-Param-B:1 ", "{'a':2}"));
    http_params_release(&p);
}

static void a_schema_of_any_depth_is_harmless(void **state)
{
    struct http_params p;

    (void)state;
    http_params_init(&p);
    learn(&p, TOOL("t", "'a':{'properties':{'a':{'properties':{'a':{'properties':{'a':{"
                        "'properties':{'a':{'properties':{'a':{'properties':{'a':{'properties'"
                        ":{'a':{'properties':{'a':{'x-mcp-header':'A'}}}}}}}}}}}}}}}}}"));
    assert_true(fit(&p, "", "{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':1}}}}}}}}}"));
    http_params_release(&p);
}

static void only_calls_of_tools_have_arguments(void **state)
{
    struct http_spoken s;
    struct http_params p;

    (void)state;
    http_params_init(&p);
    learn(&p, TOOL("t", "'a':{'x-mcp-header':'A'}"));
    assert_true(http_params_fit(
        &p,
        http_spoken(&s, SESSION_NONE,
                    "POST {\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"t\","
                    "\"arguments\":{\"a\":1}}}"),
        &s.arena));
    http_spoken_release(&s);
    http_params_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_numbers_and_truth_are_compared_by_what_they_mean),
        cmocka_unit_test(all_that_properties_lead_to_counts_and_nothing_else),
        cmocka_unit_test(what_was_learnt_last_counts),
        cmocka_unit_test(a_schema_of_any_depth_is_harmless),
        cmocka_unit_test(only_calls_of_tools_have_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

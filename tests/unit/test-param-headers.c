#include "mcphttp/param-headers.h"

#include "parsed-request.h"
#include "terse.h"

static void learn(struct param_headers *p, const char *result)
{
    struct terse_scanned s;

    param_headers_update(p, terse_scan(&s, result));
    terse_scanned_release(&s);
}

static bool fit(const struct param_headers *p, const char *headers, const char *arguments)
{
    struct arena a = { NULL, 0 };
    struct str params = terse_json(&a, arguments);
    struct str line = arena_printf(
        &a, "POST %s{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"%s%.*s}}",
        headers, params.len ? ",\"arguments\":" : "", STR_ARG(params));
    struct parsed_request s;
    bool fits = param_headers_match(p, parsed_request(&s, SESSION_NONE, line.at), &a);

    parsed_request_release(&s);
    arena_release(&a);
    return fits;
}

#define TOOL(name, properties)                                                                 \
    "{'tools':[{'name':'" name "','inputSchema':{'properties':{" properties "}}}]}"

static void texts_numbers_and_booleans_are_compared_by_value(void **state)
{
    struct param_headers p;

    (void)state;
    param_headers_init(&p);
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
    param_headers_release(&p);
}

static void exactly_the_nested_properties_count(void **state)
{
    struct param_headers p;

    (void)state;
    param_headers_init(&p);
    learn(&p, TOOL("t", "'o':{'properties':{'i':{'x-mcp-header':'I'}}},"
                        "'l':{'items':{'x-mcp-header':'L'}},'a':{'x-mcp-header':'A'},"
                        "'n':{'x-mcp-header':7}"));
    assert_true(
        fit(&p, "Mcp-Param-I:1 Mcp-Param-A:2 ", "{'o':{'i':1},'a':2,'l':['x'],'n':'y'}"));
    assert_false(fit(&p, "Mcp-Param-I:1 ", "{'o':{'i':1},'a':2}"));
    assert_false(fit(&p, "Mcp-Param-A:2 ", "{'o':{'i':1},'a':2}"));
    param_headers_release(&p);
}

static void the_latest_tool_list_counts(void **state)
{
    struct param_headers p;

    (void)state;
    param_headers_init(&p);
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
    param_headers_release(&p);
}

static void a_schema_of_any_depth_is_read(void **state)
{
    struct param_headers p;

    (void)state;
    param_headers_init(&p);
    learn(&p, TOOL("t", "'a':{'properties':{'a':{'properties':{'a':{'properties':{'a':{"
                        "'properties':{'a':{'properties':{'a':{'properties':{'a':{'properties'"
                        ":{'a':{'properties':{'a':{'x-mcp-header':'A'}}}}}}}}}}}}}}}}}"));
    assert_true(fit(&p, "", "{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':1}}}}}}}}}"));
    param_headers_release(&p);
}

static void only_tool_calls_have_param_headers(void **state)
{
    struct parsed_request s;
    struct param_headers p;

    (void)state;
    param_headers_init(&p);
    learn(&p, TOOL("t", "'a':{'x-mcp-header':'A'}"));
    assert_true(param_headers_match(
        &p,
        parsed_request(&s, SESSION_NONE,
                       "POST {\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"t\","
                       "\"arguments\":{\"a\":1}}}"),
        &s.arena));
    parsed_request_release(&s);
    param_headers_release(&p);
}

/* The lines for a call with these arguments. */
static void assert_added(const struct param_headers *p, const char *arguments, const char *want)
{
    struct arena a = { NULL, 0 };
    struct str params = terse_json(&a, arguments);
    struct str line = arena_printf(
        &a,
        "POST "
        "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":%.*s}}",
        STR_ARG(params));
    struct headers f = { .at = NULL };
    struct parsed_request s;
    struct buf text;

    buf_init(&text, 1 << 20);
    param_headers_add(p, parsed_request(&s, SESSION_NONE, line.at)->message, &f, &a);
    for (size_t i = 0; i < f.count; i++)
        buf_printf(&text, "%.*s: %.*s\n", STR_ARG(f.at[i].name), STR_ARG(f.at[i].value));
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
    headers_release(&f);
    parsed_request_release(&s);
    arena_release(&a);
}

static void headers_are_added_as_the_schema_declares(void **state)
{
    struct param_headers p;

    (void)state;
    param_headers_init(&p);
    assert_added(&p, "{'r':'eu'}", "");
    learn(&p, TOOL("t", "'r':{'x-mcp-header':'R'}"));
    assert_added(&p, "{'r':'eu'}", "Mcp-Param-R: eu\n");
    assert_added(&p, "{'r':''}", "Mcp-Param-R: \n");
    assert_added(&p, "{'r':'é'}", "Mcp-Param-R: =?base64?w6k=?=\n");
    assert_added(&p, "{'r':'a`nb'}", "Mcp-Param-R: =?base64?YQpi?=\n");
    assert_added(&p, "{'r':42}", "Mcp-Param-R: 42\n");
    assert_added(&p, "{'r':false}", "Mcp-Param-R: false\n");
    assert_added(&p, "{'r':1.5}", "");
    assert_added(&p, "{'r':null}", "");
    assert_added(&p, "{'r':{}}", "");
    assert_added(&p, "{}", "");
    learn(&p, TOOL("t", "'r':{'x-mcp-header':'not a word'}"));
    assert_added(&p, "{'r':'eu'}", "");
    param_headers_release(&p);
}

static void the_number_of_headers_of_a_schema_is_limited(void **state)
{
    struct arena a = { NULL, 0 };
    struct headers f = { .at = NULL };
    struct buf properties, arguments, line;
    struct parsed_request s;
    struct param_headers p;

    (void)state;
    buf_init(&properties, 1 << 20);
    buf_init(&arguments, 1 << 20);
    buf_init(&line, 1 << 20);
    for (int i = 0; i < 100; i++) {
        buf_printf(&properties, "%s'a%d':{'x-mcp-header':'A%d'}", i ? "," : "", i, i);
        buf_printf(&arguments, "%s\"a%d\":1", i ? "," : "", i);
    }
    param_headers_init(&p);
    learn(&p, arena_printf(&a, TOOL("t", "%s"), buf_z(&properties)).at);
    buf_printf(&line,
               "POST {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\","
               "\"arguments\":{%s}}}",
               buf_z(&arguments));
    param_headers_add(&p, parsed_request(&s, SESSION_NONE, buf_z(&line))->message, &f, &a);
    assert_int_equal(f.count, PARAM_HEADERS_MAX);
    parsed_request_release(&s);
    headers_release(&f);
    param_headers_release(&p);
    buf_release(&properties);
    buf_release(&arguments);
    buf_release(&line);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_numbers_and_booleans_are_compared_by_value),
        cmocka_unit_test(exactly_the_nested_properties_count),
        cmocka_unit_test(the_latest_tool_list_counts),
        cmocka_unit_test(a_schema_of_any_depth_is_read),
        cmocka_unit_test(only_tool_calls_have_param_headers),
        cmocka_unit_test(headers_are_added_as_the_schema_declares),
        cmocka_unit_test(the_number_of_headers_of_a_schema_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

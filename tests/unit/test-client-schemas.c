#include "mcphttp/client-schemas.h"

#include "terse.h"
#include "test.h"

struct bench {
    struct client_schemas list;
    struct arena arena;
};

static void open_bench(struct bench *b)
{
    *b = (struct bench){ 0 };
    client_schemas_init(&b->list);
}

static void close_bench(struct bench *b)
{
    client_schemas_release(&b->list);
    arena_release(&b->arena);
}

static bool is_reason(struct bench *b, unsigned status, const char *answer)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, answer), &b->arena);
    bool is = client_schemas_is_needed(status, &m);

    terse_scanned_release(&s);
    return is;
}

static void assert_request(struct bench *b, const char *params, const char *want)
{
    struct terse_scanned s;
    struct str got = client_schemas_request(&b->list, terse_scan(&s, params), &b->arena);

    assert_str(got, terse_json(&b->arena, want));
    terse_scanned_release(&s);
}

static void receive(struct bench *b, const char *answer)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, answer), &b->arena);

    client_schemas_read_page(&b->list, &m);
    terse_scanned_release(&s);
}

static void only_a_header_mismatch_causes_a_tool_list_request(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_true(is_reason(&b, 400, "{'id':1,'error':{'code':-32020,'message':'x'}}"));
    assert_true(is_reason(&b, 400, "{'id':null,'error':{'code':-32020,'message':'x'}}"));
    assert_false(is_reason(&b, 200, "{'id':1,'error':{'code':-32020,'message':'x'}}"));
    assert_false(is_reason(&b, 400, "{'id':1,'error':{'code':-32021,'message':'x'}}"));
    assert_false(is_reason(&b, 400, "{'id':1,'error':{'message':'x'}}"));
    assert_false(is_reason(&b, 400, "{'id':1,'result':{'error':{'code':-32020}}}"));
    close_bench(&b);
}

static void the_request_for_tools_has_the_meta_of_the_call(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    client_schemas_start(&b.list);
    assert_request(
        &b,
        "{'name':'t','arguments':{'a':1},'_meta':{'io.modelcontextprotocol/protocolVersion':"
        "'2026-07-28','progressToken':1,'io.modelcontextprotocol/clientCapabilities':{'x':1.0},"
        "'io.modelcontextprotocol/logLevel':'info'}}",
        "{'jsonrpc':'2.0','id':'mcpreel-tools-1','method':'tools/list','params':{'_meta':{"
        "'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
        "'io.modelcontextprotocol/clientCapabilities':{'x':1.0}}}}");
    assert_false(client_schemas_has_more(&b.list));
    close_bench(&b);
}

#define REQUEST(n, cursor)                                                                     \
    "{'jsonrpc':'2.0','id':'mcpreel-tools-" n "','method':'tools/list','params':{" cursor      \
    "'_meta':{}}}"

static void pages_are_requested_until_there_is_no_cursor(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    client_schemas_start(&b.list);
    assert_request(&b, "{}", REQUEST("1", ""));
    receive(&b, "{'id':1,'result':{'tools':[],'nextCursor':'a`u0041'}}");
    assert_true(client_schemas_has_more(&b.list));
    assert_request(&b, "{}", REQUEST("2", "'cursor':'a`u0041',"));
    receive(&b, "{'id':1,'result':{'tools':[],'nextCursor':null}}");
    assert_false(client_schemas_has_more(&b.list));
    client_schemas_start(&b.list);
    assert_request(&b, "{}", REQUEST("3", ""));
    receive(&b, "{'id':1,'error':{'code':1,'message':'x'}}");
    assert_false(client_schemas_has_more(&b.list));
    close_bench(&b);
}

static void an_endless_tool_list_is_limited(void **state)
{
    struct bench b;
    unsigned pages = 0;

    (void)state;
    open_bench(&b);
    client_schemas_start(&b.list);
    do {
        struct terse_scanned s;

        client_schemas_request(&b.list, terse_scan(&s, "{}"), &b.arena);
        terse_scanned_release(&s);
        receive(&b, "{'id':1,'result':{'tools':[],'nextCursor':'again'}}");
        pages++;
    } while (client_schemas_has_more(&b.list));
    assert_in_range(pages, 10, 1000);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_header_mismatch_causes_a_tool_list_request),
        cmocka_unit_test(the_request_for_tools_has_the_meta_of_the_call),
        cmocka_unit_test(pages_are_requested_until_there_is_no_cursor),
        cmocka_unit_test(an_endless_tool_list_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

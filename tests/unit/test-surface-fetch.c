#include "diff/surface-fetch.h"

#include "engine-run.h"

struct rig {
    struct engine_run run;
    struct surface surface;
    struct surface_fetch fetch;
};

static void step(void *engine, const struct event *ev)
{
    surface_fetch_step(engine, ev);
}

static void begin(struct rig *r, enum mcp_version version)
{
    surface_init(&r->surface);
    engine_run_init(&r->run, TO_CLIENT, step, &r->fetch);
    surface_fetch_init(&r->fetch, &r->surface, version, 0, &r->run.out);
    engine_run_event(&r->run, EVENT_OPENED, NULL);
}

static void end(struct rig *r)
{
    surface_fetch_release(&r->fetch);
    surface_release(&r->surface);
    engine_run_release(&r->run);
}

#define INITIALIZE                                                                             \
    "<< {'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':"            \
    "'2025-11-25','capabilities':{},'clientInfo':{'name':'mcpreel','version':"                 \
    "'" MCPREEL_VERSION "'}}}\n"
#define META                                                                                   \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                         \
    "'io.modelcontextprotocol/clientInfo':{'name':'mcpreel','version':'" MCPREEL_VERSION "'}," \
    "'io.modelcontextprotocol/clientCapabilities':{}}"
#define INITIALIZED "<< {'jsonrpc':'2.0','method':'notifications/initialized'}\n"

static void all_pages_of_the_lists_that_are_offered_are_fetched(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, MCP_VERSION_UNKNOWN);
    assert_actions(&r.run, INITIALIZE);
    engine_run_terse(&r.run, "{'id':1,'result':{'protocolVersion':'2025-11-25','capabilities':"
                             "{'tools':{},'prompts':{}}}}");
    assert_actions(&r.run, INITIALIZED
                   "<< {'jsonrpc':'2.0','id':2,'method':'tools/list','params':{}}\n");
    engine_run_terse(&r.run, "{'id':2,'result':{'tools':[{'name':'a'}],'nextCursor':''}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':3,'method':'tools/list','params':"
                           "{'cursor':''}}\n");
    engine_run_terse(&r.run, "{'id':3,'result':{'tools':[{'name':'b'}]}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':4,'method':'prompts/list','params':{}}\n");
    engine_run_terse(&r.run, "{'id':4,'result':{'prompts':[]}}");
    assert_actions(&r.run, "finish 0\n");
    assert_int_equal(r.surface.lists[SURFACE_TOOL].count, 2);
    assert_true(r.surface.lists[SURFACE_RESOURCE].known);
    assert_int_equal(r.fetch.failure.len, 0);
    end(&r);
}

static void a_stateless_server_is_discovered(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, MCP_VERSION_UNKNOWN);
    assert_actions(&r.run, INITIALIZE);
    engine_run_terse(&r.run, "{'id':1,'error':{'code':-32022,'message':'old'}}");
    assert_actions(
        &r.run, "<< {'jsonrpc':'2.0','id':2,'method':'server/discover','params':{" META "}}\n");
    engine_run_terse(&r.run, "{'id':2,'result':{'supportedVersions':['2026-07-28'],"
                             "'capabilities':{'tools':{}}}}");
    assert_actions(&r.run,
                   "<< {'jsonrpc':'2.0','id':3,'method':'tools/list','params':{" META "}}\n");
    engine_run_terse(&r.run, "{'id':3,'result':{'tools':[]}}");
    assert_actions(&r.run, "finish 0\n");
    assert_str(r.surface.protocol_version, STR("2026-07-28"));
    end(&r);
}

static void a_version_can_be_demanded(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, MCP_2026_07_28);
    assert_actions(
        &r.run, "<< {'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" META "}}\n");
    engine_run_terse(&r.run, "{'id':1,'error':{'code':-32601,'message':'no'}}");
    assert_actions(&r.run, "finish 1\n");
    assert_str(buf_str(&r.fetch.failure), STR("server/discover: error -32601: no"));
    end(&r);
}

static void the_error_of_initialize_is_reported_if_both_fail(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, MCP_VERSION_UNKNOWN);
    engine_run_terse(&r.run, "{'id':1,'error':{'code':-1,'message':'first'}}");
    engine_run_terse(&r.run, "{'id':2,'error':{'code':-2,'message':'second'}}");
    assert_str(buf_str(&r.fetch.failure), STR("initialize: error -1: first"));
    end(&r);
}

#define OPEN_TOOLS                                                                             \
    "{'id':1,'result':{'protocolVersion':'2025-11-25','capabilities':{'tools':{}}}}"

static void a_list_that_is_not_implemented_stays_unknown(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, MCP_VERSION_UNKNOWN);
    engine_run_terse(&r.run, OPEN_TOOLS);
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':2,'error':{'code':-32601,'message':'no'}}");
    assert_actions(&r.run, "report warn the server does not implement tools/list, although it "
                           "offers it\nfinish 0\n");
    assert_false(r.surface.lists[SURFACE_TOOL].known);
    end(&r);
}

static void a_list_that_cannot_be_used_ends_it(void **state)
{
    static const struct {
        const char *answer, *failure;
    } rows[] = {
        { "{'id':2,'error':{'code':-32603,'message':'oops'}}",
          "tools/list: error -32603: oops" },
        { "{'id':2,'result':{}}", "tools/list: the result has no list" },
    };
    struct rig r;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(&r, MCP_VERSION_UNKNOWN);
        engine_run_terse(&r.run, OPEN_TOOLS);
        engine_run_terse(&r.run, rows[i].answer);
        assert_str(buf_str(&r.fetch.failure), str_z(rows[i].failure));
        end(&r);
    }
}

static void a_repeated_cursor_is_an_error(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, MCP_VERSION_UNKNOWN);
    engine_run_terse(&r.run, OPEN_TOOLS);
    engine_run_terse(&r.run, "{'id':2,'result':{'tools':[],'nextCursor':'x'}}");
    engine_run_terse(&r.run, "{'id':3,'result':{'tools':[],'nextCursor':'x'}}");
    assert_str(buf_str(&r.fetch.failure), STR("tools/list: the same cursor came twice"));
    end(&r);
}

static void requests_of_the_server_are_rejected(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, MCP_VERSION_UNKNOWN);
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':'q','method':'roots/list'}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':'q','error':{'code':-32601,'message':"
                           "'mcpreel only reads the lists of the server'}}\n");
    end(&r);
}

static void a_server_that_exits_ends_it(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, MCP_VERSION_UNKNOWN);
    engine_run_event(&r.run, EVENT_INPUT_CLOSED, NULL);
    assert_true(r.fetch.failure.len > 0);
    assert_false(r.fetch.spoke);
    assert_int_equal(r.fetch.state, FETCH_DONE);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pages_of_the_lists_that_are_offered_are_fetched),
        cmocka_unit_test(a_stateless_server_is_discovered),
        cmocka_unit_test(a_version_can_be_demanded),
        cmocka_unit_test(the_error_of_initialize_is_reported_if_both_fail),
        cmocka_unit_test(a_list_that_is_not_implemented_stays_unknown),
        cmocka_unit_test(a_list_that_cannot_be_used_ends_it),
        cmocka_unit_test(a_repeated_cursor_is_an_error),
        cmocka_unit_test(requests_of_the_server_are_rejected),
        cmocka_unit_test(a_server_that_exits_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

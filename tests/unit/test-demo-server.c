#include "demo/demo-server.h"

#include "engine-run.h"

struct bench {
    struct engine_run with;
    struct demo_server server;
};

static void step(void *engine, const struct event *ev)
{
    demo_server_step(engine, ev);
}

static void open_bench(struct bench *b)
{
    engine_run_init(&b->with, TO_SERVER, step, &b->server);
    demo_server_init(&b->server, &b->with.out);
    engine_run_event(&b->with, EVENT_OPENED, NULL);
}

static void close_bench(struct bench *b)
{
    demo_server_release(&b->server);
    engine_run_release(&b->with);
}

/* The one message that came, as JSON; valid until terse_scanned_release(). */
static struct json_val only_message(struct bench *b, struct terse_scanned *s)
{
    struct str text = buf_str(&b->with.actions), line = str_cut(&text, '\n');
    struct json_fault fault;

    assert_int_equal(text.len, 0);
    assert_true(str_starts(line, STR("<< ")));
    json_init(&s->json);
    line = arena_str(&s->arena, str_skip(line, 3));
    buf_clear(&b->with.actions);
    if (!json_scan(&s->json, line, &fault))
        fail_msg("%s: %.*s", fault.what, STR_ARG(line));
    return json_root(&s->json);
}

/* The request is refused with that code, and in those words. */
static void assert_refused(struct bench *b, const char *request, int64_t code,
                           const char *message)
{
    struct terse_scanned s = { 0 };
    struct json_val root, error;
    int64_t got;

    engine_run_terse(&b->with, request);
    root = only_message(b, &s);
    error = json_get(root, STR("error"));
    assert_true(json_int(json_get(error, STR("code")), &got));
    assert_int_equal(got, code);
    assert_str(json_text(json_get(error, STR("message")), &s.arena), str_z(message));
    assert_true(json_int(json_get(root, STR("id")), &got));
    assert_int_equal(got, 1);
    terse_scanned_release(&s);
}

static void initialize_returns_server_and_capabilities(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    engine_run_terse(&b.with, "{'jsonrpc':'2.0','id':'a','method':'initialize','params':"
                              "{'protocolVersion':'2025-11-25','capabilities':{},"
                              "'clientInfo':{'name':'me','version':'1'}}}");
    assert_actions(&b.with,
                   "report info demo server: client connected: me\n"
                   "<< {'jsonrpc':'2.0','id':'a','result':{'protocolVersion':'2025-11-25',"
                   "'capabilities':{'tools':{},'resources':{},'prompts':{},'logging':{}},"
                   "'serverInfo':{'name':'mcpreel-demo','title':'mcpreel demo server',"
                   "'version':'" MCPREEL_VERSION "'},"
                   "'instructions':'The manual is in demo://manual'}}\n");
    close_bench(&b);
}

static void a_known_stateful_version_is_confirmed_and_others_get_the_newest(void **state)
{
    static const struct {
        const char *asked, *given;
    } rows[] = {
        { "2024-11-05", "2024-11-05" }, { "2025-03-26", "2025-03-26" },
        { "2025-06-18", "2025-06-18" }, { "2025-11-25", "2025-11-25" },
        { "2026-07-28", "2025-11-25" }, { "1999-01-01", "2025-11-25" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct terse_scanned s = { 0 };
        struct json_val version;
        struct bench b;
        struct str report, all;

        open_bench(&b);
        engine_run_terse(&b.with, arena_printf(&s.arena,
                                               "{'id':1,'method':'initialize','params':"
                                               "{'protocolVersion':'%s'}}",
                                               rows[i].asked)
                                      .at);
        all = buf_str(&b.with.actions);
        report = str_cut(&all, '\n');
        assert_true(str_starts(report, STR("report ")));
        buf_drop_front(&b.with.actions, report.len + 1);
        version =
            json_get(json_get(only_message(&b, &s), STR("result")), STR("protocolVersion"));
        assert_true(json_is(version, str_z(rows[i].given)));
        terse_scanned_release(&s);
        close_bench(&b);
    }
}

static void an_invalid_initialize_is_rejected(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_refused(&b, "{'id':1,'method':'initialize'}", -32602,
                   "initialize needs a 'protocolVersion'");
    assert_refused(&b, "{'id':1,'method':'initialize','params':{'protocolVersion':7}}", -32602,
                   "initialize needs a 'protocolVersion'");
    close_bench(&b);
}

static void ping_gets_a_response_and_notifications_get_none(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    engine_run_terse(&b.with, "{'id':0,'method':'ping'}");
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':0,'result':{}}\n");
    engine_run_terse(&b.with, "{'method':'notifications/initialized'}");
    engine_run_terse(&b.with, "{'method':'notifications/unheard-of','params':{}}");
    engine_run_terse(&b.with, "{'method':'notifications/cancelled','params':{'requestId':5}}");
    engine_run_terse(&b.with, "{'id':99,'result':{}}");
    engine_run_terse(&b.with, "{'id':'x','error':{'code':1,'message':'m'}}");
    assert_actions(&b.with, "");
    close_bench(&b);
}

static void an_unknown_method_is_not_found(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_refused(&b, "{'id':1,'method':'server/discover'}", -32601, "Method not found");
    assert_refused(&b,
                   "{'id':1,'method':'resources/subscribe','params':{'uri':'demo://manual'}}",
                   -32601, "Method not found");
    close_bench(&b);
}

static void an_invalid_message_gets_its_jsonrpc_error(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    engine_run_line(&b.with, STR("{oops"));
    engine_run_line(&b.with, STR("\"hello\""));
    engine_run_line(&b.with, STR(""));
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':null,'error':"
                            "{'code':-32700,'message':'not valid JSON'}}\n"
                            "<< {'jsonrpc':'2.0','id':null,'error':"
                            "{'code':-32600,'message':'not a JSON-RPC message'}}\n");
    assert_refused(&b, "{'id':1,'method':'ping','method':'tools/list'}", -32600,
                   "duplicate member in the request");
    close_bench(&b);
}

static void every_request_of_a_batch_gets_a_response(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    engine_run_terse(&b.with,
                     "[{'id':1,'method':'ping'},{'method':'notifications/initialized'},"
                     "{'id':2,'method':'ping'}]");
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':1,'result':{}}\n"
                            "<< {'jsonrpc':'2.0','id':2,'result':{}}\n");
    close_bench(&b);
}

/* Each list has the expected items, and each item has a name and a description. */
static void the_lists_are_complete(void **state)
{
    static const struct {
        const char *method, *member, *key, *names;
    } rows[] = {
        { "tools/list", "tools", "name", "weather count divide haiku " },
        { "resources/list", "resources", "uri", "demo://manual " },
        { "resources/templates/list", "resourceTemplates", "uriTemplate",
          "demo://greeting/{name} " },
        { "prompts/list", "prompts", "name", "postcard " },
    };
    struct bench b;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct terse_scanned s = { 0 };
        struct json_iter it;
        struct buf names;

        buf_init(&names, 4096);
        engine_run_terse(
            &b.with,
            arena_printf(&s.arena, "{'id':1,'method':'%s','params':{}}", rows[i].method).at);
        it = json_each(
            json_get(json_get(only_message(&b, &s), STR("result")), str_z(rows[i].member)));
        while (json_next(&it)) {
            struct str name = json_text(json_get(it.value, str_z(rows[i].key)), &s.arena);

            buf_printf(&names, "%.*s ", STR_ARG(name));
            assert_true(json_unquoted(json_get(it.value, STR("name"))).len > 0);
            assert_true(json_unquoted(json_get(it.value, STR("description"))).len > 0);
        }
        assert_string_equal(buf_z(&names), rows[i].names);
        buf_release(&names);
        terse_scanned_release(&s);
    }
    close_bench(&b);
}

static void an_unknown_cursor_is_rejected(void **state)
{
    static const char *const methods[] = { "tools/list", "resources/list",
                                           "resources/templates/list", "prompts/list" };
    struct bench b;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        struct arena a = { 0 };

        assert_refused(
            &b,
            arena_printf(&a, "{'id':1,'method':'%s','params':{'cursor':'x'}}", methods[i]).at,
            -32602, "unknown cursor '\"x\"'");
        arena_release(&a);
    }
    close_bench(&b);
}

static void the_log_level_decides_whether_tools_log(void **state)
{
    static const struct {
        const char *level;
        bool logs;
    } rows[] = { { "debug", true },  { "notice", false },  { "info", true },
                 { "error", false }, { "warning", false }, { "emergency", false } };
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_true(b.server.tools.wants_info);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a = { 0 };

        engine_run_terse(&b.with, arena_printf(&a,
                                               "{'id':1,'method':'logging/setLevel',"
                                               "'params':{'level':'%s'}}",
                                               rows[i].level)
                                      .at);
        assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':1,'result':{}}\n");
        assert_int_equal(b.server.tools.wants_info, rows[i].logs);
        arena_release(&a);
    }
    assert_refused(&b, "{'id':1,'method':'logging/setLevel','params':{'level':'loud'}}", -32602,
                   "unknown log level 'loud'");
    close_bench(&b);
}

#define INITIALIZE(capabilities)                                                               \
    "{'id':0,'method':'initialize','params':{'protocolVersion':'2025-11-25',"                  \
    "'capabilities':" capabilities "}}"

#define CALL(tool, arguments)                                                                  \
    "{'id':1,'method':'tools/call','params':{'name':'" tool "','arguments':" arguments "}}"

/* A tool answers at once, after a while, or after the client has. */
static void calls_and_their_cancellations_reach_the_tools(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    engine_run_terse(&b.with, INITIALIZE("{'sampling':{}}"));
    buf_clear(&b.with.actions);
    engine_run_terse(&b.with, CALL("divide", "{'a':4,'b':2}"));
    assert_true(engine_run_has(&b.with.actions, "4 divided by 2 is 2"));
    buf_clear(&b.with.actions);
    engine_run_terse(&b.with, CALL("count", "{'to':1}"));
    assert_actions(&b.with, "timer 1 in 20000 us\n");
    engine_run_timer(&b.with, 1);
    assert_true(engine_run_has(&b.with.actions, "counted to one"));
    engine_run_terse(&b.with, CALL("haiku", "{'about':'it'}"));
    assert_true(engine_run_has(&b.with.actions, "sampling/createMessage"));
    engine_run_terse(&b.with,
                     "{'id':1,'result':{'content':{'type':'text','text':'so be it'}}}");
    assert_true(engine_run_has(&b.with.actions, "so be it"));
    buf_clear(&b.with.actions);
    engine_run_terse(&b.with, CALL("haiku", "{'about':'it'}"));
    engine_run_terse(&b.with, "{'method':'notifications/cancelled','params':{'requestId':1}}");
    assert_true(engine_run_has(&b.with.actions, "notifications/cancelled"));
    close_bench(&b);
}

static void the_latest_capabilities_of_the_client_count(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_false(b.server.tools.can_sample);
    engine_run_terse(&b.with, INITIALIZE("{'sampling':{}}"));
    assert_true(b.server.tools.can_sample);
    engine_run_terse(&b.with, INITIALIZE("{'sampling':null}"));
    assert_false(b.server.tools.can_sample);
    close_bench(&b);
}

static void an_unknown_tool_is_a_jsonrpc_error(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_refused(&b, "{'id':1,'method':'tools/call','params':{'name':'teleport'}}", -32602,
                   "unknown tool 'teleport'");
    assert_refused(&b, "{'id':1,'method':'tools/call'}", -32602, "unknown tool ''");
    assert_refused(&b, "{'id':1,'method':'tools/call','params':[1]}", -32602,
                   "unknown tool ''");
    close_bench(&b);
}

static void resources_are_read_by_their_uri(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    engine_run_terse(
        &b.with,
        "{'id':1,'method':'resources/read','params':{'uri':'demo://greeting/J%C3%BCrgen%2'}}");
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':1,'result':{'contents':[{"
                            "'uri':'demo://greeting/J%C3%BCrgen%2','mimeType':'text/plain',"
                            "'text':'Hello, Jürgen%2!'}]}}\n");
    engine_run_terse(&b.with,
                     "{'id':1,'method':'resources/read','params':{'uri':'demo://manual'}}");
    assert_true(engine_run_has(&b.with.actions, "weather  has structured output"));
    buf_clear(&b.with.actions);
    engine_run_terse(&b.with,
                     "{'id':1,'method':'resources/read','params':{'uri':'demo://greeting/'}}");
    assert_actions(&b.with,
                   "<< {'jsonrpc':'2.0','id':1,'error':{'code':-32002,"
                   "'message':'Resource not found','data':{'uri':'demo://greeting/'}}}\n");
    assert_refused(&b, "{'id':1,'method':'resources/read','params':{}}", -32602,
                   "resources/read needs a 'uri'");
    close_bench(&b);
}

static void a_prompt_contains_its_argument(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    engine_run_terse(&b.with, "{'id':1,'method':'prompts/get','params':"
                              "{'name':'postcard','arguments':{'city':'Lima'}}}");
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':1,'result':"
                            "{'description':'Write a postcard from somewhere.','messages':"
                            "[{'role':'user','content':{'type':'text','text':"
                            "'Write a postcard from Lima, weather and all.'}}]}}\n");
    assert_refused(&b, "{'id':1,'method':'prompts/get','params':{'name':'postcard'}}", -32602,
                   "the prompt needs the argument 'city'");
    assert_refused(&b, "{'id':1,'method':'prompts/get','params':{'name':'poem'}}", -32602,
                   "unknown prompt 'poem'");
    close_bench(&b);
}

static void the_server_finishes_when_the_client_is_gone(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    engine_run_terse(&b.with, INITIALIZE("{'sampling':{}}"));
    engine_run_terse(&b.with, CALL("haiku", "{'about':'it'}"));
    buf_clear(&b.with.actions);
    engine_run_event(&b.with, EVENT_INPUT_CLOSED, NULL);
    engine_run_event(&b.with, EVENT_INPUT_CLOSED, NULL);
    engine_run_terse(&b.with, "{'id':1,'method':'ping'}");
    assert_actions(&b.with, "finish 0\n");
    close_bench(&b);
}

static void delayed_responses_are_sent_after_the_client_has_closed(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    engine_run_terse(&b.with, CALL("count", "{'to':2}"));
    engine_run_event(&b.with, EVENT_INPUT_CLOSED, NULL);
    engine_run_timer(&b.with, 1);
    assert_actions(&b.with, "timer 1 in 20000 us\ntimer 2 in 20000 us\n");
    engine_run_timer(&b.with, 2);
    assert_true(engine_run_has(&b.with.actions, "counted to two\"}]}}\nfinish 0\n"));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialize_returns_server_and_capabilities),
        cmocka_unit_test(a_known_stateful_version_is_confirmed_and_others_get_the_newest),
        cmocka_unit_test(an_invalid_initialize_is_rejected),
        cmocka_unit_test(ping_gets_a_response_and_notifications_get_none),
        cmocka_unit_test(an_unknown_method_is_not_found),
        cmocka_unit_test(an_invalid_message_gets_its_jsonrpc_error),
        cmocka_unit_test(every_request_of_a_batch_gets_a_response),
        cmocka_unit_test(the_lists_are_complete),
        cmocka_unit_test(an_unknown_cursor_is_rejected),
        cmocka_unit_test(the_log_level_decides_whether_tools_log),
        cmocka_unit_test(an_unknown_tool_is_a_jsonrpc_error),
        cmocka_unit_test(resources_are_read_by_their_uri),
        cmocka_unit_test(a_prompt_contains_its_argument),
        cmocka_unit_test(calls_and_their_cancellations_reach_the_tools),
        cmocka_unit_test(the_latest_capabilities_of_the_client_count),
        cmocka_unit_test(the_server_finishes_when_the_client_is_gone),
        cmocka_unit_test(delayed_responses_are_sent_after_the_client_has_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

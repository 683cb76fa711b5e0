#include "demo/demo-tools.h"

#include "engine-run.h"

/* The tools alone: requests are calls with these params, the rest is as in a server. */
struct bench {
    struct engine_run with;
    struct actions actions;
    struct demo_tools tools;
    struct arena arena;
};

static void step(void *engine, const struct event *ev)
{
    struct bench *b = engine;
    struct mcp_message m;

    if (ev->kind == EVENT_TIMER) {
        demo_tools_handle_timer(&b->tools, ev->timer);
        return;
    }
    m = mcp_classify(ev->record->message.msg, &b->arena);
    if (m.kind == MCP_REQUEST)
        buf_add(&b->with.actions,
                demo_tools_call(&b->tools, &m) ? STR("") : STR("no such tool\n"));
    else if (m.kind == MCP_NOTIFICATION)
        demo_tools_handle_cancelled(&b->tools, json_get(m.params, STR("requestId")));
    else
        demo_tools_handle_response(&b->tools, &m);
}

static void open_bench(struct bench *b)
{
    *b = (struct bench){ 0 };
    engine_run_init(&b->with, TO_SERVER, step, b);
    actions_init(&b->actions, &b->with.out);
    demo_tools_init(&b->tools, &b->actions);
    b->tools.can_sample = true;
}

static void close_bench(struct bench *b)
{
    demo_tools_release(&b->tools);
    actions_release(&b->actions);
    engine_run_release(&b->with);
    arena_release(&b->arena);
}

static void call(struct bench *b, const char *id, const char *params)
{
    struct arena a = { 0 };

    engine_run_terse(
        &b->with,
        arena_printf(&a, "{'id':%s,'method':'tools/call','params':%s}", id, params).at);
    arena_release(&a);
}

/* The call gives that text at once, and is an error or not. */
static void assert_call(struct bench *b, const char *params, bool is_error, const char *text)
{
    struct arena a = { 0 };
    struct str want = arena_printf(&a,
                                   "<< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":"
                                   "[{\"type\":\"text\",\"text\":\"%s\"}]%s}}\n",
                                   text, is_error ? ",\"isError\":true" : "");

    call(b, "1", params);
    assert_str(buf_str(&b->with.actions), want);
    buf_clear(&b->with.actions);
    arena_release(&a);
}

static void every_tool_has_a_name_a_description_and_a_schema(void **state)
{
    struct json_fault fault;
    struct json_out o;
    struct json_iter it;
    struct buf list;
    struct json j;
    size_t count = 0;

    (void)state;
    buf_init(&list, 1 << 16);
    o = json_out_to(&list);
    demo_tools_list(&o);
    json_init(&j);
    assert_true(json_scan(&j, buf_str(&list), &fault));
    for (it = json_each(json_root(&j)); json_next(&it); count++) {
        struct json_val schema = json_get(it.value, STR("inputSchema"));
        struct json_iter required = json_each(json_get(schema, STR("required")));
        bool weather = json_is(json_get(it.value, STR("name")), STR("weather"));

        assert_true(json_unquoted(json_get(it.value, STR("name"))).len > 0);
        assert_true(json_unquoted(json_get(it.value, STR("description"))).len > 0);
        assert_true(json_is(json_get(schema, STR("type")), STR("object")));
        assert_true(json_count(json_get(schema, STR("required"))) > 0);
        while (json_next(&required))
            assert_true(json_exists(
                json_get(json_get(schema, STR("properties")), json_unquoted(required.value))));
        assert_int_equal(json_exists(json_get(it.value, STR("outputSchema"))), weather);
    }
    assert_int_equal(count, 4);
    json_release(&j);
    buf_release(&list);
}

static void an_unknown_tool_is_left_to_the_server(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, "1", "{'name':'teleport'}");
    call(&b, "1", "{}");
    call(&b, "1", "[1]");
    assert_actions(&b.with, "no such tool\nno such tool\nno such tool\n");
    close_bench(&b);
}

static void the_weather_is_structured_and_constant(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    for (int i = 0; i < 2; i++) {
        call(&b, "1", "{'name':'weather','arguments':{'city':'Lisbon'}}");
        assert_actions(&b.with,
                       "<< {'jsonrpc':'2.0','id':1,'result':{'content':[{'type':'text',"
                       "'text':'{`'city`':`'Lisbon`',`'celsius`':20,`'sky`':`'windy`'}'}],"
                       "'structuredContent':"
                       "{'city':'Lisbon','celsius':20,'sky':'windy'}}}\n");
    }
    call(&b, "1", "{'name':'weather','arguments':{'city':'Oslo'}}");
    assert_false(engine_run_has(&b.with.actions, "\"celsius\":20,\"sky\":\"windy\""));
    buf_clear(&b.with.actions);
    assert_call(&b, "{'name':'weather'}", true, "'city' must be the name of a city");
    assert_call(&b, "{'name':'weather','arguments':{'city':5}}", true,
                "'city' must be the name of a city");
    close_bench(&b);
}

static void count_waits_sends_progress_and_logs(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, "1", "{'name':'count','arguments':{'to':2},'_meta':{'progressToken':'t'}}");
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','method':'notifications/progress','params':"
                            "{'progressToken':'t','progress':1,'total':2,'message':'one'}}\n"
                            "timer 1 in 20000 us\n");
    assert_true(demo_tools_has_timers(&b.tools));
    engine_run_timer(&b.with, 1);
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','method':'notifications/progress','params':"
                            "{'progressToken':'t','progress':2,'total':2,'message':'two'}}\n"
                            "timer 2 in 20000 us\n");
    engine_run_timer(&b.with, 2);
    assert_actions(&b.with,
                   "<< {'jsonrpc':'2.0','method':'notifications/message','params':"
                   "{'level':'info','logger':'count','data':'got to two without an error'}}\n"
                   "<< {'jsonrpc':'2.0','id':1,'result':"
                   "{'content':[{'type':'text','text':'counted to two'}]}}\n");
    assert_false(demo_tools_has_timers(&b.tools));
    engine_run_timer(&b.with, 2);
    assert_actions(&b.with, "");
    close_bench(&b);
}

static void two_counts_can_run_at_once(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, "1", "{'name':'count','arguments':{'to':1},'_meta':{'progressToken':7}}");
    call(&b, "'1'", "{'name':'count','arguments':{'to':1},'_meta':{'progressToken':'7'}}");
    buf_clear(&b.with.actions);
    b.tools.wants_info = false;
    engine_run_timer(&b.with, 2);
    engine_run_timer(&b.with, 1);
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':'1','result':"
                            "{'content':[{'type':'text','text':'counted to one'}]}}\n"
                            "<< {'jsonrpc':'2.0','id':1,'result':"
                            "{'content':[{'type':'text','text':'counted to one'}]}}\n");
    close_bench(&b);
}

static void without_a_token_no_progress_is_sent(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, "1", "{'name':'count','arguments':{'to':1},'_meta':{'progressToken':null}}");
    assert_actions(&b.with, "timer 1 in 20000 us\n");
    close_bench(&b);
}

static void count_accepts_only_numbers_from_1_to_10(void **state)
{
    static const char *const wrong[] = { "0", "11", "-1", "1.5", "'3'", "null", "1e400" };
    struct bench b;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct arena a = { 0 };

        assert_call(&b, arena_printf(&a, "{'name':'count','arguments':{'to':%s}}", wrong[i]).at,
                    true, "'to' must be a whole number from 1 to 10");
        arena_release(&a);
    }
    call(&b, "1", "{'name':'count','arguments':{'to':10.0}}");
    assert_actions(&b.with, "timer 1 in 20000 us\n");
    close_bench(&b);
}

static void divide_returns_a_tool_error_for_zero(void **state)
{
    static const char whole[] = "'a' and 'b' must be whole numbers up to 1000000000";
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_call(&b, "{'name':'divide','arguments':{'a':-7,'b':2}}", false,
                "-7 divided by 2 is -3, remainder -1");
    assert_call(&b, "{'name':'divide','arguments':{'a':1,'b':0}}", true,
                "cannot divide 1 by zero");
    assert_call(&b, "{'name':'divide','arguments':{'a':1}}", true, whole);
    assert_call(&b, "{'name':'divide','arguments':{'a':-9223372036854775808,'b':-1}}", true,
                whole);
    assert_call(&b, "{'name':'divide','arguments':[1,0]}", true, whole);
    close_bench(&b);
}

#define ASKS_FOR_HAIKU(number, about)                                                          \
    "<< {'jsonrpc':'2.0','id':" number ",'method':'sampling/createMessage','params':"          \
    "{'messages':[{'role':'user','content':{'type':'text','text':'Write a haiku about " about  \
    ".'}}],'maxTokens':100}}\n"

#define HAIKU(about) "{'name':'haiku','arguments':{'about':'" about "'}}"

static void haiku_sends_a_sampling_request(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, "'h'", HAIKU("tape"));
    assert_actions(&b.with, ASKS_FOR_HAIKU("1", "tape"));
    assert_false(demo_tools_has_timers(&b.tools));
    engine_run_terse(&b.with, "{'id':1,'result':{'role':'assistant','model':'m',"
                              "'content':{'type':'text','text':'so it goes'}}}");
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':'h','result':"
                            "{'content':[{'type':'text','text':'so it goes'}]}}\n");
    engine_run_terse(&b.with, "{'id':1,'result':{'content':{'type':'text','text':'again'}}}");
    assert_actions(&b.with, "");
    close_bench(&b);
}

/* Responses come in any order, and 1 is not "1"; a call that counts is no server request. */
static void concurrent_calls_are_kept_apart(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, "0", "{'name':'count','arguments':{'to':1}}");
    call(&b, "1", HAIKU("tea"));
    call(&b, "'1'", HAIKU("rain"));
    assert_actions(&b.with, "timer 1 in 20000 us\n" ASKS_FOR_HAIKU("1", "tea")
                                ASKS_FOR_HAIKU("2", "rain"));
    engine_run_terse(&b.with, "{'id':'2','result':{'content':{'type':'text','text':'stray'}}}");
    engine_run_terse(&b.with, "{'id':0,'result':{'content':{'type':'text','text':'stray'}}}");
    engine_run_terse(&b.with, "{'id':-1,'result':{'content':{'type':'text','text':'stray'}}}");
    engine_run_terse(&b.with, "{'id':2,'result':{'content':[{'type':'text','text':'wet'}]}}");
    engine_run_terse(&b.with, "{'id':1,'result':{'content':{'type':'text','text':'hot'}}}");
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':'1','result':"
                            "{'content':[{'type':'text','text':'wet'}]}}\n"
                            "<< {'jsonrpc':'2.0','id':1,'result':"
                            "{'content':[{'type':'text','text':'hot'}]}}\n");
    close_bench(&b);
}

static void an_empty_sampling_result_is_a_tool_error(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, "7", HAIKU("it"));
    call(&b, "8", HAIKU("it"));
    buf_clear(&b.with.actions);
    engine_run_terse(&b.with, "{'id':1,'error':{'code':-1,'message':'the user said no'}}");
    assert_actions(&b.with,
                   "<< {'jsonrpc':'2.0','id':7,'result':{'content':[{'type':'text','text':"
                   "'the client rejected the sampling request: the user said no'}],"
                   "'isError':true}}\n");
    engine_run_terse(&b.with, "{'id':2,'result':{'content':{'type':'image','data':''}}}");
    assert_true(engine_run_has(&b.with.actions, "the sampling response has no text"));
    close_bench(&b);
}

static void a_client_without_sampling_gets_no_sampling_request(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_call(&b, "{'name':'haiku','arguments':{}}", true,
                "'about' must be a non-empty text");
    b.tools.can_sample = false;
    assert_call(&b, HAIKU("tape"), true, "this client does not support sampling");
    close_bench(&b);
}

static void a_cancelled_call_cancels_its_server_request(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, "'x'", HAIKU("it"));
    call(&b, "'y'", HAIKU("it"));
    buf_clear(&b.with.actions);
    engine_run_terse(&b.with,
                     "{'method':'notifications/cancelled','params':{'requestId':'z'}}");
    engine_run_terse(&b.with, "{'method':'notifications/cancelled','params':{}}");
    assert_actions(&b.with, "");
    engine_run_terse(&b.with,
                     "{'method':'notifications/cancelled','params':{'requestId':'x'}}");
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','method':'notifications/cancelled','params':"
                            "{'requestId':1}}\n");
    engine_run_terse(&b.with, "{'id':1,'result':{'content':{'type':'text','text':'late'}}}");
    assert_actions(&b.with, "");
    engine_run_terse(&b.with, "{'id':2,'result':{'content':{'type':'text','text':'fine'}}}");
    assert_actions(&b.with, "<< {'jsonrpc':'2.0','id':'y','result':"
                            "{'content':[{'type':'text','text':'fine'}]}}\n");
    close_bench(&b);
}

static void a_cancelled_count_stops(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, "5", "{'name':'count','arguments':{'to':9}}");
    buf_clear(&b.with.actions);
    engine_run_terse(&b.with, "{'method':'notifications/cancelled','params':{'requestId':5}}");
    engine_run_timer(&b.with, 1);
    assert_actions(&b.with, "");
    assert_false(demo_tools_has_timers(&b.tools));
    close_bench(&b);
}

static void the_number_of_concurrent_calls_is_limited(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    for (int i = 0; i < 8; i++) {
        call(&b, "5", HAIKU("it"));
        call(&b, "5", "{'name':'count','arguments':{'to':9}}");
    }
    buf_clear(&b.with.actions);
    assert_call(&b, HAIKU("it"), true, "too many calls at once");
    assert_call(&b, "{'name':'count','arguments':{'to':9}}", true, "too many calls at once");
    assert_call(&b, "{'name':'divide','arguments':{'a':4,'b':2}}", false,
                "4 divided by 2 is 2, remainder 0");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool_has_a_name_a_description_and_a_schema),
        cmocka_unit_test(an_unknown_tool_is_left_to_the_server),
        cmocka_unit_test(the_weather_is_structured_and_constant),
        cmocka_unit_test(count_waits_sends_progress_and_logs),
        cmocka_unit_test(two_counts_can_run_at_once),
        cmocka_unit_test(without_a_token_no_progress_is_sent),
        cmocka_unit_test(count_accepts_only_numbers_from_1_to_10),
        cmocka_unit_test(divide_returns_a_tool_error_for_zero),
        cmocka_unit_test(haiku_sends_a_sampling_request),
        cmocka_unit_test(concurrent_calls_are_kept_apart),
        cmocka_unit_test(an_empty_sampling_result_is_a_tool_error),
        cmocka_unit_test(a_client_without_sampling_gets_no_sampling_request),
        cmocka_unit_test(a_cancelled_call_cancels_its_server_request),
        cmocka_unit_test(a_cancelled_count_stops),
        cmocka_unit_test(the_number_of_concurrent_calls_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

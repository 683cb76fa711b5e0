#include "scenario/scenario.h"

#include <stdio.h>

#include "engine-run.h"
#include "report/verdict-report.h"

#define TOP "target: http://h\nscenarios:\n  a:\n    actions:\n"
#define INITIALIZE                                                                             \
    "<< {'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':"            \
    "'2025-11-25','capabilities':{},'clientInfo':{'name':'mcpreel','version':"                 \
    "'" MCPREEL_VERSION "'}}}\n"
#define INITIALIZED "<< {'jsonrpc':'2.0','method':'notifications/initialized'}\n"

static char *env[] = { NULL };

/* A scenario whose verdicts are logged between its actions. */
struct rig {
    struct engine_run run;
    struct scenario_file file;
    struct scenario scenario;
};

static void on_verdict(void *to, const struct call_verdict *v)
{
    struct rig *r = to;
    struct buf *b = &r->run.actions;

    buf_printf(b, "%u %.*s line %u: ", v->number, STR_ARG(verdict_report_kind(v->kind)),
               (unsigned)v->line);
    verdict_report_write_name(b, v);
    if (v->reason.len)
        buf_printf(b, ": %.*s", STR_ARG(v->reason));
    for (size_t i = 0; i < v->finding_count; i++)
        buf_printf(b, ": %.*s", STR_ARG(v->findings[i].message));
    buf_add_ch(b, '\n');
}

static const struct scenario_events events = { .verdict = on_verdict };

static void step(void *engine, const struct event *ev)
{
    scenario_step(engine, ev);
}

static void at(struct rig *r, enum event_kind kind, int64_t now_us, uint64_t timer)
{
    scenario_step(&r->scenario,
                  &(struct event){ .kind = kind, .now_us = now_us, .timer = timer });
}

static void begin(struct rig *r, const char *text)
{
    struct err e = ERR_NONE;

    if (!scenario_file_parse(&r->file, str_z(text), "s.yml", env, &e))
        fail_msg("%s", e.msg);
    engine_run_init(&r->run, TO_CLIENT, step, &r->scenario);
    scenario_init(&r->scenario, &r->file.plans[0], 1, 1, 1000, &r->run.out, &events, r);
    at(r, EVENT_OPENED, 0, 0);
}

static void end(struct rig *r)
{
    scenario_release(&r->scenario);
    engine_run_release(&r->run);
    scenario_file_release(&r->file);
}

/* Begins, and answers initialize; forgets the actions up to then. */
static void begin_session(struct rig *r, const char *text)
{
    begin(r, text);
    engine_run_terse(&r->run, "{'id':0,'result':{}}");
    buf_clear(&r->run.actions);
}

static void actions_are_sent_one_after_the_other(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOP "      - list_tools\n      - ping\n      - call_tool: {name: x}\n");
    assert_actions(&r.run, "timer 1 in 1000 us\n" INITIALIZE);
    engine_run_terse(&r.run, "{'id':0,'result':{}}");
    assert_actions(&r.run, "1 passed line 3: a: initialize\n" INITIALIZED
                           "<< {'jsonrpc':'2.0','id':1,'method':'tools/list','params':{}}\n");
    engine_run_terse(&r.run, "{'id':1,'result':{'tools':[],'nextCursor':'2'}}");
    assert_actions(&r.run, "2 passed line 5: a: tools/list\n"
                           "<< {'jsonrpc':'2.0','id':2,'method':'ping'}\n");
    engine_run_terse(&r.run, "{'id':2,'error':{'code':-1,'message':'no'}}");
    assert_actions(&r.run, "3 passed line 6: a: ping\n"
                           "<< {'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':"
                           "'x','arguments':{}}}\n");
    engine_run_terse(&r.run, "{'id':3,'result':{'isError':true}}");
    assert_actions(&r.run, "4 passed line 7: a: tools/call x\nfinish 0\n");
    assert_false(r.scenario.failed);
    end(&r);
}

static void a_value_that_is_not_as_expected_blocks_the_rest(void **state)
{
    struct rig r;

    (void)state;
    begin_session(&r, TOP "      - list_tools: {expect: {$.result.n: 1}}\n      - ping\n");
    engine_run_terse(&r.run, "{'id':1,'result':{'n':2}}");
    assert_actions(&r.run, "2 failed line 5: a: tools/list: $.result.n is not as expected\n"
                           "3 blocked line 6: a: ping: a request before it failed\n"
                           "finish 0\n");
    assert_true(r.scenario.failed);
    scenario_abandon(&r.scenario, STR("the server has exited"));
    assert_actions(&r.run, "");
    end(&r);
}

static void saved_values_are_sent(void **state)
{
    struct rig r;

    (void)state;
    begin_session(&r, TOP "      - call_tool: {name: x, save: {id: $.result.id}}\n"
                          "      - call_tool: {name: y, arguments: {id: \"{{id}}\"}}\n");
    engine_run_terse(&r.run, "{'id':1,'result':{'id':[7]}}");
    assert_actions(&r.run, "2 passed line 5: a: tools/call x\n"
                           "<< {'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':"
                           "'y','arguments':{'id':[7]}}}\n");
    end(&r);
}

static void saved_values_are_in_the_method(void **state)
{
    struct rig r;

    (void)state;
    begin_session(&r, TOP "      - ping: {save: {id: $.result.id, all: $.result}}\n"
                          "      - raw: {method: \"x/{{id}}\", params: {\"{{id}}\": 1}}\n"
                          "      - raw: {method: \"{{all}}\", save: {id: $.result}}\n");
    engine_run_terse(&r.run, "{'id':1,'result':{'id':'a\\u00e9'}}");
    assert_actions(&r.run,
                   "2 passed line 5: a: ping\n"
                   "<< {'jsonrpc':'2.0','id':2,'method':'x/aé','params':{'a\\u00e9':1}}\n");
    engine_run_terse(&r.run, "{'id':2,'result':3}");
    assert_actions(&r.run,
                   "3 passed line 6: a: x/aé\n"
                   "<< {'jsonrpc':'2.0','id':3,'method':'{\\'id\\':\\'a\\\\u00e9\\'}'}\n");
    engine_run_terse(&r.run, "{'id':3,'result':3}");
    assert_actions(&r.run, "4 passed line 7: a: {\"id\":\"a\\u00e9\"}\nfinish 0\n");
    end(&r);
}

static void all_pages_are_one_list(void **state)
{
    struct rig r;

    (void)state;
    begin_session(&r, TOP
                  "      - list_tools: {pages: all, expect: {$.result.tools: [1, 2, 3]}}\n");
    engine_run_terse(&r.run, "{'id':1,'result':{'tools':[1,2],'nextCursor':'`'p'}}");
    assert_actions(&r.run,
                   "<< {'jsonrpc':'2.0','id':2,'method':'tools/list','params':{'cursor':"
                   "'`'p'}}\n");
    engine_run_terse(&r.run, "{'id':2,'result':{'tools':[],'nextCursor':'q'}}");
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':3,'result':{'tools':[3]}}");
    assert_actions(&r.run, "2 passed line 5: a: tools/list\nfinish 0\n");
    end(&r);
}

static void a_cursor_that_repeats_is_a_failure(void **state)
{
    struct rig r;

    (void)state;
    begin_session(&r, TOP "      - list_tools: {pages: all}\n");
    engine_run_terse(&r.run, "{'id':1,'result':{'tools':[1],'nextCursor':'p'}}");
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':2,'result':{'tools':[1],'nextCursor':'p'}}");
    assert_actions(&r.run, "2 failed line 5: a: tools/list: the server sent the same cursor "
                           "twice\nfinish 0\n");
    end(&r);
}

static void no_response_is_a_failure(void **state)
{
    struct rig r;

    (void)state;
    begin_session(&r, TOP "      - ping\n");
    at(&r, EVENT_TIMER, 2000, 1); /* that of initialize */
    assert_actions(
        &r.run, "<< {'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':"
                "1,'reason':'time limit'}}\n"
                "2 failed line 5: a: ping: the time limit is over\nfinish 0\n");
    end(&r);
    begin_session(&r, TOP "      - ping\n");
    at(&r, EVENT_INPUT_CLOSED, 1, 0);
    assert_actions(&r.run, "2 failed line 5: a: ping: the server closed the connection or "
                           "exited\nfinish 0\n");
    end(&r);
    begin_session(&r, TOP "      - ping\n");
    scenario_step(
        &r.scenario,
        &(struct event){ .kind = EVENT_INPUT_CLOSED, .now_us = 1, .shutting_down = 1 });
    assert_actions(&r.run, "2 failed line 5: a: ping: the run was interrupted\n");
    end(&r);
    begin(&r, TOP "      - ping\n");
    buf_clear(&r.run.actions);
    scenario_abandon(&r.scenario, STR("it could not be started"));
    assert_actions(&r.run, "1 failed line 3: a: initialize: it could not be started\n"
                           "2 blocked line 5: a: ping: a request before it failed\n");
    end(&r);
}

#define META(capabilities)                                                                     \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                         \
    "'io.modelcontextprotocol/clientInfo':{'name':'mcpreel','version':'" MCPREEL_VERSION       \
    "'},'io.modelcontextprotocol/clientCapabilities':{" capabilities "}}"
#define DISCOVER                                                                               \
    "<< {'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" META("") "}}\n"
#define REJECTION "{'id':0,'error':{'code':-32022,'message':'too old'}}"

static void a_rejected_initialize_is_a_failure(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOP "      - ping\n");
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, REJECTION);
    assert_actions(&r.run, DISCOVER);
    engine_run_terse(&r.run, "{'id':1,'error':{'code':-32601,'message':'no such method'}}");
    assert_actions(&r.run,
                   "1 failed line 3: a: initialize: the server rejected initialize: too old\n"
                   "2 blocked line 5: a: ping: a request before it failed\nfinish 0\n");
    end(&r);
}

static void a_stateless_server_gets_requests_with_meta(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOP "      - list_tools: {pages: all}\n      - raw: {method: m}\n"
                  "      - raw: {method: m, params: {_meta: {}}}\n");
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, REJECTION);
    assert_actions(&r.run, DISCOVER);
    engine_run_terse(&r.run, "{'id':1,'result':{}}");
    assert_actions(
        &r.run, "1 passed line 3: a: server/discover\n"
                "<< {'jsonrpc':'2.0','id':2,'method':'tools/list','params':{" META("") "}}\n");
    engine_run_terse(&r.run, "{'id':2,'result':{'tools':[],'nextCursor':'p'}}");
    assert_actions(&r.run,
                   "<< {'jsonrpc':'2.0','id':3,'method':'tools/list','params':{'cursor':"
                   "'p'," META("") "}}\n");
    engine_run_terse(&r.run, "{'id':3,'result':{'tools':[]}}");
    assert_actions(&r.run,
                   "2 passed line 5: a: tools/list\n"
                   "<< {'jsonrpc':'2.0','id':4,'method':'m','params':{" META("") "}}\n");
    engine_run_terse(&r.run, "{'id':4,'result':{}}");
    assert_actions(&r.run, "3 passed line 6: a: m\n"
                           "<< {'jsonrpc':'2.0','id':5,'method':'m','params':{'_meta':{}}}\n");
    end(&r);
}

#define ANSWERS                                                                                \
    "target: http://h\nanswers: {sampling: {model: m}, roots: [{uri: 'file:///r'}]}\n"         \
    "scenarios:\n  a:\n    actions:\n      - call_tool: {name: x}\n      - ping\n"
#define STATELESS_CALL(id, more)                                                               \
    "<< {'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{'name':'x','arguments':"  \
    "{}," META("'sampling':{},'roots':{}") more "}}\n"

static void begin_stateless(struct rig *r, const char *text)
{
    begin(r, text);
    engine_run_terse(&r->run, REJECTION);
    engine_run_terse(&r->run, "{'id':1,'result':{}}");
    buf_clear(&r->run.actions);
}

static void required_input_is_sent_with_the_request_again(void **state)
{
    struct rig r;

    (void)state;
    begin_stateless(&r, ANSWERS);
    engine_run_terse(&r.run,
                     "{'id':2,'result':{'resultType':'input_required','requestState':'s1',"
                     "'inputRequests':{'a':{'method':'sampling/createMessage','params':{}},"
                     "'b':{'method':'roots/list'}}}}");
    assert_actions(&r.run,
                   STATELESS_CALL("3", ",'inputResponses':{'a':{'model':'m'},'b':{'roots':[{"
                                       "'uri':'file:///r'}]}},'requestState':'s1'"));
    engine_run_terse(&r.run, "{'id':3,'result':{'resultType':'input_required',"
                             "'inputRequests':{'c':{'method':'roots/list'}}}}");
    assert_actions(
        &r.run, STATELESS_CALL("4", ",'inputResponses':{'c':{'roots':[{'uri':'file:///r'}]}}"));
    engine_run_terse(&r.run, "{'id':4,'result':{'resultType':'complete'}}");
    assert_actions(&r.run, "2 passed line 6: a: tools/call x\n"
                           "<< {'jsonrpc':'2.0','id':5,'method':'ping','params':{" META(
                               "'sampling':{},'roots':{}") "}}\n");
    end(&r);
}

static void input_without_an_answer_ends_the_call(void **state)
{
    struct rig r;

    (void)state;
    begin_stateless(&r, ANSWERS);
    engine_run_terse(&r.run, "{'id':2,'result':{'resultType':'input_required',"
                             "'inputRequests':{'a':{'method':'elicitation/create'}}}}");
    assert_actions(&r.run,
                   "report warn a: no answer to the server request elicitation/create; the "
                   "call ends without it\n2 passed line 6: a: tools/call x\n"
                   "<< {'jsonrpc':'2.0','id':3,'method':'ping','params':{" META(
                       "'sampling':{},'roots':{}") "}}\n");
    end(&r);
}

static void rounds_of_input_are_limited(void **state)
{
    struct rig r;
    char text[200];

    (void)state;
    begin_stateless(&r, ANSWERS);
    for (int id = 2; id <= 2 + SCENARIO_INPUT_ROUNDS; id++) {
        buf_clear(&r.run.actions);
        snprintf(text, sizeof text,
                 "{'id':%d,'result':{'resultType':'input_required','requestState':'s'}}", id);
        engine_run_terse(&r.run, text);
    }
    assert_actions(&r.run, "2 failed line 6: a: tools/call x: the server required input too "
                           "often\n3 blocked line 7: a: ping: a request before it failed\n"
                           "finish 0\n");
    end(&r);
}

static void server_requests_get_the_answers_of_the_scenario(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, "answers:\n  sampling: [{n: 1}, {n: 2}]\n  elicitation: {action: decline}\n"
              "  roots: [{uri: file:///}]\n" TOP "      - ping\n");
    assert_actions(&r.run, "timer 1 in 1000 us\n"
                           "<< {'jsonrpc':'2.0','id':0,'method':'initialize','params':{"
                           "'protocolVersion':'2025-11-25','capabilities':{'sampling':{},"
                           "'elicitation':{},'roots':{}},'clientInfo':{'name':'mcpreel',"
                           "'version':'" MCPREEL_VERSION "'}}}\n");
    for (int i = 0; i < 3; i++)
        engine_run_terse(&r.run, "{'id':'s','method':'sampling/createMessage'}");
    engine_run_terse(&r.run, "{'id':7,'method':'elicitation/create'}");
    engine_run_terse(&r.run, "{'id':8,'method':'roots/list'}");
    engine_run_terse(&r.run, "{'id':9,'method':'other'}");
    assert_actions(&r.run,
                   "<< {'jsonrpc':'2.0','id':'s','result':{'n':1}}\n"
                   "<< {'jsonrpc':'2.0','id':'s','result':{'n':2}}\n"
                   "<< {'jsonrpc':'2.0','id':'s','result':{'n':2}}\n"
                   "<< {'jsonrpc':'2.0','id':7,'result':{'action':'decline'}}\n"
                   "<< {'jsonrpc':'2.0','id':8,'result':{'roots':[{'uri':"
                   "'file:///'}]}}\n"
                   "report warn a: no answer to the server request other; it was rejected\n"
                   "<< {'jsonrpc':'2.0','id':9,'error':{'code':-32601,'message':'Method "
                   "not found'}}\n");
    engine_run_terse(&r.run, "noise");
    assert_actions(&r.run, "report warn a: the server broke the protocol: output that "
                           "is not a JSON-RPC message\n");
    engine_run_terse(&r.run, "noise"); /* a warning for each line could be endless */
    assert_actions(&r.run, "report debug a: the server broke the protocol: output that "
                           "is not a JSON-RPC message\n");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actions_are_sent_one_after_the_other),
        cmocka_unit_test(a_value_that_is_not_as_expected_blocks_the_rest),
        cmocka_unit_test(saved_values_are_sent),
        cmocka_unit_test(saved_values_are_in_the_method),
        cmocka_unit_test(all_pages_are_one_list),
        cmocka_unit_test(a_cursor_that_repeats_is_a_failure),
        cmocka_unit_test(no_response_is_a_failure),
        cmocka_unit_test(a_rejected_initialize_is_a_failure),
        cmocka_unit_test(a_stateless_server_gets_requests_with_meta),
        cmocka_unit_test(required_input_is_sent_with_the_request_again),
        cmocka_unit_test(input_without_an_answer_ends_the_call),
        cmocka_unit_test(rounds_of_input_are_limited),
        cmocka_unit_test(server_requests_get_the_answers_of_the_scenario),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

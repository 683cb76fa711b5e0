#include "verify/verify.h"

#include "engine-run.h"
#include "loaded-index.h"
#include "test.h"

/* A recording that is verified; verdicts and findings are logged between the actions. */
struct rig {
    struct engine_run run;
    struct message_store_memory store;
    struct index index;
    struct index_order order;
    struct compare_rules rules;
    struct verify_config config;
    struct verify verify;
};

static void on_verdict(void *to, const struct call_verdict *v, uint32_t call, struct str live)
{
    static const char *const kinds[] = { "passed", "volatile", "failed", "blocked", "skipped" };
    static const char *const failures[] = { "", " content", " error", " missing", " protocol" };
    struct rig *r = to;

    (void)call;
    (void)live;
    buf_printf(&r->run.actions, "%u %.*s%s%.*s: %s%s", v->number, STR_ARG(v->method),
               v->subject.len ? " " : "", STR_ARG(v->subject), kinds[v->kind],
               failures[v->failure]);
    if (v->reason.len)
        buf_printf(&r->run.actions, " (%.*s)", STR_ARG(v->reason));
    for (size_t i = 0; i < v->finding_count; i++)
        buf_printf(&r->run.actions, " [%.*s %.*s%s%.*s]", STR_ARG(v->findings[i].rule),
                   STR_ARG(v->findings[i].path), v->findings[i].hint.len ? "; " : "",
                   STR_ARG(v->findings[i].hint));
    buf_add_ch(&r->run.actions, '\n');
}

static void on_finding(void *to, const struct finding *f)
{
    struct rig *r = to;

    buf_printf(&r->run.actions, "finding %.*s: %.*s", STR_ARG(f->rule), STR_ARG(f->message));
    if (f->path.len)
        buf_printf(&r->run.actions, " %.*s %.*s %.*s", STR_ARG(f->path), STR_ARG(f->recorded),
                   STR_ARG(f->live));
    buf_add_ch(&r->run.actions, '\n');
}

static const struct verify_events events = { on_verdict, on_finding };

static bool no_secret(void *arg, struct str name, struct str *value, struct str *why)
{
    (void)arg;
    (void)name;
    (void)value;
    (void)why;
    return false;
}

static void step(void *engine, const struct event *ev)
{
    verify_step(engine, ev);
}

static void load(struct rig *r, const char *recording)
{
    struct params_rules rules =
        matcher_rules(&(struct match_options){ .mode = MATCH_BY_REQUEST }, false);

    index_order_init(&r->order);
    message_store_memory_init(&r->store);
    index_init(&r->index, &r->store.store, &rules, NULL);
    r->index.order = &r->order;
    terse_feed(&r->index.sink, recording);
    index_finish(&r->index);
    compare_rules_init(&r->rules);
    r->config = (struct verify_config){ .index = &r->index,
                                        .order = &r->order,
                                        .rules = &r->rules,
                                        .timeout_us = 0,
                                        .secret = no_secret };
    engine_run_init(&r->run, TO_CLIENT, step, &r->verify);
}

static void begin(struct rig *r)
{
    verify_init(&r->verify, &r->config, 0, 1, &r->run.out, &events, r);
    engine_run_event(&r->run, EVENT_OPENED, NULL);
}

static void end(struct rig *r)
{
    verify_release(&r->verify);
    engine_run_release(&r->run);
    compare_rules_release(&r->rules);
    index_release(&r->index);
    message_store_memory_release(&r->store);
    index_order_release(&r->order);
}

#define INITIALIZE                                                                             \
    "c2s {'id':0,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}\n"           \
    "s2c {'id':0,'result':{'protocolVersion':'2025-11-25'}}\n"                                 \
    "c2s {'method':'notifications/initialized'}\n"

/* Responds to the handshake and clears the log. */
static void shake_hands(struct rig *r)
{
    engine_run_terse(&r->run, "{'id':1,'result':{'protocolVersion':'2025-11-25'}}");
    buf_clear(&r->run.actions);
}

static void each_message_waits_for_the_responses_before_it(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'a'}\n"
                        "c2s {'id':6,'method':'b'}\n"
                        "s2c {'id':6,'result':{'x':1}}\n"
                        "c2s {'id':7,'method':'c'}\n"
                        "s2c {'id':5,'result':{'x':2}}\n"
                        "s2c {'id':7,'result':{'x':3}}\n");
    begin(&r);
    assert_actions(&r.run, "<< {'id':1,'method':'initialize','params':"
                           "{'protocolVersion':'2025-11-25'}}\n");
    engine_run_terse(&r.run, "{'id':1,'result':{'protocolVersion':'2025-11-25'}}");
    assert_actions(&r.run, "1 initialize: passed\n"
                           "<< {'method':'notifications/initialized'}\n"
                           "<< {'id':2,'method':'a'}\n"
                           "<< {'id':3,'method':'b'}\n");
    engine_run_terse(&r.run, "{'id':2,'result':{'x':2}}");
    assert_actions(&r.run, "2 a: passed\n");
    engine_run_terse(&r.run, "{'id':3,'result':{'x':1}}");
    assert_actions(&r.run, "3 b: passed\n"
                           "<< {'id':4,'method':'c'}\n");
    engine_run_terse(&r.run, "{'id':4,'result':{'x':9}}");
    assert_actions(&r.run, "4 c: failed content [content-changed $.result.x]\n"
                           "finish 0\n");
    end(&r);
}

static void errors_and_results_do_not_replace_each_other(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'a'}\n"
                        "s2c {'id':5,'result':{}}\n"
                        "c2s {'id':6,'method':'b'}\n"
                        "s2c {'id':6,'error':{'code':-32602,'message':'m'}}\n"
                        "c2s {'id':7,'method':'c'}\n"
                        "s2c {'id':7,'error':{'code':-32602,'message':'m'}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'error':{'code':1,'message':'no'}}");
    engine_run_terse(&r.run, "{'id':3,'result':{}}");
    engine_run_terse(&r.run, "{'id':4,'error':{'code':-32603,'message':'other'}}");
    assert_actions(&r.run, "2 a: failed error [error-in-place-of-result $.error]\n"
                           "<< {'id':3,'method':'b'}\n"
                           "3 b: failed error [result-in-place-of-error $.result]\n"
                           "<< {'id':4,'method':'c'}\n"
                           "4 c: failed error [content-changed $.error.code]\n"
                           "finish 0\n");
    end(&r);
}

static void live_values_are_carried_into_later_requests(void **state)
{
    struct rig r;

    (void)state;
    load(&r,
         INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'open'}}\n"
                    "s2c {'id':5,'result':{'_meta':{},'structuredContent':{'taskId':'aa-1'}}}\n"
                    "c2s {'id':6,'method':'tools/call','params':{'name':'use',"
                    "'arguments':{'h':'aa-1'}}}\n"
                    "s2c {'id':6,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'result':{'structuredContent':{'taskId':'bb-2'}}}");
    assert_actions(&r.run, "2 tools/call open: volatile\n"
                           "<< {'id':3,'method':'tools/call','params':{'name':'use',"
                           "'arguments':{'h':'bb-2'}}}\n");
    end(&r);
}

#define OPEN_AND_USE                                                                           \
    INITIALIZE                                                                                 \
    "c2s {'id':5,'method':'tools/call','params':{'name':'open'}}\n"                            \
    "s2c {'id':5,'result':{'structuredContent':{'issue':42}}}\n"                               \
    "c2s {'id':6,'method':'tools/call','params':{'name':'use','arguments':{'i':42}}}\n"        \
    "s2c {'id':6,'result':{}}\n"                                                               \
    "c2s {'id':7,'method':'tools/call','params':{'name':'other'}}\n"                           \
    "s2c {'id':7,'result':{}}\n"

static void a_path_is_proposed_if_a_request_fails_on_a_value_that_is_not_bound(void **state)
{
    struct rig r;

    (void)state;
    load(&r, OPEN_AND_USE);
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'result':{'structuredContent':{'issue':57}}}");
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':3,'error':{'code':1,'message':'no such issue'}}");
    assert_true(engine_run_has(
        &r.run.actions,
        "3 tools/call use: failed error [error-in-place-of-result $.error; the request repeats "
        "a recorded value, but the live server returned another one: --rebind "
        "'$.result.structuredContent.issue' sends that]\n"));
    engine_run_terse(&r.run, "{'id':4,'error':{'code':1,'message':'no'}}");
    assert_true(engine_run_has(
        &r.run.actions,
        "4 tools/call other: failed error [error-in-place-of-result $.error]\n"));
    end(&r);
}

static void the_proposed_path_carries_the_value_into_the_request(void **state)
{
    struct err e = ERR_NONE;
    struct rig r;

    (void)state;
    load(&r, OPEN_AND_USE);
    assert_true(compare_rules_add_path(&r.rules, COMPARE_PATH_REBIND,
                                       STR("$.result.structuredContent.issue"), &e));
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'result':{'structuredContent':{'issue':57}}}");
    assert_actions(&r.run, "2 tools/call open: volatile\n"
                           "<< {'id':3,'method':'tools/call','params':{'name':'use',"
                           "'arguments':{'i':57}}}\n");
    end(&r);
}

static void a_call_that_needs_a_value_of_a_failed_one_is_blocked(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'open'}}\n"
                        "s2c {'id':5,'result':{'structuredContent':{'taskId':'aa-1'}}}\n"
                        "c2s {'id':6,'method':'tasks/get','params':{'taskId':'aa-1'}}\n"
                        "s2c {'id':6,'result':{}}\n"
                        "c2s {'id':7,'method':'a'}\n"
                        "s2c {'id':7,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'error':{'code':1,'message':'no'}}");
    assert_actions(&r.run,
                   "2 tools/call open: failed error [error-in-place-of-result $.error]\n"
                   "3 tasks/get aa-1: blocked (it needs a value of #4, which failed)\n"
                   "<< {'id':3,'method':'a'}\n");
    end(&r);
}

static void the_reason_after_a_signal_is_that_the_run_was_interrupted(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'a'}\n"
                        "s2c {'id':5,'result':{}}\n"
                        "c2s {'id':6,'method':'b'}\n"
                        "s2c {'id':6,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    verify_step(&r.verify,
                &(struct event){ .kind = EVENT_INPUT_CLOSED, .shutting_down = true });
    assert_actions(&r.run, "2 a: failed missing (interrupted) [no-response ]\n"
                           "3 b: blocked (interrupted)\n"
                           "finish 0\n");
    assert_false(r.verify.closed_early);
    end(&r);
}

static bool is_not_mint(void *arg, uint32_t call, struct json_val request, struct str *why)
{
    (void)arg;
    (void)call;
    *why = STR("not selected");
    return !json_is(json_get(json_get(request, STR("params")), STR("name")), STR("mint"));
}

#define MINT                                                                                   \
    INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'mint'}}\n"                 \
               "s2c {'id':5,'result':{'structuredContent':{'handle':'5a5c6c8a'}}}\n"           \
               "c2s {'id':6,'method':'tools/call','params':{'name':'use','arguments':"         \
               "{'handle':'5a5c6c8a'}}}\n"                                                     \
               "s2c {'id':6,'result':{'structuredContent':{'of':'page-77'}}}\n"                \
               "c2s {'id':7,'method':'tools/call','params':{'name':'use','arguments':"         \
               "{'of':'page-77'}}}\n"                                                          \
               "s2c {'id':7,'result':{}}\n"

static void a_handle_that_does_not_look_generated_blocks_too(void **state)
{
    struct rig r;

    (void)state;
    load(&r, MINT);
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'result':{'isError':true,'structuredContent':{}}}");
    assert_actions(&r.run, "2 tools/call mint: failed error [content-added $.result.isError] "
                           "[content-removed $.result.structuredContent.handle]\n"
                           "3 tools/call use: blocked (it needs a value of #4, which failed)\n"
                           "4 tools/call use: blocked (it needs a value of #6, which was "
                           "blocked)\n"
                           "finish 0\n");
    end(&r);
}

static void a_value_of_a_skipped_call_blocks_too(void **state)
{
    struct rig r;

    (void)state;
    load(&r, MINT);
    r.config.selected = is_not_mint;
    begin(&r);
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':1,'result':{'protocolVersion':'2025-11-25'}}");
    assert_actions(&r.run,
                   "1 initialize: passed\n"
                   "<< {'method':'notifications/initialized'}\n"
                   "2 tools/call mint: skipped (not selected)\n"
                   "3 tools/call use: blocked (it needs a value of #4, which was skipped)\n"
                   "4 tools/call use: blocked (it needs a value of #6, which was blocked)\n"
                   "finish 0\n");
    end(&r);
}

static void server_requests_get_the_recorded_responses(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'ask'}}\n"
                        "s2c {'id':9,'method':'elicitation/create','params':{'m':'?'}}\n"
                        "c2s {'id':9,'result':{'action':'accept'}}\n"
                        "s2c {'id':5,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':'e','method':'elicitation/create','params':{'m':'?'}}");
    engine_run_terse(&r.run, "{'id':'f','method':'roots/list'}");
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    assert_actions(&r.run,
                   "<< {'jsonrpc':'2.0','id':'e','result':{'action':'accept'}}\n"
                   "<< {'jsonrpc':'2.0','id':'f','error':{'code':-32601,'message':"
                   "'the recording has no response to this request'}}\n"
                   "finding server-request-unknown: session 1: the server sent roots/list, "
                   "which the recording does not have; it was rejected\n"
                   "2 tools/call ask: passed\n"
                   "finish 0\n");
    end(&r);
}

static struct str answer_roots(void *arg, struct str method)
{
    (void)arg;
    return str_eq(method, STR("roots/list")) ? STR("{\"roots\":[]}") : STR_NONE;
}

static void a_server_request_that_was_not_recorded_may_be_answered_by_the_owner(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'ask'}}\n"
                        "s2c {'id':5,'result':{}}\n");
    r.config.answer = answer_roots;
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':'f','method':'roots/list'}");
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':'f','result':{'roots':[]}}\n"
                           "2 tools/call ask: passed\n"
                           "finish 0\n");
    end(&r);
}

static void a_server_request_with_other_content_is_rejected(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE
         "c2s {'id':5,'method':'tools/call','params':{'name':'ask'}}\n"
         "s2c {'id':9,'method':'elicitation/create','params':{'message':'your name?',"
         "'requestedSchema':{'type':'object'}}}\n"
         "c2s {'id':9,'result':{'action':'accept'}}\n"
         "s2c {'id':5,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':'e','method':'elicitation/create','params':{'message':"
                             "'your password?','requestedSchema':{'type':'object'}}}");
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':'e','error':{'code':-32601,'message':"
                           "'the recording has no response to this request'}}\n"
                           "finding server-request-changed: session 1: the server sent "
                           "elicitation/create with other params; it was rejected "
                           "$.params.message 'your name?' 'your password?'\n"
                           "2 tools/call ask: passed\n"
                           "finish 0\n");
    end(&r);
}

static void a_server_request_with_other_volatile_values_gets_the_recorded_response(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'ask'}}\n"
                        "s2c {'id':9,'method':'elicitation/create','params':{'message':'at "
                        "2026-01-02T03:04:05Z','n':1.0,'secret':'[REDACTED:rule-1]'}}\n"
                        "c2s {'id':9,'result':{'action':'accept'}}\n"
                        "s2c {'id':5,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':'e','method':'elicitation/create','params':{'message':'at "
                             "2027-11-12T13:14:15Z','n':1,'secret':'abc',"
                             "'_meta':{'progressToken':3}}}");
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':'e','result':{'action':'accept'}}\n"
                           "2 tools/call ask: passed\n"
                           "finish 0\n");
    end(&r);
}

static void a_missing_kind_of_notification_fails_after_a_moment(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'log'}}\n"
                        "s2c {'method':'notifications/message','params':{'data':1}}\n"
                        "s2c {'id':5,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    assert_true(engine_run_has(&r.run.actions, "timer "));
    buf_clear(&r.run.actions);
    engine_run_timer(&r.run, r.verify.settle_timer);
    assert_actions(&r.run, "2 tools/call log: failed content [notification-missing ]\n"
                           "finish 0\n");
    end(&r);
}

static void a_notification_may_come_later_and_with_other_content(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'log'}}\n"
                        "s2c {'method':'notifications/message','params':{'data':1}}\n"
                        "s2c {'id':5,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'method':'notifications/message','params':{'data':2}}");
    assert_actions(&r.run, "2 tools/call log: passed\n"
                           "finish 0\n");
    end(&r);
}

#define TWO_LOGS                                                                               \
    "c2s {'id':5,'method':'tools/call','params':{'name':'first'}}\n"                           \
    "s2c {'method':'notifications/message','params':{'data':1}}\n"                             \
    "s2c {'id':5,'result':{}}\n"                                                               \
    "c2s {'id':6,'method':'tools/call','params':{'name':'second'}}\n"                          \
    "s2c {'method':'notifications/message','params':{'data':2}}\n"                             \
    "s2c {'method':'notifications/message','params':{'data':3}}\n"                             \
    "s2c {'id':6,'result':{}}\n"

/* The first call gets its response without a notification. */
static void begin_with_a_silent_first_call(struct rig *r)
{
    load(r, INITIALIZE TWO_LOGS);
    begin(r);
    shake_hands(r);
    engine_run_terse(&r->run, "{'id':2,'result':{}}");
    buf_clear(&r->run.actions);
}

static void notifications_of_a_later_call_are_not_those_of_an_earlier_one(void **state)
{
    struct rig r;

    (void)state;
    begin_with_a_silent_first_call(&r);
    engine_run_terse(&r.run, "{'method':'notifications/message','params':{'data':2}}");
    engine_run_terse(&r.run, "{'method':'notifications/message','params':{'data':3}}");
    engine_run_terse(&r.run, "{'id':3,'result':{}}");
    engine_run_timer(&r.run, r.verify.settle_timer);
    assert_true(engine_run_has(&r.run.actions, "3 tools/call second: passed\n"));
    assert_true(engine_run_has(&r.run.actions,
                               "2 tools/call first: failed content [notification-missing ]\n"));
    end(&r);
}

static void a_late_notification_may_come_during_the_next_call(void **state)
{
    struct rig r;

    (void)state;
    begin_with_a_silent_first_call(&r);
    for (unsigned i = 0; i < 3; i++)
        engine_run_terse(&r.run, "{'method':'notifications/message','params':{'data':1}}");
    engine_run_terse(&r.run, "{'id':3,'result':{}}");
    assert_true(engine_run_has(&r.run.actions, "3 tools/call second: passed\n"));
    assert_true(engine_run_has(&r.run.actions, "2 tools/call first: passed\n"));
    end(&r);
}

static void calls_that_are_open_at_the_same_time_need_one_notification_each(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'first'}}\n"
                        "c2s {'id':6,'method':'tools/call','params':{'name':'second'}}\n"
                        "s2c {'method':'notifications/message','params':{'data':1}}\n"
                        "s2c {'method':'notifications/message','params':{'data':2}}\n"
                        "s2c {'id':5,'result':{}}\n"
                        "s2c {'id':6,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'method':'notifications/message','params':{'data':1}}");
    engine_run_terse(&r.run, "{'method':'notifications/message','params':{'data':2}}");
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    engine_run_terse(&r.run, "{'id':3,'result':{}}");
    assert_true(engine_run_has(&r.run.actions, "2 tools/call first: passed\n"));
    assert_true(engine_run_has(&r.run.actions, "3 tools/call second: passed\n"));
    end(&r);
}

static void a_missing_kind_of_notification_is_one_finding(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'log'}}\n"
                        "s2c {'method':'notifications/message','params':{'data':1}}\n"
                        "s2c {'method':'notifications/message','params':{'data':2}}\n"
                        "s2c {'id':5,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    buf_clear(&r.run.actions);
    engine_run_timer(&r.run, r.verify.settle_timer);
    assert_actions(&r.run, "2 tools/call log: failed content [notification-missing ]\n"
                           "finish 0\n");
    end(&r);
}

static void a_server_that_closes_fails_open_calls_and_blocks_the_rest(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'a'}\n"
                        "s2c {'id':5,'result':{}}\n"
                        "c2s {'id':6,'method':'b'}\n"
                        "s2c {'id':6,'result':{}}\n");
    begin(&r);
    shake_hands(&r);
    engine_run_event(&r.run, EVENT_INPUT_CLOSED, NULL);
    assert_actions(&r.run, "2 a: failed missing (the server closed the connection or exited) "
                           "[no-response ]\n"
                           "3 b: blocked (the server has exited)\n"
                           "finish 0\n");
    end(&r);
}

static void a_failed_initialize_blocks_the_rest(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'a'}\n"
                        "s2c {'id':5,'result':{}}\n");
    begin(&r);
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':1,'error':{'code':1,'message':'not today'}}");
    assert_actions(&r.run, "1 initialize: failed error [error-in-place-of-result $.error]\n"
                           "2 a: blocked (initialize failed: not today)\n"
                           "finish 0\n");
    end(&r);
}

static void another_protocol_version_has_a_hint(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE);
    begin(&r);
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':1,'result':{'protocolVersion':'2024-11-05'}}");
    assert_true(engine_run_has(&r.run.actions, "1 initialize: failed content [content-changed "
                                               "$.result.protocolVersion; the server did "
                                               "not accept the recorded protocol version: "
                                               "later requests may fail for this reason]\n"));
    end(&r);
}

static void an_initialize_that_was_rejected_before_blocks_nothing(void **state)
{
    struct rig r;

    (void)state;
    load(&r, "c2s {'id':0,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}\n"
             "s2c {'id':0,'error':{'code':-32022,'message':'too old'}}\n"
             "c2s {'id':5,'method':'server/discover'}\n"
             "s2c {'id':5,'result':{}}\n");
    begin(&r);
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':1,'error':{'code':-32022,'message':'too old'}}");
    assert_actions(&r.run, "1 initialize: passed\n<< {'id':2,'method':'server/discover'}\n");
    end(&r);
}

static void a_session_without_initialize_gets_one(void **state)
{
    struct rig r;

    (void)state;
    load(&r, "c2s {'id':5,'method':'a'}\n"
             "s2c {'id':5,'result':{}}\n");
    begin(&r);
    assert_true(engine_run_has(&r.run.actions, "\"method\":\"initialize\""));
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':1,'result':{}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','method':'notifications/initialized'}\n"
                           "<< {'id':2,'method':'a'}\n");
    end(&r);
}

static void a_session_that_begins_with_discover_gets_no_initialize(void **state)
{
    struct rig r;

    (void)state;
    load(&r, "c2s {'id':'probe','method':'server/discover','params':{'_meta':{"
             "'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}\n"
             "s2c {'id':'probe','result':{'supportedVersions':['2026-07-28']}}\n");
    begin(&r);
    assert_actions(&r.run, "<< {'id':1,'method':'server/discover','params':{'_meta':{"
                           "'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}\n");
    end(&r);
}

static void only_read_only_tools_are_called_in_read_only_mode(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'read'}}\n"
                        "s2c {'id':5,'result':{}}\n"
                        "c2s {'id':6,'method':'tools/call','params':{'name':'write'}}\n"
                        "s2c {'id':6,'result':{}}\n");
    r.config.read_only = true;
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'result':{'tools':[{'name':'read','annotations':"
                             "{'readOnlyHint':true}}],'nextCursor':'p2'}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':3,'method':'tools/list','params':"
                           "{'cursor':'p2'}}\n");
    engine_run_terse(&r.run, "{'id':3,'result':{'tools':[{'name':'write'}]}}");
    engine_run_terse(&r.run, "{'id':4,'result':{}}");
    assert_actions(&r.run, "<< {'id':4,'method':'tools/call','params':{'name':'read'}}\n"
                           "2 tools/call read: passed\n"
                           "3 tools/call write: skipped (the server does not mark the tool as "
                           "read-only (--include-destructive sends it))\n"
                           "finish 0\n");
    end(&r);
}

static void a_cancelled_request_is_cancelled_again(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':'x','method':'tools/call','params':{'name':'slow'}}\n"
                        "c2s {'method':'notifications/cancelled','params':{'requestId':'x'}}\n"
                        "c2s {'id':7,'method':'a'}\n"
                        "s2c {'id':7,'result':{}}\n");
    begin(&r);
    engine_run_terse(&r.run, "{'id':1,'result':{'protocolVersion':'2025-11-25'}}");
    assert_true(engine_run_has(&r.run.actions,
                               "{\"method\":\"notifications/cancelled\",\"params\":"
                               "{\"requestId\":2}}"));
    assert_true(engine_run_has(&r.run.actions, "2 tools/call slow: passed"));
    end(&r);
}

#define STATELESS "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"

/* The client closed the HTTP response: the end of the session must not wait for the call. */
static void an_abandoned_http_call_is_cancelled_before_the_end(void **state)
{
    struct rig r;

    (void)state;
    load(&r, "x=1 c2s {'id':1,'method':'tools/call','params':{'name':'slow'," STATELESS "}}\n"
             "x=1 http end client\n"
             "x=2 c2s {'id':2,'method':'tools/call','params':{'name':'a'," STATELESS "}}\n"
             "x=2 s2c {'id':2,'result':{}}\n");
    begin(&r);
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    assert_actions(&r.run, "2 tools/call a: passed\n"
                           "<< {'jsonrpc':'2.0','method':'notifications/cancelled',"
                           "'params':{'requestId':1,'reason':'the client ended the call'}}\n"
                           "1 tools/call slow: passed\n"
                           "finish 0\n");
    end(&r);
}

static void a_poll_is_repeated_until_the_task_has_ended(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tasks/get','params':{'taskId':'t'}}\n"
                        "s2c {'id':5,'result':{'taskId':'t','status':'completed'}}\n");
    r.config.timeout_us = 1000000;
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'id':2,'result':{'taskId':'t','status':'working'}}");
    assert_true(engine_run_has(&r.run.actions, "timer "));
    buf_clear(&r.run.actions);
    engine_run_timer(&r.run, ((uint64_t)1 << 62) | 2);
    assert_true(engine_run_has(&r.run.actions, "\"id\":3,\"method\":\"tasks/get\""));
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':3,'result':{'taskId':'t','status':'completed'}}");
    assert_actions(&r.run, "2 tasks/get t: passed\n"
                           "finish 0\n");
    end(&r);
}

static void strict_counts_notifications(void **state)
{
    struct rig r;

    (void)state;
    load(&r, INITIALIZE "c2s {'id':5,'method':'tools/call','params':{'name':'log'}}\n"
                        "s2c {'method':'notifications/message','params':{'data':1}}\n"
                        "s2c {'method':'notifications/message','params':{'data':2}}\n"
                        "s2c {'id':5,'result':{}}\n");
    r.config.strict = true;
    begin(&r);
    shake_hands(&r);
    engine_run_terse(&r.run, "{'method':'notifications/message','params':{'data':2}}");
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    assert_actions(&r.run, "2 tools/call log: passed\n"
                           "finding notification-count: session 1: notifications/message was "
                           "recorded 2 times and came 1 times\n"
                           "finish 0\n");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_waits_for_the_responses_before_it),
        cmocka_unit_test(errors_and_results_do_not_replace_each_other),
        cmocka_unit_test(live_values_are_carried_into_later_requests),
        cmocka_unit_test(a_path_is_proposed_if_a_request_fails_on_a_value_that_is_not_bound),
        cmocka_unit_test(the_proposed_path_carries_the_value_into_the_request),
        cmocka_unit_test(a_call_that_needs_a_value_of_a_failed_one_is_blocked),
        cmocka_unit_test(a_handle_that_does_not_look_generated_blocks_too),
        cmocka_unit_test(a_value_of_a_skipped_call_blocks_too),
        cmocka_unit_test(the_reason_after_a_signal_is_that_the_run_was_interrupted),
        cmocka_unit_test(server_requests_get_the_recorded_responses),
        cmocka_unit_test(a_server_request_that_was_not_recorded_may_be_answered_by_the_owner),
        cmocka_unit_test(a_server_request_with_other_content_is_rejected),
        cmocka_unit_test(
            a_server_request_with_other_volatile_values_gets_the_recorded_response),
        cmocka_unit_test(a_missing_kind_of_notification_fails_after_a_moment),
        cmocka_unit_test(a_missing_kind_of_notification_is_one_finding),
        cmocka_unit_test(a_notification_may_come_later_and_with_other_content),
        cmocka_unit_test(notifications_of_a_later_call_are_not_those_of_an_earlier_one),
        cmocka_unit_test(a_late_notification_may_come_during_the_next_call),
        cmocka_unit_test(calls_that_are_open_at_the_same_time_need_one_notification_each),
        cmocka_unit_test(a_server_that_closes_fails_open_calls_and_blocks_the_rest),
        cmocka_unit_test(a_failed_initialize_blocks_the_rest),
        cmocka_unit_test(another_protocol_version_has_a_hint),
        cmocka_unit_test(an_initialize_that_was_rejected_before_blocks_nothing),
        cmocka_unit_test(a_session_without_initialize_gets_one),
        cmocka_unit_test(a_session_that_begins_with_discover_gets_no_initialize),
        cmocka_unit_test(only_read_only_tools_are_called_in_read_only_mode),
        cmocka_unit_test(a_cancelled_request_is_cancelled_again),
        cmocka_unit_test(an_abandoned_http_call_is_cancelled_before_the_end),
        cmocka_unit_test(a_poll_is_repeated_until_the_task_has_ended),
        cmocka_unit_test(strict_counts_notifications),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

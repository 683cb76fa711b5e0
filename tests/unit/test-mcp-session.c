#include "client/mcp-session.h"

#include "engine-run.h"
#include "test.h"

/* A session whose events are logged between its actions. */
struct rig {
    struct engine_run run;
    struct mcp_session session;
};

static void log_event(struct rig *r, const char *fmt, ...) PRINTF(2, 3);
static void log_event(struct rig *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&r->run.actions, fmt, ap);
    va_end(ap);
    buf_add_ch(&r->run.actions, '\n');
}

static void on_response(void *to, uint64_t request, const struct mcp_message *m,
                        int64_t took_us)
{
    log_event(to, "response %d %s in %d us", (int)request, mcp_kind_name(m->kind),
              (int)took_us);
}

static void on_no_response(void *to, uint64_t request, enum mcp_session_loss loss,
                           struct str why, unsigned http_status)
{
    static const char *const names[] = { "timed out", "closed", "lost", "echoed" };

    log_event(to, "no response %d %s %.*s %u", (int)request, names[loss], STR_ARG(why),
              http_status);
}

static void on_notification(void *to, const struct mcp_message *m, uint64_t request)
{
    log_event(to, "notification %.*s for %d", STR_ARG(m->method), (int)request);
}

static void on_server_request(void *to, const struct mcp_message *m)
{
    log_event(to, "server request %.*s", STR_ARG(m->method));
}

static void on_violation(void *to, struct str what, struct str text)
{
    (void)text;
    log_event(to, "violation %.*s", STR_ARG(what));
}

static const struct mcp_session_events events = { on_response, on_no_response, on_notification,
                                                  on_server_request, on_violation };

static void step(void *engine, const struct event *ev)
{
    mcp_session_step(engine, ev);
}

static void begin(struct rig *r, int64_t timeout_us)
{
    engine_run_init(&r->run, TO_CLIENT, step, &r->session);
    mcp_session_init(&r->session, &r->run.out, timeout_us, &events, r);
}

static void end(struct rig *r)
{
    mcp_session_release(&r->session);
    engine_run_release(&r->run);
}

static void at(struct rig *r, enum event_kind kind, int64_t now_us, uint64_t timer)
{
    mcp_session_step(&r->session, &(struct event){ .kind = kind,
                                                   .now_us = now_us,
                                                   .timer = timer,
                                                   .why = STR("it exited") });
}

static void responses_are_paired_by_our_own_ids(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 0);
    mcp_session_request(&r.session, STR("a"), STR("{}"));
    mcp_session_request(&r.session, STR("b"), STR_NONE);
    engine_run_terse(&r.run, "{'id':2,'result':{}}");
    engine_run_terse(&r.run, "{'id':1,'error':{'code':1,'message':'no'}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':1,'method':'a','params':{}}\n"
                           "<< {'jsonrpc':'2.0','id':2,'method':'b'}\n"
                           "response 2 result in 0 us\n"
                           "response 1 error in 0 us\n");
    end(&r);
}

static void the_ids_may_start_at_0(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 1000);
    r.session.first_id = 0;
    mcp_session_request(&r.session, STR("a"), STR_NONE);
    mcp_session_request(&r.session, STR("b"), STR_NONE);
    engine_run_terse(&r.run, "{'id':0,'result':{}}");
    engine_run_terse(&r.run, "{'id':-1,'result':{}}");
    at(&r, EVENT_TIMER, 2000, 1);
    assert_actions(&r.run, "timer 1 in 1000 us\n"
                           "<< {'jsonrpc':'2.0','id':0,'method':'a'}\n"
                           "<< {'jsonrpc':'2.0','id':1,'method':'b'}\n"
                           "response 1 result in 0 us\n"
                           "violation a response to a request that is not open\n"
                           "<< {'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                           "'requestId':1,'reason':'time limit'}}\n"
                           "no response 2 timed out  0\n");
    end(&r);
}

static void a_response_without_a_request_is_a_violation(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 0);
    mcp_session_request(&r.session, STR("a"), STR_NONE);
    engine_run_terse(&r.run, "{'id':'1','result':{}}");
    engine_run_terse(&r.run, "{'id':1,'result':{}}");
    engine_run_terse(&r.run, "{'id':1,'result':{}}");
    engine_run_terse(&r.run, "hello");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':1,'method':'a'}\n"
                           "violation a response to a request that is not open\n"
                           "response 1 result in 0 us\n"
                           "violation a response to a request that is not open\n"
                           "violation output that is not a JSON-RPC message\n");
    end(&r);
}

static void a_request_without_a_response_times_out_and_is_cancelled(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 1000);
    at(&r, EVENT_OPENED, 10, 0);
    mcp_session_request(&r.session, STR("a"), STR_NONE);
    at(&r, EVENT_OPENED, 500, 0);
    mcp_session_request(&r.session, STR("b"), STR_NONE);
    at(&r, EVENT_TIMER, 1010, 1);
    assert_actions(&r.run, "timer 1 in 1000 us\n"
                           "<< {'jsonrpc':'2.0','id':1,'method':'a'}\n"
                           "<< {'jsonrpc':'2.0','id':2,'method':'b'}\n"
                           "<< {'jsonrpc':'2.0','method':'notifications/cancelled',"
                           "'params':{'requestId':1,'reason':'time limit'}}\n"
                           "no response 1 timed out  0\n"
                           "timer 2 in 490 us\n");
    end(&r);
}

static void initialize_is_never_cancelled(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 1000);
    mcp_session_request(&r.session, STR("initialize"), STR_NONE);
    at(&r, EVENT_TIMER, 1000, 1);
    assert_actions(&r.run, "timer 1 in 1000 us\n"
                           "<< {'jsonrpc':'2.0','id':1,'method':'initialize'}\n"
                           "no response 1 timed out  0\n");
    end(&r);
}

static void a_server_that_closes_loses_open_requests_only(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 0);
    mcp_session_request(&r.session, STR("a"), STR_NONE);
    mcp_session_request(&r.session, STR("b"), STR_NONE);
    mcp_session_forget(&r.session, 2);
    at(&r, EVENT_INPUT_CLOSED, 5, 0);
    mcp_session_notify(&r.session, STR("notifications/x"), STR_NONE);
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':1,'method':'a'}\n"
                           "<< {'jsonrpc':'2.0','id':2,'method':'b'}\n"
                           "no response 1 closed it exited 0\n");
    end(&r);
}

static void an_error_of_the_transport_is_a_loss(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 0);
    mcp_session_request(&r.session, STR("a"), STR_NONE);
    mcp_session_request(&r.session, STR("b"), STR_NONE);
    mcp_session_request(&r.session, STR("c"), STR_NONE);
    engine_run_terse(&r.run, "{'id':1,'error':{'code':-32000,'message':'HTTP 401',"
                             "'data':{'httpStatus':401}}}");
    at(&r, EVENT_UPSTREAM_LOST, 0, 0);
    engine_run_terse(&r.run, "{'id':2,'error':{'code':-32000,'message':'refused'}}");
    engine_run_terse(&r.run, "{'id':3,'error':{'code':-32000,'message':'mine'}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':1,'method':'a'}\n"
                           "<< {'jsonrpc':'2.0','id':2,'method':'b'}\n"
                           "<< {'jsonrpc':'2.0','id':3,'method':'c'}\n"
                           "no response 1 lost HTTP 401 401\n"
                           "no response 2 lost refused 0\n"
                           "response 3 error in 0 us\n");
    end(&r);
}

static void a_request_that_comes_back_is_a_loss_and_gets_no_response(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 0);
    mcp_session_request(&r.session, STR("tools/list"), STR_NONE);
    mcp_session_request(&r.session, STR("tasks/list"), STR_NONE);
    buf_clear(&r.run.actions);
    engine_run_terse(&r.run, "{'id':1,'method':'tools/list'}");
    engine_run_terse(&r.run, "{'id':2,'method':'tasks/list'}");
    assert_actions(&r.run, "no response 1 echoed  0\n"
                           "server request tasks/list\n");
    end(&r);
}

static void pings_get_a_response_and_other_server_requests_go_to_the_owner(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 0);
    engine_run_terse(&r.run, "{'id':'p','method':'ping'}");
    engine_run_terse(&r.run, "{'id':7,'method':'roots/list'}");
    mcp_session_reject(&r.session, STR("7"), -32601, STR("none"));
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':'p','result':{}}\n"
                           "server request roots/list\n"
                           "<< {'jsonrpc':'2.0','id':7,'error':{'code':-32601,"
                           "'message':'none'}}\n");
    end(&r);
}

static void progress_belongs_to_the_request_with_its_token(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, 0);
    mcp_session_request(&r.session, STR("a"), STR_NONE);
    engine_run_terse(&r.run,
                     "{'method':'notifications/progress','params':{'progressToken':1}}");
    engine_run_terse(&r.run,
                     "{'method':'notifications/progress','params':{'progressToken':9}}");
    engine_run_terse(&r.run, "{'method':'notifications/message','params':{}}");
    assert_actions(&r.run, "<< {'jsonrpc':'2.0','id':1,'method':'a'}\n"
                           "notification notifications/progress for 1\n"
                           "notification notifications/progress for 0\n"
                           "notification notifications/message for 0\n");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(responses_are_paired_by_our_own_ids),
        cmocka_unit_test(the_ids_may_start_at_0),
        cmocka_unit_test(a_response_without_a_request_is_a_violation),
        cmocka_unit_test(a_request_without_a_response_times_out_and_is_cancelled),
        cmocka_unit_test(initialize_is_never_cancelled),
        cmocka_unit_test(a_server_that_closes_loses_open_requests_only),
        cmocka_unit_test(an_error_of_the_transport_is_a_loss),
        cmocka_unit_test(a_request_that_comes_back_is_a_loss_and_gets_no_response),
        cmocka_unit_test(pings_get_a_response_and_other_server_requests_go_to_the_owner),
        cmocka_unit_test(progress_belongs_to_the_request_with_its_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

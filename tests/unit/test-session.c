#include "replay/session.h"

#include "engine-run.h"
#include "loaded-index.h"

/* Sessions of one host, one after the other or side by side. */
struct session_run {
    struct engine_run stepper;
    struct loaded_index of;
    struct actions actions;
    struct matcher matcher;
    struct replay_report review;
    struct passthrough upstream;
    struct replay_shared host;
};

static void ignore_event(void *engine, const struct event *ev)
{
    (void)engine;
    (void)ev;
}

static void build(struct session_run *h, const char *recording)
{
    struct match_options how = { .mode = MATCH_BY_REQUEST };

    *h = (struct session_run){ .host = { .on_miss = ON_MISS_WARN } };
    engine_run_init(&h->stepper, TO_SERVER, ignore_event, h);
    loaded_index_init(&h->of, MATCH_BY_REQUEST, recording);
    actions_init(&h->actions, &h->stepper.out);
    matcher_init(&h->matcher, &h->of.index, &how, NULL);
    replay_report_init(&h->review, &h->of.index, &h->matcher.options);
    passthrough_init(&h->upstream, &h->actions, &h->host.last_timer, false);
    h->host.index = &h->of.index;
    h->host.matcher = &h->matcher;
    h->host.report = &h->review;
    h->host.passthrough = &h->upstream;
    h->host.actions = &h->actions;
    session_shared_init(&h->host);
}

static void close_run(struct session_run *h)
{
    session_shared_release(&h->host);
    passthrough_release(&h->upstream);
    replay_report_release(&h->review);
    matcher_release(&h->matcher);
    actions_release(&h->actions);
    loaded_index_release(&h->of);
    engine_run_release(&h->stepper);
}

static void receive(struct session *s, const char *text)
{
    struct record r = { .kind = RECORD_MESSAGE };
    struct terse_scanned j;

    r.message.msg = terse_scan(&j, text);
    session_handle_record(s, &r, 0);
    terse_scanned_release(&j);
}

#define SESSION(conn)                                                                          \
    "conn=" #conn " c2s {'id':1,'method':'initialize'}\n"                                      \
    "conn=" #conn " s2c {'id':1,'result':{'of':" #conn "}}\n"                                  \
    "conn=" #conn " c2s {'id':2,'method':'tools/call','params':{'name':'t'}}\n"                \
    "conn=" #conn " s2c {'id':2,'result':{'of':" #conn "}}\n"

/* By its first call: initialize alone uses no session. */
static void each_client_gets_the_next_recorded_session(void **state)
{
    struct session s[3];
    struct session_run h;

    (void)state;
    build(&h, SESSION(1) "conn=9 c2s {'id':1,'method':'initialize'}\n" SESSION(2));
    for (int i = 0; i < 3; i++)
        session_init(&s[i], &h.host);
    for (int i = 0; i < 3; i++)
        receive(&s[i], "{'id':1,'method':'initialize'}");
    assert_actions(&h.stepper, "<< {'id':1,'result':{'of':1}}\n<< {'id':1,'result':{'of':1}}\n"
                               "<< {'id':1,'result':{'of':1}}\n");
    for (int i = 2; i >= 0; i--)
        receive(&s[i], "{'id':5,'method':'tools/call','params':{'name':'t'}}");
    assert_actions(&h.stepper, "<< {'id':5,'result':{'of':1}}\n<< {'id':5,'result':{'of':2}}\n"
                               "<< {'id':5,'result':{'of':1}}\n");
    for (int i = 0; i < 3; i++)
        session_release(&s[i]);
    close_run(&h);
}

static void a_second_initialize_gets_the_next_session(void **state)
{
    struct session s;
    struct session_run h;

    (void)state;
    build(&h, SESSION(1) SESSION(2));
    session_init(&s, &h.host);
    for (int i = 0; i < 3; i++) {
        receive(&s, "{'id':1,'method':'initialize'}");
        receive(&s, "{'id':2,'method':'tools/call','params':{'name':'t'}}");
        assert_actions(&h.stepper, i % 2 ? "<< {'id':1,'result':{'of':2}}\n"
                                           "<< {'id':2,'result':{'of':2}}\n"
                                         : "<< {'id':1,'result':{'of':1}}\n"
                                           "<< {'id':2,'result':{'of':1}}\n");
    }
    session_release(&s);
    close_run(&h);
}

static void a_client_without_initialize_gets_the_next_session(void **state)
{
    struct session s[3];
    struct session_run h;

    (void)state;
    build(&h, SESSION(1) SESSION(2));
    for (int i = 0; i < 3; i++)
        session_init(&s[i], &h.host);
    for (int i = 0; i < 3; i++) {
        receive(&s[i], "{'id':4,'method':'ping'}");
        receive(&s[i], "{'id':5,'method':'tools/call','params':{'name':'t'}}");
        assert_actions(&h.stepper, i == 1 ? "<< {'jsonrpc':'2.0','id':4,'result':{}}\n"
                                            "<< {'id':5,'result':{'of':2}}\n"
                                          : "<< {'jsonrpc':'2.0','id':4,'result':{}}\n"
                                            "<< {'id':5,'result':{'of':1}}\n");
    }
    for (int i = 0; i < 3; i++)
        session_release(&s[i]);
    close_run(&h);
}

static void a_client_that_initializes_late_stays_in_its_session(void **state)
{
    struct session s[2];
    struct session_run h;

    (void)state;
    build(&h, SESSION(1) SESSION(2));
    for (int i = 0; i < 2; i++)
        session_init(&s[i], &h.host);
    receive(&s[0], "{'id':5,'method':'tools/call','params':{'name':'t'}}");
    receive(&s[1], "{'id':1,'method':'initialize'}");
    receive(&s[0], "{'id':1,'method':'initialize'}");
    assert_actions(&h.stepper, "<< {'id':5,'result':{'of':1}}\n<< {'id':1,'result':{'of':2}}\n"
                               "<< {'id':1,'result':{'of':1}}\n");
    receive(&s[1], "{'id':5,'method':'tools/call','params':{'name':'t'}}");
    receive(&s[0], "{'id':5,'method':'tools/call','params':{'name':'t'}}");
    assert_actions(&h.stepper,
                   "<< {'id':5,'result':{'of':2}}\n<< {'id':5,'result':{'of':1}}\n");
    for (int i = 0; i < 2; i++)
        session_release(&s[i]);
    close_run(&h);
}

static void an_unreadable_recording_ends_the_session(void **state)
{
    struct session s;
    struct session_run h;

    (void)state;
    build(&h, SESSION(1));
    session_init(&s, &h.host);
    memset(h.of.store.text.at, 'x', h.of.store.text.len);
    receive(&s, "{'id':2,'method':'tools/call','params':{'name':'t'}}");
    assert_actions(&h.stepper, "<< {'jsonrpc':'2.0','id':2,'error':{'code':-32603,'message':"
                               "'the recording cannot be read'}}\n"
                               "report error the recording has changed since it was read\n");
    assert_true(h.host.must_end);
    assert_int_equal(h.host.exit_code, 5);
    session_release(&s);
    close_run(&h);
}

static void an_unreadable_initialize_response_is_an_error(void **state)
{
    struct session s;
    struct session_run h;

    (void)state;
    build(&h, SESSION(1));
    session_init(&s, &h.host);
    memset(h.of.store.text.at, 'x', h.of.store.text.len);
    receive(&s, "{'id':2,'method':'initialize'}");
    assert_actions(&h.stepper, "<< {'jsonrpc':'2.0','id':2,'error':{'code':-32603,'message':"
                               "'the recording cannot be read'}}\n"
                               "report error the recording has changed since it was read\n");
    assert_int_equal(h.host.exit_code, 5);
    session_release(&s);
    close_run(&h);
}

#define MODERN                                                                                 \
    "{'id':2,'method':'tools/list','params':{'_meta':{'io.modelcontextprotocol/"               \
    "protocolVersion':'2026-07-28'}}}"

static void stateless_requests_use_no_session(void **state)
{
    struct session s[2];
    struct session_run h;

    (void)state;
    build(&h, SESSION(1) SESSION(2) "conn=3 c2s " MODERN "\nconn=3 s2c {'id':2,'result':{}}\n");
    for (int i = 0; i < 2; i++)
        session_init(&s[i], &h.host);
    receive(&s[0], MODERN);
    receive(&s[1], "{'id':5,'method':'tools/call','params':{'name':'t'}}");
    assert_actions(&h.stepper, "<< {'id':2,'result':{}}\n<< {'id':5,'result':{'of':1}}\n");
    for (int i = 0; i < 2; i++)
        session_release(&s[i]);
    close_run(&h);
}

#define INITIALIZE(version)                                                                    \
    "{'id':1,'method':'initialize','params':{'protocolVersion':'" version "'}}"

static void a_client_whose_version_is_known_late_gets_matching_sessions(void **state)
{
    struct session s;
    struct session_run h;

    (void)state;
    build(&h,
          "conn=1 c2s " INITIALIZE(
              "2025-03-26") "\nconn=1 s2c {'id':1,'result':{'of':1}}\n"
                            "conn=1 c2s {'id':2,'method':'tools/call','params':{'name':'t'}}\n"
                            "conn=1 s2c {'id':2,'result':{'of':1}}\n"
                            "conn=2 c2s " INITIALIZE(
                                "2025-11-25") "\nconn=2 s2c {'id':1,'result':{'of':2}}\n"
                                              "conn=2 c2s "
                                              "{'id':2,'method':'tools/"
                                              "call','params':{'name':'t'}}\n"
                                              "conn=2 s2c {'id':2,'result':{'of':2}}\n");
    session_init(&s, &h.host);
    receive(&s, "{'id':5,'method':'tools/call','params':{'name':'t'}}");
    receive(&s, INITIALIZE("2025-11-25"));
    assert_actions(&h.stepper,
                   "<< {'id':5,'result':{'of':1}}\n<< {'id':1,'result':{'of':2}}\n");
    session_release(&s);
    close_run(&h);
}

static void a_refused_client_without_any_response_is_remembered(void **state)
{
    struct session s[2];
    struct session_run h;

    (void)state;
    build(&h, SESSION(1));
    for (int i = 0; i < 2; i++) {
        session_init(&s[i], &h.host);
        for (int k = 0; k < 2; k++)
            receive(&s[i], MODERN);
    }
    assert_int_equal(h.host.refused_clients, 2);
    assert_int_equal(h.review.version_refused, 4);
    receive(&s[1], "{'id':1,'method':'initialize'}");
    receive(&s[1], "{'id':5,'method':'tools/call','params':{'name':'t'}}");
    assert_int_equal(h.host.refused_clients, 1);
    for (int i = 0; i < 2; i++)
        session_release(&s[i]);
    close_run(&h);
}

static void a_refused_client_may_be_a_later_successful_one(void **state)
{
    struct session s[2];
    struct session_run h;

    (void)state;
    build(&h, SESSION(1));
    for (int i = 0; i < 2; i++)
        session_init(&s[i], &h.host);
    s[0].is_shared = true;
    receive(&s[0], MODERN);
    assert_true(h.host.shared_refused && !h.host.refused_clients);
    receive(&s[1], "{'id':1,'method':'initialize'}");
    assert_false(h.host.shared_refused || h.host.refused_clients);
    for (int i = 0; i < 2; i++)
        session_release(&s[i]);
    close_run(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_client_gets_the_next_recorded_session),
        cmocka_unit_test(a_client_without_initialize_gets_the_next_session),
        cmocka_unit_test(a_client_that_initializes_late_stays_in_its_session),
        cmocka_unit_test(a_second_initialize_gets_the_next_session),
        cmocka_unit_test(an_unreadable_recording_ends_the_session),
        cmocka_unit_test(an_unreadable_initialize_response_is_an_error),
        cmocka_unit_test(stateless_requests_use_no_session),
        cmocka_unit_test(a_client_whose_version_is_known_late_gets_matching_sessions),
        cmocka_unit_test(a_refused_client_without_any_response_is_remembered),
        cmocka_unit_test(a_refused_client_may_be_a_later_successful_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "index/attribute.h"

#include "loaded-index.h"

/* The n of what was sent, "+" before what came on another stream; an answer is ".", a reply to
 * a question "!". */
static void show(struct buf *to, const struct recorded_step *step, struct str n)
{
    buf_printf(to, " %s%s%.*s",
               step->other_stream && step->kind != STEP_CLIENT_RESPONSE ? "+" : "",
               step->kind == STEP_RESPONSE          ? "."
               : step->kind == STEP_CLIENT_RESPONSE ? "!"
                                                    : "",
               STR_ARG(n));
}

static void check(const char *recording, const char *want)
{
    loaded_index_check(recording, want, show);
}

#define META "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"
#define CALL(id) "c2s {'id':" #id ",'method':'tools/call','params':{'name':'t'}}\n"
#define MODERN(id) "c2s {'id':" #id ",'method':'tools/call','params':{'name':'t'," META "}}\n"
#define LISTEN(id) "c2s {'id':" #id ",'method':'subscriptions/listen','params':{" META "}}\n"
#define LIST(id) "c2s {'id':" #id ",'method':'tools/list'}\n"
#define ANSWER(id) "s2c {'id':" #id ",'result':{}}\n"
#define NOTIFICATION(n) "s2c {'method':'notifications/message','n':" #n "}\n"
#define TELL(id, n)                                                                            \
    "s2c {'method':'notifications/tools/list_changed','n':" #n                                 \
    ",'params':{'_meta':{'io.modelcontextprotocol/subscriptionId':" #id "}}}\n"
#define SERVER_REQUEST(id) "s2c {'id':" #id ",'method':'sampling/createMessage','n':" #id "}\n"
#define ASK_ABOUT(id, task)                                                                    \
    "s2c {'id':" #id ",'method':'sampling/createMessage','n':" #id                             \
    ",'params':{'_meta':{'io.modelcontextprotocol/related-task':{'taskId':'" task "'}}}}\n"
#define REPLY(id) "c2s {'id':" #id ",'result':{},'n':" #id "}\n"
#define RESULT(id, task)                                                                       \
    "c2s {'id':" #id ",'method':'tasks/result','params':{'taskId':'" task "'}}\n"
#define CANCEL(id) "c2s {'method':'notifications/cancelled','params':{'requestId':" #id "}}\n"
#define X(n) "session=1 x=" #n " " /* an exchange of a session, */
#define Y(n) "session=2 x=" #n " " /* of another one, */
#define Z(n) "x=" #n " "           /* and of none */
#define FIRST X(9) "c2s {'id':0,'method':'initialize'}\n" X(9) ANSWER(0)
#define GET X(8) /* a stream without a request */

static void messages_on_the_stream_of_a_call_belong_to_it(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(2) CALL(2) X(1) NOTIFICATION(5) X(2) NOTIFICATION(6) X(2)
              ANSWER(2) X(1) ANSWER(1),
          "1: .; 2: 5 .; 3: 6 .");
}

/* Clients without a session may use the same progress tokens. */
static void a_progress_token_belongs_to_its_exchange_first(void **state)
{
#define TRACKED(id)                                                                            \
    "c2s {'id':" #id                                                                           \
    ",'method':'tools/call','params':{'name':'t','_meta':{'progressToken':1}}}\n"
#define TRACKED_PROGRESS(k)                                                                    \
    "s2c {'method':'notifications/progress','n':" #k ",'params':{'progressToken':1}}\n"
    (void)state;
    check(Z(1) TRACKED(1) Z(2) TRACKED(1) Z(1) TRACKED_PROGRESS(5) Z(2) TRACKED_PROGRESS(6) Z(2)
              ANSWER(1) Z(1) ANSWER(1),
          "1: 5 .; 2: 6 .");
    check(X(1) TRACKED(1) GET TRACKED_PROGRESS(5) X(1) ANSWER(1), "1: +5 .");
}

/* Requests to a process that has ended are not open any more. */
static void a_new_process_has_no_open_requests(void **state)
{
    (void)state;
    check("conn=1 " CALL(1) "| {'type':'proc','ev':'start','us':2,'conn':1}\n"
                            "conn=1 " CALL(2) "conn=1 " NOTIFICATION(5) "conn=1 " ANSWER(2),
          "1:; 2: 5 .");
}

static void a_message_on_a_get_stream_belongs_to_the_only_open_call(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) GET NOTIFICATION(5) X(1) ANSWER(1), "1: .; 2: +5 .");
    check(FIRST X(1) CALL(1) GET SERVER_REQUEST(5) X(2) REPLY(5) X(1) ANSWER(1),
          "1: .; 2: +5 !5 .");
    check(FIRST Y(1) CALL(1) GET NOTIFICATION(5) Y(1) ANSWER(1), "1: . +5; 2: .");
}

static void a_message_between_calls_belongs_to_the_last_call(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(1) ANSWER(1) GET NOTIFICATION(5) X(2) CALL(2) X(2) ANSWER(2),
          "1: .; 2: . +5; 3: .");
}

static void with_several_open_calls_only_server_requests_are_attributed(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(2) CALL(2) GET NOTIFICATION(5) X(2) ANSWER(2) X(1) ANSWER(1),
          "1: . +5; 2: .; 3: .");
    check(FIRST X(1) CALL(1) X(2) CALL(2) GET SERVER_REQUEST(5) X(3) REPLY(5) X(2) ANSWER(2)
              X(1) ANSWER(1),
          "1: .; 2: .; 3: +5 !5 .");
    check(FIRST X(1) CALL(1) X(2) CALL(2) GET SERVER_REQUEST(5) X(1) ANSWER(1) X(3) REPLY(5)
              X(2) ANSWER(2),
          "1: .; 2: .; 3: +5 !5 .");
    check(FIRST X(1) CALL(1) X(2) CALL(2) GET SERVER_REQUEST(5) X(2) ANSWER(2) X(1) ANSWER(1),
          "1: .; 2: +5 .; 3: .");
}

static void list_requests_get_no_server_requests(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(2) LIST(2) GET SERVER_REQUEST(5) X(3) REPLY(5) X(2) ANSWER(2)
              X(1) ANSWER(1),
          "1: .; 2: +5 !5 .; 3: .");
}

static void a_server_request_of_a_task_belongs_to_its_result_request(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(2) RESULT(2, "T") GET ASK_ABOUT(5, "T") X(3) REPLY(5) X(1)
              ANSWER(1) X(2) ANSWER(2),
          "1: .; 2: .; 3: +5 !5 .");
}

/* Its stream is not that of everybody, though nothing is worked on there any more. */
static void a_message_for_a_cancelled_call_belongs_to_no_other_call(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(3) CANCEL(1) X(2) CALL(2) X(1) NOTIFICATION(5) X(2) ANSWER(2),
          "1: . +5; 2:; 3: .");
}

static void a_subscription_event_belongs_to_the_only_call_of_its_protocol(void **state)
{
    (void)state;
    check(Z(1) LISTEN(1) Z(1) TELL(1, 4) Z(2) MODERN(2) Z(1) TELL(1, 5) Z(2) ANSWER(2),
          "1:; 2: 4; 3: 5 .");
    check(Z(1) LISTEN(1) Z(3) CALL(3) Z(2) MODERN(2) Z(1) TELL(1, 5) Z(2) ANSWER(2) Z(3)
              ANSWER(3),
          "1:; 2: .; 3: 5 .");
    check(Z(1) LISTEN(1) Z(3) MODERN(3) Z(2) MODERN(2) Z(2) NOTIFICATION(4) Z(1) TELL(1, 5) Z(2)
              ANSWER(2),
          "1:; 2:; 3: 4 5 .");
}

static void a_client_that_only_initializes_does_not_change_attribution(void **state)
{
    (void)state;
    check(Z(9) "c2s {'id':0,'method':'initialize'}\n" Z(9) ANSWER(0) Z(1) CALL(1) Z(1) ANSWER(1)
              Z(7) "c2s {'id':0,'method':'initialize'}\n" Z(8) NOTIFICATION(5) Z(7) ANSWER(0),
          "1: .; 2: . +5; 3: .");
}

/* Attribution would be ambiguous, and the time for it is bounded. */
static void attribution_considers_a_limited_number_of_requests(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < MESSAGE_OWNER_MAX; i++)
        buf_printf(&text, "x=%d c2s {'id':1,'method':'tools/list'}\n", 100 + i);
    buf_add(&text, STR(Z(1) LISTEN(1) Z(2) MODERN(2) Z(2) NOTIFICATION(4) Z(1) TELL(1, 5)));
    {
        struct loaded_index s;

        loaded_index_init(&s, MATCH_SEQUENTIAL, buf_z(&text));
        assert_int_equal(s.index.steps[s.index.calls[MESSAGE_OWNER_MAX + 2].last_step].kind,
                         STEP_SUBSCRIPTION_EVENT);
        loaded_index_release(&s);
    }
    buf_release(&text);
}

#define END(x, who)                                                                            \
    "| {'type':'http','ev':'end','exchange':" #x ",'by':'" who "','clean':false}\n"

static void check_held(const char *recording, bool held)
{
    struct loaded_index s;

    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    assert_int_equal((s.index.calls[1].flags & CALL_CANCELLED) != 0, held);
    loaded_index_release(&s);
}

static void closing_a_stateless_exchange_cancels_its_request(void **state)
{
    (void)state;
    check_held(Z(1) MODERN(1) END(1, "client"), true);
    check_held(Z(1) MODERN(1) END(1, "server"), false);
    check_held(Z(1) MODERN(1) END(1, "error"), false);
    check_held(Z(1) MODERN(1) Z(1) ANSWER(1) END(1, "client"), false);
    check_held(Z(1) CALL(1) END(1, "client"), false);
    check_held(X(1) CALL(1) END(1, "client"), false);
}

/* Whichever side ended it: no client can resume the response. */
static void a_closed_request_gets_no_more_messages(void **state)
{
    (void)state;
    check(Z(1) LISTEN(1) Z(2) MODERN(2) Z(2) NOTIFICATION(4) END(2, "client") Z(3) MODERN(3)
              Z(1) TELL(1, 5) Z(3) ANSWER(3),
          "1:; 2: 4; 3: 5 .");
    check(Z(1) LISTEN(1) Z(2) MODERN(2) Z(2) NOTIFICATION(4) END(2, "error") Z(3) MODERN(3) Z(1)
              TELL(1, 5) Z(3) ANSWER(3),
          "1:; 2: 4; 3: 5 .");
}

/* A question is "?" and its n, an answer to it "!", with a "~" before what does not wait for
 * answers; the answer of the strand is "." */
static void show_deferred(struct buf *to, const struct recorded_step *step, struct str n)
{
    buf_printf(to, " %s%s%.*s", step->waits_for_client ? "" : "~",
               step->kind == STEP_SERVER_REQUEST    ? "?"
               : step->kind == STEP_CLIENT_RESPONSE ? "!"
                                                    : ".",
               step->kind == STEP_RESPONSE ? 0 : (int)n.len, n.at);
}

static void check_deferred(const char *recording, const char *want)
{
    loaded_index_check(recording, want, show_deferred);
}

#define CALL_P(id)                                                                             \
    "c2s {'id':" #id ",'method':'tools/call','params':{'_meta':{'progressToken':1}}}\n"
#define PROGRESS(n)                                                                            \
    "s2c {'method':'notifications/progress','params':{'progressToken':1},'n':" #n "}\n"
#define PING(id) "c2s {'id':" #id ",'method':'ping'}\n"
#define ONE "conn=1 "
#define OTHER "conn=2 "
#define FIRST_STDIO "c2s {'id':0,'method':'initialize'}\n" ANSWER(0)

static void the_call_answered_after_its_server_request_had_sent_it(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) SERVER_REQUEST(7) REPLY(7) ANSWER(2) ANSWER(1),
                   "1: .; 2: .; 3: ?7 !7 .");
    check_deferred(FIRST_STDIO CALL(1) CALL(2) SERVER_REQUEST(7) REPLY(7) ANSWER(1) ANSWER(2),
                   "1: .; 2: ?7 !7 .; 3: .");
}

static void a_call_answered_before_the_server_request_had_not_sent_it(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) SERVER_REQUEST(7) ANSWER(1) REPLY(7) ANSWER(2),
                   "1: .; 2: .; 3: ?7 !7 .");
}

static void the_first_of_two_server_requests_belongs_to_the_first_answered_call(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) SERVER_REQUEST(7) SERVER_REQUEST(8) REPLY(7)
                       REPLY(8) ANSWER(1) ANSWER(2),
                   "1: .; 2: ?7 !7 .; 3: ?8 !8 .");
    check_deferred(FIRST_STDIO CALL(1) CALL(2) SERVER_REQUEST(7) SERVER_REQUEST(8) REPLY(8)
                       REPLY(7) ANSWER(2) ANSWER(1),
                   "1: .; 2: ?7 !7 .; 3: ?8 !8 .");
}

static void a_server_request_after_another_belongs_to_the_same_request(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) SERVER_REQUEST(7) REPLY(7) SERVER_REQUEST(8)
                       REPLY(8) ANSWER(2) ANSWER(1),
                   "1: .; 2: .; 3: ?7 !7 ?8 !8 .");
}

static void a_server_request_after_all_candidates_belongs_to_other_calls(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) SERVER_REQUEST(7) REPLY(7) CANCEL(1) CANCEL(2)
                       CALL(3) CALL(4) SERVER_REQUEST(8) REPLY(8) ANSWER(4) ANSWER(3),
                   "1: .; 2: ?7 !7; 3:; 4: .; 5: ?8 !8 .");
}

static void reattribution_keeps_other_steps_in_place(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL_P(1) CALL(2) PROGRESS(0) SERVER_REQUEST(7) PROGRESS(1)
                       REPLY(7) PROGRESS(2) ANSWER(1) ANSWER(2),
                   "1: .; 2: .0 ?7 ~.1 !7 .2 .; 3: .");
}

static void an_ambiguous_message_belongs_to_the_oldest_call(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) SERVER_REQUEST(7) ANSWER(1) ANSWER(2),
                   "1: .; 2: ?7 ~.; 3: .");
    check_deferred(FIRST_STDIO CALL(1) CALL(2) SERVER_REQUEST(7) REPLY(7),
                   "1: .; 2: ?7 !7; 3:");
    check_deferred(CALL(1) CALL(2) SERVER_REQUEST(7), "1: ?7; 2:");
}

static void list_requests_and_initialize_get_no_server_requests(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) LIST(2) PING(3) SERVER_REQUEST(7) REPLY(7) ANSWER(3)
                       ANSWER(2) ANSWER(1),
                   "1: .; 2: ?7 !7 .; 3: .; 4: .");
}

static void attribution_separates_connections(void **state)
{
    (void)state;
    check_deferred(ONE CALL(1) ONE CALL(2) OTHER CALL(1) OTHER CALL(2) ONE SERVER_REQUEST(7)
                       ONE REPLY(7) OTHER ANSWER(1) ONE ANSWER(2),
                   "1:; 2: ?7 !7 .; 3: .; 4:");
}

/* Over HTTP the response to a server request has its own exchange. */
static void requests_of_one_exchange_are_attributed_by_order(void **state)
{
    (void)state;
    check_deferred("session=1 x=9 c2s {'id':0,'method':'initialize'}\n" X(9) ANSWER(0) X(1)
                       CALL(1) X(1) CALL(2) X(2) CALL(3) X(1) SERVER_REQUEST(7) X(3) REPLY(7)
                           X(2) ANSWER(3) X(1) ANSWER(2) X(1) ANSWER(1),
                   "1: .; 2: .; 3: ?7 !7 .; 4: .");
    check_deferred(X(1) CALL(1) X(2) CALL(2) X(2) SERVER_REQUEST(7) X(3) REPLY(7) X(1) ANSWER(1)
                       X(2) ANSWER(2),
                   "1: .; 2: ?7 !7 .");
}

static void beyond_the_limit_the_oldest_request_is_dropped(void **state)
{
    struct buf text, want;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&want, 1 << 20);
    buf_add(&text, STR(FIRST_STDIO CALL(1) CALL(2)));
    buf_add(&want, STR("1: . ?100; 2: ?101"));
    for (int i = 0; i <= ATTRIBUTE_DEFERRED_MAX; i++)
        buf_printf(&text, "s2c {'id':%d,'method':'sampling/createMessage','n':%d}\n", 100 + i,
                   100 + i);
    buf_add(&text, STR("c2s {'id':100,'result':{},'n':100}\n"));
    buf_add(&text, STR("c2s {'id':101,'result':{},'n':101}\n" ANSWER(1)));
    for (int i = 2; i <= ATTRIBUTE_DEFERRED_MAX; i++)
        buf_printf(&want, " ~?%d", 100 + i);
    buf_add(&want, STR(" ~!101 ~.; 3:"));
    check_deferred(buf_z(&text), buf_z(&want));
    buf_release(&text);
    buf_release(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_on_the_stream_of_a_call_belong_to_it),
        cmocka_unit_test(a_progress_token_belongs_to_its_exchange_first),
        cmocka_unit_test(a_new_process_has_no_open_requests),
        cmocka_unit_test(a_message_on_a_get_stream_belongs_to_the_only_open_call),
        cmocka_unit_test(a_message_between_calls_belongs_to_the_last_call),
        cmocka_unit_test(with_several_open_calls_only_server_requests_are_attributed),
        cmocka_unit_test(list_requests_get_no_server_requests),
        cmocka_unit_test(a_server_request_of_a_task_belongs_to_its_result_request),
        cmocka_unit_test(a_message_for_a_cancelled_call_belongs_to_no_other_call),
        cmocka_unit_test(a_subscription_event_belongs_to_the_only_call_of_its_protocol),
        cmocka_unit_test(a_client_that_only_initializes_does_not_change_attribution),
        cmocka_unit_test(attribution_considers_a_limited_number_of_requests),
        cmocka_unit_test(closing_a_stateless_exchange_cancels_its_request),
        cmocka_unit_test(a_closed_request_gets_no_more_messages),
        cmocka_unit_test(the_call_answered_after_its_server_request_had_sent_it),
        cmocka_unit_test(a_call_answered_before_the_server_request_had_not_sent_it),
        cmocka_unit_test(the_first_of_two_server_requests_belongs_to_the_first_answered_call),
        cmocka_unit_test(a_server_request_after_another_belongs_to_the_same_request),
        cmocka_unit_test(a_server_request_after_all_candidates_belongs_to_other_calls),
        cmocka_unit_test(reattribution_keeps_other_steps_in_place),
        cmocka_unit_test(an_ambiguous_message_belongs_to_the_oldest_call),
        cmocka_unit_test(list_requests_and_initialize_get_no_server_requests),
        cmocka_unit_test(attribution_separates_connections),
        cmocka_unit_test(requests_of_one_exchange_are_attributed_by_order),
        cmocka_unit_test(beyond_the_limit_the_oldest_request_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

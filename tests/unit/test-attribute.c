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
#define SAY(n) "s2c {'method':'notifications/message','n':" #n "}\n"
#define TELL(id, n)                                                                            \
    "s2c {'method':'notifications/tools/list_changed','n':" #n                                 \
    ",'params':{'_meta':{'io.modelcontextprotocol/subscriptionId':" #id "}}}\n"
#define ASK(id) "s2c {'id':" #id ",'method':'sampling/createMessage','n':" #id "}\n"
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
#define GET X(8) /* a stream that nothing was asked for on */

static void the_stream_of_a_call_is_its_own(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(2) CALL(2) X(1) SAY(5) X(2) SAY(6) X(2) ANSWER(2) X(1) ANSWER(1),
          "1: .; 2: 5 .; 3: 6 .");
}

static void what_comes_on_the_stream_of_a_get_is_of_the_only_call_of_its_session(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) GET SAY(5) X(1) ANSWER(1), "1: .; 2: +5 .");
    check(FIRST X(1) CALL(1) GET ASK(5) X(2) REPLY(5) X(1) ANSWER(1), "1: .; 2: +5 !5 .");
    check(FIRST Y(1) CALL(1) GET SAY(5) Y(1) ANSWER(1), "1: . +5; 2: .");
}

static void between_calls_it_comes_after_the_last(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(1) ANSWER(1) GET SAY(5) X(2) CALL(2) X(2) ANSWER(2),
          "1: .; 2: . +5; 3: .");
}

static void of_several_calls_nothing_tells_but_of_questions_what_came_later(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(2) CALL(2) GET SAY(5) X(2) ANSWER(2) X(1) ANSWER(1),
          "1: . +5; 2: .; 3: .");
    check(FIRST X(1) CALL(1) X(2) CALL(2) GET ASK(5) X(3) REPLY(5) X(2) ANSWER(2) X(1)
              ANSWER(1),
          "1: .; 2: .; 3: +5 !5 .");
    check(FIRST X(1) CALL(1) X(2) CALL(2) GET ASK(5) X(1) ANSWER(1) X(3) REPLY(5) X(2)
              ANSWER(2),
          "1: .; 2: .; 3: +5 !5 .");
    check(FIRST X(1) CALL(1) X(2) CALL(2) GET ASK(5) X(2) ANSWER(2) X(1) ANSWER(1),
          "1: .; 2: +5 .; 3: .");
}

static void lists_do_not_ask(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(2) LIST(2) GET ASK(5) X(3) REPLY(5) X(2) ANSWER(2) X(1)
              ANSWER(1),
          "1: .; 2: +5 !5 .; 3: .");
}

static void a_question_about_a_task_is_of_who_waits_for_its_result(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(2) RESULT(2, "T") GET ASK_ABOUT(5, "T") X(3) REPLY(5) X(1)
              ANSWER(1) X(2) ANSWER(2),
          "1: .; 2: .; 3: +5 !5 .");
}

/* Its stream is not that of everybody, though nothing is worked on there any more. */
static void what_comes_for_a_call_that_was_given_up_is_of_no_other_call(void **state)
{
    (void)state;
    check(FIRST X(1) CALL(1) X(3) CANCEL(1) X(2) CALL(2) X(1) SAY(5) X(2) ANSWER(2),
          "1: . +5; 2:; 3: .");
}

static void news_of_a_subscription_are_of_the_only_call_of_its_era(void **state)
{
    (void)state;
    check(Z(1) LISTEN(1) Z(1) TELL(1, 4) Z(2) MODERN(2) Z(1) TELL(1, 5) Z(2) ANSWER(2),
          "1:; 2: 4; 3: 5 .");
    check(Z(1) LISTEN(1) Z(3) CALL(3) Z(2) MODERN(2) Z(1) TELL(1, 5) Z(2) ANSWER(2) Z(3)
              ANSWER(3),
          "1:; 2: .; 3: 5 .");
    check(Z(1) LISTEN(1) Z(3) MODERN(3) Z(2) MODERN(2) Z(2) SAY(4) Z(1) TELL(1, 5) Z(2)
              ANSWER(2),
          "1:; 2:; 3: 4 5 .");
}

static void whoever_only_greets_is_of_no_concern_to_others(void **state)
{
    (void)state;
    check(Z(9) "c2s {'id':0,'method':'initialize'}\n" Z(9) ANSWER(0) Z(1) CALL(1) Z(1) ANSWER(1)
              Z(7) "c2s {'id':0,'method':'initialize'}\n" Z(8) SAY(5) Z(7) ANSWER(0),
          "1: .; 2: . +5; 3: .");
}

/* Nobody could say whose turn it was, and the time to look is bounded. */
static void of_very_many_requests_not_all_are_looked_at(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < ATTRIBUTE_MAX; i++)
        buf_printf(&text, "x=%d c2s {'id':1,'method':'tools/list'}\n", 100 + i);
    buf_add(&text, STR(Z(1) LISTEN(1) Z(2) MODERN(2) Z(2) SAY(4) Z(1) TELL(1, 5)));
    {
        struct loaded_index s;

        loaded_index_init(&s, MATCH_SEQUENTIAL, buf_z(&text));
        assert_int_equal(s.index.steps[s.index.calls[ATTRIBUTE_MAX + 2].last_step].kind,
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

static void to_close_the_exchange_is_to_cancel_where_there_are_no_sessions(void **state)
{
    (void)state;
    check_held(Z(1) MODERN(1) END(1, "client"), true);
    check_held(Z(1) MODERN(1) END(1, "server"), false);
    check_held(Z(1) MODERN(1) END(1, "error"), false);
    check_held(Z(1) MODERN(1) Z(1) ANSWER(1) END(1, "client"), false);
    check_held(Z(1) CALL(1) END(1, "client"), false);
    check_held(X(1) CALL(1) END(1, "client"), false);
}

/* Whoever ended it: nobody can come back for the answer. */
static void what_was_closed_is_not_worked_on_any_more(void **state)
{
    (void)state;
    check(Z(1) LISTEN(1) Z(2) MODERN(2) Z(2) SAY(4) END(2, "client") Z(3) MODERN(3) Z(1)
              TELL(1, 5) Z(3) ANSWER(3),
          "1:; 2: 4; 3: 5 .");
    check(Z(1) LISTEN(1) Z(2) MODERN(2) Z(2) SAY(4) END(2, "error") Z(3) MODERN(3) Z(1)
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

static void whoever_is_answered_after_the_question_was_had_asked(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) ASK(7) REPLY(7) ANSWER(2) ANSWER(1),
                   "1: .; 2: .; 3: ?7 !7 .");
    check_deferred(FIRST_STDIO CALL(1) CALL(2) ASK(7) REPLY(7) ANSWER(1) ANSWER(2),
                   "1: .; 2: ?7 !7 .; 3: .");
}

static void who_was_answered_before_had_not(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) ASK(7) ANSWER(1) REPLY(7) ANSWER(2),
                   "1: .; 2: .; 3: ?7 !7 .");
}

static void of_two_questions_the_first_answered_goes_with_the_first_answer(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) ASK(7) ASK(8) REPLY(7) REPLY(8) ANSWER(1)
                       ANSWER(2),
                   "1: .; 2: ?7 !7 .; 3: ?8 !8 .");
    check_deferred(FIRST_STDIO CALL(1) CALL(2) ASK(7) ASK(8) REPLY(8) REPLY(7) ANSWER(2)
                       ANSWER(1),
                   "1: .; 2: ?7 !7 .; 3: ?8 !8 .");
}

static void a_question_that_follows_an_answer_is_of_the_same_request(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) ASK(7) REPLY(7) ASK(8) REPLY(8) ANSWER(2)
                       ANSWER(1),
                   "1: .; 2: .; 3: ?7 !7 ?8 !8 .");
}

static void a_question_after_all_who_could_be_meant_is_of_others(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) ASK(7) REPLY(7) CANCEL(1) CANCEL(2) CALL(3)
                       CALL(4) ASK(8) REPLY(8) ANSWER(4) ANSWER(3),
                   "1: .; 2: ?7 !7; 3:; 4: .; 5: ?8 !8 .");
}

static void other_steps_of_the_strand_keep_their_place(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL_P(1) CALL(2) PROGRESS(0) ASK(7) PROGRESS(1) REPLY(7)
                       PROGRESS(2) ANSWER(1) ANSWER(2),
                   "1: .; 2: .0 ?7 ~.1 !7 .2 .; 3: .");
}

static void what_nothing_tells_goes_with_the_oldest(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) CALL(2) ASK(7) ANSWER(1) ANSWER(2),
                   "1: .; 2: ?7 ~.; 3: .");
    check_deferred(FIRST_STDIO CALL(1) CALL(2) ASK(7) REPLY(7), "1: .; 2: ?7 !7; 3:");
    check_deferred(CALL(1) CALL(2) ASK(7), "1: ?7; 2:");
}

static void lists_and_greetings_ask_nothing(void **state)
{
    (void)state;
    check_deferred(FIRST_STDIO CALL(1) LIST(2) PING(3) ASK(7) REPLY(7) ANSWER(3) ANSWER(2)
                       ANSWER(1),
                   "1: .; 2: ?7 !7 .; 3: .; 4: .");
}

static void connections_do_not_meet(void **state)
{
    (void)state;
    check_deferred(ONE CALL(1) ONE CALL(2) OTHER CALL(1) OTHER CALL(2) ONE ASK(7) ONE REPLY(7)
                       OTHER ANSWER(1) ONE ANSWER(2),
                   "1:; 2: ?7 !7 .; 3: .; 4:");
}

/* Over HTTP the answer to a question comes with an exchange of its own. */
static void requests_of_one_exchange_are_told_apart_by_order_too(void **state)
{
    (void)state;
    check_deferred("session=1 x=9 c2s {'id':0,'method':'initialize'}\n" X(9) ANSWER(0) X(1)
                       CALL(1) X(1) CALL(2) X(2) CALL(3) X(1) ASK(7) X(3) REPLY(7) X(2)
                           ANSWER(3) X(1) ANSWER(2) X(1) ANSWER(1),
                   "1: .; 2: .; 3: ?7 !7 .; 4: .");
    check_deferred(X(1) CALL(1) X(2) CALL(2) X(2) ASK(7) X(3) REPLY(7) X(1) ANSWER(1) X(2)
                       ANSWER(2),
                   "1: .; 2: ?7 !7 .");
}

static void of_too_many_the_oldest_is_given_up(void **state)
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
        cmocka_unit_test(the_stream_of_a_call_is_its_own),
        cmocka_unit_test(what_comes_on_the_stream_of_a_get_is_of_the_only_call_of_its_session),
        cmocka_unit_test(between_calls_it_comes_after_the_last),
        cmocka_unit_test(of_several_calls_nothing_tells_but_of_questions_what_came_later),
        cmocka_unit_test(lists_do_not_ask),
        cmocka_unit_test(a_question_about_a_task_is_of_who_waits_for_its_result),
        cmocka_unit_test(what_comes_for_a_call_that_was_given_up_is_of_no_other_call),
        cmocka_unit_test(news_of_a_subscription_are_of_the_only_call_of_its_era),
        cmocka_unit_test(whoever_only_greets_is_of_no_concern_to_others),
        cmocka_unit_test(of_very_many_requests_not_all_are_looked_at),
        cmocka_unit_test(to_close_the_exchange_is_to_cancel_where_there_are_no_sessions),
        cmocka_unit_test(what_was_closed_is_not_worked_on_any_more),
        cmocka_unit_test(whoever_is_answered_after_the_question_was_had_asked),
        cmocka_unit_test(who_was_answered_before_had_not),
        cmocka_unit_test(of_two_questions_the_first_answered_goes_with_the_first_answer),
        cmocka_unit_test(a_question_that_follows_an_answer_is_of_the_same_request),
        cmocka_unit_test(a_question_after_all_who_could_be_meant_is_of_others),
        cmocka_unit_test(other_steps_of_the_strand_keep_their_place),
        cmocka_unit_test(what_nothing_tells_goes_with_the_oldest),
        cmocka_unit_test(lists_and_greetings_ask_nothing),
        cmocka_unit_test(connections_do_not_meet),
        cmocka_unit_test(requests_of_one_exchange_are_told_apart_by_order_too),
        cmocka_unit_test(of_too_many_the_oldest_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

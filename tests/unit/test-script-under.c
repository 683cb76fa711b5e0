#include "engine/script-under.h"

#include "scripted.h"

/* The n of what was sent, "+" before what came on another stream; an answer is ".", a reply to
 * a question "!". */
static void show(struct buf *to, const struct script_step *step, struct str n)
{
    buf_printf(to, " %s%s%.*s", step->apart && step->kind != STEP_REPLY ? "+" : "",
               step->kind == STEP_ANSWER  ? "."
               : step->kind == STEP_REPLY ? "!"
                                          : "",
               STR_ARG(n));
}

static void check(const char *recording, const char *want)
{
    scripted_check(recording, want, show);
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
    for (int i = 0; i < SCRIPT_UNDER_MAX; i++)
        buf_printf(&text, "x=%d c2s {'id':1,'method':'tools/list'}\n", 100 + i);
    buf_add(&text, STR(Z(1) LISTEN(1) Z(2) MODERN(2) Z(2) SAY(4) Z(1) TELL(1, 5)));
    {
        struct scripted s;

        scripted_init(&s, MATCH_SEQUENTIAL, buf_z(&text));
        assert_int_equal(s.script.steps[s.script.ops[SCRIPT_UNDER_MAX + 2].last].kind,
                         STEP_EVENT);
        scripted_release(&s);
    }
    buf_release(&text);
}

#define END(x, who)                                                                            \
    "| {'type':'http','ev':'end','exchange':" #x ",'by':'" who "','clean':false}\n"

static void check_held(const char *recording, bool held)
{
    struct scripted s;

    scripted_init(&s, MATCH_SEQUENTIAL, recording);
    assert_int_equal((s.script.ops[1].flags & STRAND_CANCELLED) != 0, held);
    scripted_release(&s);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "engine/suspense.h"

#include "scripted.h"

/* A question is "?" and its n, an answer to it "!", with a "~" before what does not wait for
 * answers; the answer of the strand is "." */
static void show(struct buf *to, const struct script_step *step, struct str n)
{
    buf_printf(to, " %s%s%.*s", step->waits ? "" : "~",
               step->kind == STEP_ASK     ? "?"
               : step->kind == STEP_REPLY ? "!"
                                          : ".",
               step->kind == STEP_ANSWER ? 0 : (int)n.len, n.at);
}

static void check(const char *recording, const char *want)
{
    scripted_check(recording, want, show);
}

#define CALL(id) "c2s {'id':" #id ",'method':'tools/call','params':{'name':'t'}}\n"
#define ANSWER(id) "s2c {'id':" #id ",'result':{}}\n"
#define ASK(id) "s2c {'id':" #id ",'method':'sampling/createMessage','n':" #id "}\n"
#define REPLY(id) "c2s {'id':" #id ",'result':{},'n':" #id "}\n"
#define CALL_P(id)                                                                             \
    "c2s {'id':" #id ",'method':'tools/call','params':{'_meta':{'progressToken':1}}}\n"
#define PROGRESS(n)                                                                            \
    "s2c {'method':'notifications/progress','params':{'progressToken':1},'n':" #n "}\n"
#define CANCEL(id) "c2s {'method':'notifications/cancelled','params':{'requestId':" #id "}}\n"
#define LIST(id) "c2s {'id':" #id ",'method':'tools/list'}\n"
#define PING(id) "c2s {'id':" #id ",'method':'ping'}\n"
#define ONE "conn=1 "
#define OTHER "conn=2 "
#define FIRST "c2s {'id':0,'method':'initialize'}\n" ANSWER(0)

static void whoever_is_answered_after_the_question_was_had_asked(void **state)
{
    (void)state;
    check(FIRST CALL(1) CALL(2) ASK(7) REPLY(7) ANSWER(2) ANSWER(1), "1: .; 2: .; 3: ?7 !7 .");
    check(FIRST CALL(1) CALL(2) ASK(7) REPLY(7) ANSWER(1) ANSWER(2), "1: .; 2: ?7 !7 .; 3: .");
}

static void who_was_answered_before_had_not(void **state)
{
    (void)state;
    check(FIRST CALL(1) CALL(2) ASK(7) ANSWER(1) REPLY(7) ANSWER(2), "1: .; 2: .; 3: ?7 !7 .");
}

static void of_two_questions_the_first_answered_goes_with_the_first_answer(void **state)
{
    (void)state;
    check(FIRST CALL(1) CALL(2) ASK(7) ASK(8) REPLY(7) REPLY(8) ANSWER(1) ANSWER(2),
          "1: .; 2: ?7 !7 .; 3: ?8 !8 .");
    check(FIRST CALL(1) CALL(2) ASK(7) ASK(8) REPLY(8) REPLY(7) ANSWER(2) ANSWER(1),
          "1: .; 2: ?7 !7 .; 3: ?8 !8 .");
}

static void a_question_that_follows_an_answer_is_of_the_same_request(void **state)
{
    (void)state;
    check(FIRST CALL(1) CALL(2) ASK(7) REPLY(7) ASK(8) REPLY(8) ANSWER(2) ANSWER(1),
          "1: .; 2: .; 3: ?7 !7 ?8 !8 .");
}

static void a_question_after_all_who_could_be_meant_is_of_others(void **state)
{
    (void)state;
    check(FIRST CALL(1) CALL(2) ASK(7) REPLY(7) CANCEL(1) CANCEL(2) CALL(3) CALL(4) ASK(8)
              REPLY(8) ANSWER(4) ANSWER(3),
          "1: .; 2: ?7 !7; 3:; 4: .; 5: ?8 !8 .");
}

static void other_steps_of_the_strand_keep_their_place(void **state)
{
    (void)state;
    check(FIRST CALL_P(1) CALL(2) PROGRESS(0) ASK(7) PROGRESS(1) REPLY(7) PROGRESS(2) ANSWER(1)
              ANSWER(2),
          "1: .; 2: .0 ?7 ~.1 !7 .2 .; 3: .");
}

static void what_nothing_tells_goes_with_the_oldest(void **state)
{
    (void)state;
    check(FIRST CALL(1) CALL(2) ASK(7) ANSWER(1) ANSWER(2), "1: .; 2: ?7 ~.; 3: .");
    check(FIRST CALL(1) CALL(2) ASK(7) REPLY(7), "1: .; 2: ?7 !7; 3:");
    check(CALL(1) CALL(2) ASK(7), "1: ?7; 2:");
}

static void lists_and_greetings_ask_nothing(void **state)
{
    (void)state;
    check(FIRST CALL(1) LIST(2) PING(3) ASK(7) REPLY(7) ANSWER(3) ANSWER(2) ANSWER(1),
          "1: .; 2: ?7 !7 .; 3: .; 4: .");
}

static void connections_do_not_meet(void **state)
{
    (void)state;
    check(ONE CALL(1) ONE CALL(2) OTHER CALL(1) OTHER CALL(2) ONE ASK(7) ONE REPLY(7)
              OTHER ANSWER(1) ONE ANSWER(2),
          "1:; 2: ?7 !7 .; 3: .; 4:");
}

#define X(n) "session=1 x=" #n " "

/* Over HTTP the answer to a question comes with an exchange of its own. */
static void requests_of_one_exchange_are_told_apart_by_order_too(void **state)
{
    (void)state;
    check("session=1 x=9 c2s {'id':0,'method':'initialize'}\n" X(9) ANSWER(0) X(1) CALL(1) X(1)
              CALL(2) X(2) CALL(3) X(1) ASK(7) X(3) REPLY(7) X(2) ANSWER(3) X(1) ANSWER(2) X(1)
                  ANSWER(1),
          "1: .; 2: .; 3: ?7 !7 .; 4: .");
    check(X(1) CALL(1) X(2) CALL(2) X(2) ASK(7) X(3) REPLY(7) X(1) ANSWER(1) X(2) ANSWER(2),
          "1: .; 2: ?7 !7 .");
}

static void of_too_many_the_oldest_is_given_up(void **state)
{
    struct buf text, want;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&want, 1 << 20);
    buf_add(&text, STR(FIRST CALL(1) CALL(2)));
    buf_add(&want, STR("1: . ?100; 2: ?101"));
    for (int i = 0; i <= SUSPENSE_MAX; i++)
        buf_printf(&text, "s2c {'id':%d,'method':'sampling/createMessage','n':%d}\n", 100 + i,
                   100 + i);
    buf_add(&text, STR("c2s {'id':100,'result':{},'n':100}\n"));
    buf_add(&text, STR("c2s {'id':101,'result':{},'n':101}\n" ANSWER(1)));
    for (int i = 2; i <= SUSPENSE_MAX; i++)
        buf_printf(&want, " ~?%d", 100 + i);
    buf_add(&want, STR(" ~!101 ~.; 3:"));
    check(buf_z(&text), buf_z(&want));
    buf_release(&text);
    buf_release(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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

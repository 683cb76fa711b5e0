#include "engine/stage.h"

#include "scripted.h"

/* How long a question is waited for. */
enum { PATIENCE_US = 60000000 };

/* A script, a stage, and what comes out of it: one line per action. */
struct theatre {
    struct action_sink out;
    struct scripted of;
    struct say say;
    struct stage stage;
    uint64_t timers;
    uint64_t patience; /* the timer of the last question */
    int64_t delay_us;  /* of the last other one */
    struct buf text;
};

static void write_down(struct action_sink *self, const struct action *a)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    struct theatre *t = (struct theatre *)self;
    size_t from = t->text.len;

    assert_int_not_equal(a->kind, ACTION_FINISH);
    if (a->kind == ACTION_SET_TIMER && a->delay_us == PATIENCE_US) {
        t->patience = a->timer;
        return;
    }
    if (a->kind == ACTION_REPORT)
        buf_printf(&t->text, "[%s] ", levels[a->level]);
    t->delay_us = a->delay_us;
    if (a->kind == ACTION_SET_TIMER)
        buf_printf(&t->text, "[timer %llu]", (unsigned long long)a->timer);
    buf_add(&t->text, a->text);
    buf_add_ch(&t->text, '\n');
    for (char *c = t->text.at + from; c < t->text.at + t->text.len; c++)
        *c = *c == '"' ? '\'' : *c;
}

static void raise_curtain(struct theatre *t, const char *recording)
{
    *t = (struct theatre){ .out = { write_down } };
    buf_init(&t->text, 1 << 20);
    scripted_init(&t->of, MATCH_SEQUENTIAL, recording);
    say_init(&t->say, &t->out);
    stage_init(&t->stage, &t->of.script, &t->say, 0, &t->timers);
}

static void drop_curtain(struct theatre *t)
{
    stage_release(&t->stage);
    say_release(&t->say);
    scripted_release(&t->of);
    buf_release(&t->text);
}

static void play(struct theatre *t, size_t index, const char *live, bool again)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, live), &s.arena);

    stage_play(&t->stage, (uint32_t)index + 1, &m, again);
    /* What it keeps of the request must be its own. */
    terse_scanned_release(&s);
}

static bool answer(struct theatre *t, const char *id)
{
    struct arena a = { 0 };
    struct terse_scanned s;
    struct str text = arena_printf(&a, "{'id':%s,'result':{}}", id);
    struct mcp_message m = mcp_classify(terse_scan(&s, text.at), &s.arena);
    bool heard = stage_hear_answer(&t->stage, &m);

    terse_scanned_release(&s);
    arena_release(&a);
    return heard;
}

static void cancel(struct theatre *t, const char *id)
{
    struct terse_scanned s;

    stage_hear_cancel(&t->stage, terse_scan(&s, id));
    terse_scanned_release(&s);
}

static void reset(struct theatre *t, const char *capabilities)
{
    struct terse_scanned s;

    stage_reset(&t->stage, terse_scan(&s, capabilities), false);
    terse_scanned_release(&s);
}

static void what_the_client_minted_is_put_in_and_every_other_byte_kept(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t,
                  "c2s {'id':1,'method':'a','params':{'_meta':{'progressToken':1}}}\n"
                  "s2c { 'method':'notifications/progress' ,'params':{'progress':1.50,"
                  "'progressToken':1}}\n"
                  "s2c {'result':{'id':1,'text':'`u00e9 1'} , 'id' : 1, 'jsonrpc':'2.0'}\n");
    play(&t, 0, "{'id':'x','method':'a','params':{'_meta':{'progressToken':'tok'}}}", false);
    assert_terse(&t, "{ 'method':'notifications/progress' ,'params':{'progress':1.50,"
                     "'progressToken':'tok'}}\n[timer 1]\n");
    stage_hear_timer(&t.stage, 1);
    assert_terse(&t, "{'result':{'id':1,'text':'\\u00e9 1'} , 'id' : 'x', 'jsonrpc':'2.0'}\n");
    drop_curtain(&t);
}

static void a_question_holds_up_what_followed_its_answer(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'a'}\n"
                      "s2c {'id':5,'method':'q'}\n"
                      "s2c {'method':'n1'}\n"
                      "c2s {'id':5,'result':{}}\n"
                      "s2c {'method':'n2'}\n"
                      "s2c {'id':1,'result':{}}\n");
    play(&t, 0, "{'id':9,'method':'a'}", false);
    assert_terse(&t, "{'id':5,'method':'q'}\n{'method':'n1'}\n");
    assert_false(answer(&t, "6"));
    assert_false(answer(&t, "'5'"));
    assert_terse(&t, "");
    assert_true(answer(&t, "5.0"));
    assert_terse(&t, "{'method':'n2'}\n{'id':9,'result':{}}\n");
    assert_false(answer(&t, "5"));
    drop_curtain(&t);
}

static void strands_do_not_wait_for_each_other(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'a'}\n"
                      "s2c {'id':5,'method':'q'}\n"
                      "c2s {'id':5,'result':{}}\n"
                      "s2c {'id':1,'result':{'one':1}}\n"
                      "c2s {'id':2,'method':'b'}\n"
                      "s2c {'id':2,'result':{'two':2}}\n");
    play(&t, 0, "{'id':1,'method':'a'}", false);
    play(&t, 1, "{'id':2,'method':'b'}", false);
    assert_terse(&t, "{'id':5,'method':'q'}\n{'id':2,'result':{'two':2}}\n");
    assert_true(answer(&t, "5"));
    assert_terse(&t, "{'id':1,'result':{'one':1}}\n");
    drop_curtain(&t);
}

#define ONE_QUESTION                                                                           \
    "c2s {'id':1,'method':'a'}\n"                                                              \
    "s2c {'id':5,'method':'q'}\n"                                                              \
    "c2s {'id':5,'result':{}}\n"                                                               \
    "s2c {'id':1,'result':{}}\n"

static void two_questions_under_way_have_different_ids(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, ONE_QUESTION);
    play(&t, 0, "{'id':'x','method':'a'}", false);
    play(&t, 0, "{'id':'y','method':'a'}", false);
    play(&t, 0, "{'id':'z','method':'a'}", false);
    assert_terse(&t, "{'id':5,'method':'q'}\n"
                     "{'id':'mcpreel-1','method':'q'}\n"
                     "{'id':'mcpreel-2','method':'q'}\n");
    assert_true(answer(&t, "'mcpreel-2'"));
    assert_true(answer(&t, "5"));
    assert_true(answer(&t, "'mcpreel-1'"));
    assert_terse(&t,
                 "{'id':'z','result':{}}\n{'id':'x','result':{}}\n{'id':'y','result':{}}\n");
    drop_curtain(&t);
}

static void a_question_goes_only_to_a_client_that_can_answer_it(void **state)
{
    static const char recording[] = "c2s {'id':1,'method':'a'}\n"
                                    "s2c {'id':5,'method':'sampling/createMessage'}\n"
                                    "c2s {'id':5,'result':{}}\n"
                                    "s2c {'id':6,'method':'ping'}\n"
                                    "c2s {'id':6,'result':{}}\n"
                                    "s2c {'id':1,'result':{}}\n";
    struct theatre t;

    (void)state;
    raise_curtain(&t, recording);
    reset(&t, "{'roots':{}}");
    play(&t, 0, "{'id':1,'method':'a'}", false);
    assert_terse(&t, "[warn] left out sampling/createMessage: this client does not support it\n"
                     "{'id':6,'method':'ping'}\n");
    assert_true(answer(&t, "6"));
    assert_terse(&t, "{'id':1,'result':{}}\n");
    reset(&t, "{'sampling':{}}");
    play(&t, 0, "{'id':1,'method':'a'}", false);
    assert_terse(&t, "{'id':5,'method':'sampling/createMessage'}\n");
    drop_curtain(&t);
}

static void again_sends_only_progress_and_the_answer(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'a','params':{'_meta':{'progressToken':1}}}\n"
                      "s2c {'method':'n'}\n"
                      "s2c {'id':5,'method':'q'}\n"
                      "c2s {'id':5,'result':{}}\n"
                      "s2c {'method':'notifications/progress','params':{'progressToken':1}}\n"
                      "s2c {'id':1,'result':{}}\n");
    play(&t, 0, "{'id':1,'method':'a','params':{'_meta':{'progressToken':7}}}", true);
    assert_terse(&t, "{'method':'notifications/progress','params':{'progressToken':7}}\n"
                     "[timer 1]\n");
    assert_true(stage_needs_time(&t.stage));
    stage_hear_timer(&t.stage, 2);
    assert_terse(&t, "");
    stage_hear_timer(&t.stage, 1);
    assert_false(stage_needs_time(&t.stage));
    assert_terse(&t, "{'id':1,'result':{}}\n");
    drop_curtain(&t);
}

static void a_cancelled_strand_says_nothing_more(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, ONE_QUESTION);
    play(&t, 0, "{'id':1,'method':'a'}", false);
    play(&t, 0, "{'id':'1','method':'a'}", false);
    buf_clear(&t.text);
    cancel(&t, "1.0");
    assert_false(answer(&t, "5"));
    assert_true(answer(&t, "'mcpreel-1'"));
    assert_terse(&t, "{'id':'1','result':{}}\n");
    cancel(&t, "1");
    cancel(&t, "null");
    drop_curtain(&t);
}

static void a_request_recorded_without_answer_gets_an_error(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'a'}\ns2c {'method':'n'}\n");
    play(&t, 0, "{'id':0,'method':'a'}", false);
    assert_terse(&t, "{'method':'n'}\n"
                     "{'jsonrpc':'2.0','id':0,'error':{'code':-32000,'message':"
                     "'this request was recorded without an answer'}}\n");
    drop_curtain(&t);
}

static void one_that_was_cancelled_is_held_until_it_is_again(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'a'}\n"
                      "s2c {'method':'n'}\n"
                      "c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n");
    play(&t, 0, "{'id':7,'method':'a'}", false);
    assert_terse(&t, "{'method':'n'}\n");
    assert_non_null(t.stage.plays);
    stage_hear_notification(&t.stage, STR("notifications/initialized"));
    assert_terse(&t, "");
    cancel(&t, "7");
    assert_null(t.stage.plays);
    assert_terse(&t, "");
    drop_curtain(&t);
}

static void what_follows_initialized_waits_for_it(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'initialize'}\n"
                      "s2c {'id':1,'result':{}}\n"
                      "c2s {'method':'notifications/initialized'}\n"
                      "s2c {'method':'n'}\n");
    play(&t, 0, "{'id':1,'method':'initialize'}", false);
    assert_terse(&t, "{'id':1,'result':{}}\n");
    stage_hear_notification(&t.stage, STR("notifications/initialized"));
    assert_terse(&t, "{'method':'n'}\n");
    stage_hear_notification(&t.stage, STR("notifications/initialized"));
    assert_terse(&t, "");
    /* In a session that is ready there is nothing to wait for. */
    play(&t, 0, "{'id':2,'method':'initialize'}", false);
    assert_terse(&t, "{'id':2,'result':{}}\n{'method':'n'}\n");
    drop_curtain(&t);
}

static void a_reset_forgets_all_that_is_under_way(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, ONE_QUESTION);
    play(&t, 0, "{'id':1,'method':'a'}", false);
    stage_hear_notification(&t.stage, STR("notifications/initialized"));
    buf_clear(&t.text);
    reset(&t, "{}");
    assert_null(map_get(&t.stage.heard, STR("notifications/initialized")));
    assert_null(t.stage.plays);
    assert_false(answer(&t, "5"));
    /* The recorded id is free again. */
    play(&t, 0, "{'id':1,'method':'a'}", false);
    assert_terse(&t, "{'id':5,'method':'q'}\n");
    drop_curtain(&t);
}

static void the_opening_is_nobodys_request(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "s2c {'method':'n'}\n"
                      "s2c {'id':1,'method':'ping'}\n"
                      "c2s {'id':1,'result':{}}\n"
                      "s2c {'method':'m'}\n");
    stage_play(&t.stage, t.of.script.sessions[0].opening, NULL, false);
    assert_terse(&t, "{'method':'n'}\n{'id':1,'method':'ping'}\n");
    assert_true(answer(&t, "1"));
    assert_terse(&t, "{'method':'m'}\n");
    assert_null(t.stage.plays);
    assert_int_equal(t.stage.answered, 0);
    drop_curtain(&t);
}

static void the_version_steps_back_for_an_older_client_only(void **state)
{
    static const struct {
        const char *live, *want;
    } rows[] = {
        { "'2024-11-05'", "'2024-11-05'" },
        { "'2025-06-18'", "'2025-06-18'" },
        { "'2025-11-25'", "'2025-06-18'" },
        { "'2026-07-28'", "'2025-06-18'" },
        { "'1999-01-01'", "'2025-06-18'" },
        { "null", "'2025-06-18'" },
        { "20241105", "'2025-06-18'" },
        { "''", "'2025-06-18'" },
        { "'2024`u002d11-05'", "'2024\\u002d11-05'" },
    };
    struct theatre t;

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'initialize'}\n"
                      "s2c {'id':1,'result':{'protocolVersion':'2025-06-18'}}\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf live, want;

        buf_init(&live, 1 << 10);
        buf_init(&want, 1 << 10);
        buf_printf(&live, "{'id':1,'method':'initialize','params':{'protocolVersion':%s}}",
                   rows[i].live);
        buf_printf(&want, "{'id':1,'result':{'protocolVersion':%s}}\n", rows[i].want);
        play(&t, 0, buf_z(&live), false);
        assert_terse(&t, buf_z(&want));
        buf_release(&live);
        buf_release(&want);
    }
    drop_curtain(&t);
}

static void only_a_greeting_has_a_version_to_step_back(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'own/upgrade'}\n"
                      "s2c {'id':1,'result':{'protocolVersion':'2025-06-18'}}\n");
    play(&t, 0, "{'id':1,'method':'own/upgrade','params':{'protocolVersion':'2024-11-05'}}",
         false);
    assert_terse(&t, "{'id':1,'result':{'protocolVersion':'2025-06-18'}}\n");
    drop_curtain(&t);
}

static void a_question_is_given_up_after_a_minute(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, ONE_QUESTION);
    play(&t, 0, "{'id':1,'method':'a'}", false);
    assert_false(stage_needs_time(&t.stage)); /* who has closed its end answers no more */
    buf_clear(&t.text);
    stage_hear_timer(&t.stage, t.patience);
    assert_terse(&t, "[warn] no answer to q after 60 s; going on\n{'id':1,'result':{}}\n");
    assert_false(answer(&t, "5"));
    stage_hear_timer(&t.stage, t.patience);
    assert_terse(&t, "");
    drop_curtain(&t);
}

static void another_answer_than_the_recorded_one_is_told(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'a'}\n"
                      "s2c {'id':5,'method':'q'}\n"
                      "c2s {'id':5,'result':{'x':1}}\n"
                      "s2c {'id':1,'result':{}}\n");
    play(&t, 0, "{'id':1,'method':'a'}", false);
    buf_clear(&t.text);
    assert_true(answer(&t, "5"));
    assert_terse(&t, "[info] the client answers q otherwise than recorded\n"
                     "{'id':1,'result':{}}\n");
    drop_curtain(&t);
}

static void with_a_pace_messages_wait_as_they_did(void **state)
{
    struct theatre t;

    (void)state;
    raise_curtain(&t, "@1000000 c2s {'id':1,'method':'a'}\n"
                      "@1500000 s2c {'method':'n'}\n"
                      "@1500000 s2c {'method':'m'}\n"
                      "@3500000 s2c {'id':1,'result':{}}\n");
    t.stage.pace = 2;
    t.stage.now_us = 7000000;
    play(&t, 0, "{'id':1,'method':'a'}", false);
    assert_terse(&t, "[timer 1]\n");
    t.stage.now_us = 8000100; /* a little late: the next is counted from when it was due */
    stage_hear_timer(&t.stage, 1);
    assert_terse(&t, "{'method':'n'}\n{'method':'m'}\n[timer 2]\n");
    assert_int_equal(t.delay_us, 3999900);
    t.stage.now_us = 12000000;
    stage_hear_timer(&t.stage, 2);
    assert_terse(&t, "{'id':1,'result':{}}\n");
    /* What is only an answer waits as long as the answer did. */
    play(&t, 0, "{'id':1,'method':'a'}", true);
    assert_terse(&t, "[timer 3]\n");
    assert_int_equal(t.delay_us, 5000000);
    drop_curtain(&t);
}

static void a_blocked_strand_waits_for_its_topic_or_a_moment(void **state)
{
    struct theatre t;
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, "{'id':9,'method':'a'}"), &s.arena);
    struct stage_block by = { STR("T"), 0 };

    (void)state;
    raise_curtain(&t, "c2s {'id':1,'method':'a'}\ns2c {'id':1,'result':{}}\n");
    stage_play_blocked(&t.stage, 1, &m, false, by);
    assert_int_equal(t.delay_us, 100000);
    stage_unblock(&t.stage, STR("U"));
    assert_terse(&t, "[timer 1]\n");
    assert_true(stage_needs_time(&t.stage));
    stage_unblock(&t.stage, STR("T"));
    assert_terse(&t, "{'id':9,'result':{}}\n");
    stage_play_blocked(&t.stage, 1, &m, false, by);
    stage_unblock(&t.stage, STR_NONE);
    assert_terse(&t, "[timer 2]\n{'id':9,'result':{}}\n");
    stage_play_blocked(&t.stage, 1, &m, false, by);
    stage_block(&t.stage, (struct stage_block){ STR("U"), 0 });
    stage_block(&t.stage, by);
    stage_hear_timer(&t.stage, 3);
    assert_terse(&t, "[timer 3]\n[timer 4]\n");
    stage_hear_timer(&t.stage, 4);
    assert_terse(&t, "{'id':9,'result':{}}\n");
    assert_null(t.stage.plays);
    terse_scanned_release(&s);
    drop_curtain(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_client_minted_is_put_in_and_every_other_byte_kept),
        cmocka_unit_test(a_question_holds_up_what_followed_its_answer),
        cmocka_unit_test(strands_do_not_wait_for_each_other),
        cmocka_unit_test(two_questions_under_way_have_different_ids),
        cmocka_unit_test(a_question_goes_only_to_a_client_that_can_answer_it),
        cmocka_unit_test(again_sends_only_progress_and_the_answer),
        cmocka_unit_test(a_cancelled_strand_says_nothing_more),
        cmocka_unit_test(a_request_recorded_without_answer_gets_an_error),
        cmocka_unit_test(one_that_was_cancelled_is_held_until_it_is_again),
        cmocka_unit_test(what_follows_initialized_waits_for_it),
        cmocka_unit_test(a_reset_forgets_all_that_is_under_way),
        cmocka_unit_test(the_opening_is_nobodys_request),
        cmocka_unit_test(the_version_steps_back_for_an_older_client_only),
        cmocka_unit_test(only_a_greeting_has_a_version_to_step_back),
        cmocka_unit_test(a_question_is_given_up_after_a_minute),
        cmocka_unit_test(another_answer_than_the_recorded_one_is_told),
        cmocka_unit_test(with_a_pace_messages_wait_as_they_did),
        cmocka_unit_test(a_blocked_strand_waits_for_its_topic_or_a_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

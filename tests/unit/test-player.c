#include "player-run.h"

static void a_server_request_delays_the_steps_after_its_response(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'a'}\n"
                        "s2c {'id':5,'method':'q'}\n"
                        "s2c {'method':'n1'}\n"
                        "c2s {'id':5,'result':{}}\n"
                        "s2c {'method':'n2'}\n"
                        "s2c {'id':1,'result':{}}\n");
    player_run_play(&t, 0, "{'id':9,'method':'a'}", false);
    assert_terse(&t, "{'id':5,'method':'q'}\n{'method':'n1'}\n");
    assert_false(player_run_respond(&t, "6"));
    assert_false(player_run_respond(&t, "'5'"));
    assert_terse(&t, "");
    assert_true(player_run_respond(&t, "5.0"));
    assert_terse(&t, "{'method':'n2'}\n{'id':9,'result':{}}\n");
    assert_false(player_run_respond(&t, "5"));
    player_run_release(&t);
}

static void calls_do_not_wait_for_each_other(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'a'}\n"
                        "s2c {'id':5,'method':'q'}\n"
                        "c2s {'id':5,'result':{}}\n"
                        "s2c {'id':1,'result':{'one':1}}\n"
                        "c2s {'id':2,'method':'b'}\n"
                        "s2c {'id':2,'result':{'two':2}}\n");
    player_run_play(&t, 0, "{'id':1,'method':'a'}", false);
    player_run_play(&t, 1, "{'id':2,'method':'b'}", false);
    assert_terse(&t, "{'id':5,'method':'q'}\n{'id':2,'result':{'two':2}}\n");
    assert_true(player_run_respond(&t, "5"));
    assert_terse(&t, "{'id':1,'result':{'one':1}}\n");
    player_run_release(&t);
}

static void a_repeated_call_sends_only_progress_and_the_response(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'a','params':{'_meta':{'progressToken':1}}}\n"
                        "s2c {'method':'n'}\n"
                        "s2c {'id':5,'method':'q'}\n"
                        "c2s {'id':5,'result':{}}\n"
                        "s2c {'method':'notifications/progress','params':{'progressToken':1}}\n"
                        "s2c {'id':1,'result':{}}\n");
    player_run_play(&t, 0, "{'id':1,'method':'a','params':{'_meta':{'progressToken':7}}}",
                    true);
    assert_terse(&t, "{'method':'notifications/progress','params':{'progressToken':7}}\n"
                     "[timer 1]\n");
    assert_true(player_has_delayed_response(&t.player));
    player_handle_timer(&t.player, 2);
    assert_terse(&t, "");
    player_handle_timer(&t.player, 1);
    assert_false(player_has_delayed_response(&t.player));
    assert_terse(&t, "{'id':1,'result':{}}\n");
    player_run_release(&t);
}

static void a_cancelled_call_sends_nothing_more(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, PLAYER_RUN_SERVER_REQUEST);
    player_run_play(&t, 0, "{'id':1,'method':'a'}", false);
    player_run_play(&t, 0, "{'id':'1','method':'a'}", false);
    buf_clear(&t.text);
    player_run_cancel(&t, "1.0");
    assert_false(player_run_respond(&t, "5"));
    assert_true(player_run_respond(&t, "'mcpreel-1'"));
    assert_terse(&t, "{'id':'1','result':{}}\n");
    player_run_cancel(&t, "1");
    player_run_cancel(&t, "null");
    player_run_release(&t);
}

/* An initialize: others cannot be matched. */
static void a_request_recorded_without_response_gets_an_error(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'initialize'}\ns2c {'method':'n'}\n");
    player_run_play(&t, 0, "{'id':0,'method':'initialize'}", false);
    assert_terse(&t, "{'method':'n'}\n"
                     "{'jsonrpc':'2.0','id':0,'error':{'code':-32000,'message':"
                     "'this request was recorded without a response'}}\n");
    player_run_release(&t);
}

static void a_recorded_cancellation_delays_the_call_until_it_comes(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'a'}\n"
                        "s2c {'method':'n'}\n"
                        "c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n");
    player_run_play(&t, 0, "{'id':7,'method':'a'}", false);
    assert_terse(&t, "{'method':'n'}\n");
    assert_non_null(t.player.active);
    player_handle_notification(&t.player, STR("notifications/initialized"));
    assert_terse(&t, "");
    player_run_cancel(&t, "7");
    assert_null(t.player.active);
    assert_terse(&t, "");
    player_run_release(&t);
}

static void steps_after_initialized_wait_for_it(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'initialize'}\n"
                        "s2c {'id':1,'result':{}}\n"
                        "c2s {'method':'notifications/initialized'}\n"
                        "s2c {'method':'n'}\n");
    player_run_play(&t, 0, "{'id':1,'method':'initialize'}", false);
    assert_terse(&t, "{'id':1,'result':{}}\n");
    player_handle_notification(&t.player, STR("notifications/initialized"));
    assert_terse(&t, "{'method':'n'}\n");
    player_handle_notification(&t.player, STR("notifications/initialized"));
    assert_terse(&t, "");
    /* In a session that is ready there is nothing to wait for. */
    player_run_play(&t, 0, "{'id':2,'method':'initialize'}", false);
    assert_terse(&t, "{'id':2,'result':{}}\n{'method':'n'}\n");
    player_run_release(&t);
}

static void a_reset_drops_all_open_calls(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, PLAYER_RUN_SERVER_REQUEST);
    player_run_play(&t, 0, "{'id':1,'method':'a'}", false);
    player_handle_notification(&t.player, STR("notifications/initialized"));
    buf_clear(&t.text);
    player_run_reset(&t, "{}");
    assert_null(map_get(&t.player.notification_counts, STR("notifications/initialized")));
    assert_null(t.player.active);
    assert_false(player_run_respond(&t, "5"));
    /* The recorded id is free again. */
    player_run_play(&t, 0, "{'id':1,'method':'a'}", false);
    assert_terse(&t, "{'id':5,'method':'q'}\n");
    player_run_release(&t);
}

static void the_opening_belongs_to_no_request(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "s2c {'method':'n'}\n"
                        "s2c {'id':1,'method':'ping'}\n"
                        "c2s {'id':1,'result':{}}\n"
                        "s2c {'method':'m'}\n");
    player_start(&t.player, t.loaded.index.sessions[0].preamble, NULL, false);
    assert_terse(&t, "{'method':'n'}\n{'id':1,'method':'ping'}\n");
    assert_true(player_run_respond(&t, "1"));
    assert_terse(&t, "{'method':'m'}\n");
    assert_null(t.player.active);
    assert_int_equal(t.player.response_count, 0);
    player_run_release(&t);
}

static void a_server_request_times_out_after_a_minute(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, PLAYER_RUN_SERVER_REQUEST);
    player_run_play(&t, 0, "{'id':1,'method':'a'}", false);
    /* A client that has closed its side sends no response. */
    assert_false(player_has_delayed_response(&t.player));
    buf_clear(&t.text);
    player_handle_timer(&t.player, t.reply_timer);
    assert_terse(&t, "[warn] no response to q within 60 s; continuing\n{'id':1,'result':{}}\n");
    assert_false(player_run_respond(&t, "5"));
    player_handle_timer(&t.player, t.reply_timer);
    assert_terse(&t, "");
    player_run_release(&t);
}

static void a_response_that_differs_from_the_recorded_one_is_reported(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'a'}\n"
                        "s2c {'id':5,'method':'q'}\n"
                        "c2s {'id':5,'result':{'x':1}}\n"
                        "s2c {'id':1,'result':{}}\n");
    player_run_play(&t, 0, "{'id':1,'method':'a'}", false);
    buf_clear(&t.text);
    assert_true(player_run_respond(&t, "5"));
    assert_terse(&t, "[info] the client's response to q differs from the recording\n"
                     "{'id':1,'result':{}}\n");
    player_run_release(&t);
}

static void with_recorded_timing_messages_are_delayed(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "@1000000 c2s {'id':1,'method':'a'}\n"
                        "@1500000 s2c {'method':'n'}\n"
                        "@1500000 s2c {'method':'m'}\n"
                        "@3500000 s2c {'id':1,'result':{}}\n");
    t.player.pace = 2;
    t.player.now_us = 7000000;
    player_run_play(&t, 0, "{'id':1,'method':'a'}", false);
    assert_terse(&t, "[timer 1]\n");
    t.player.now_us = 8000100; /* a little late: the next is counted from when it was due */
    player_handle_timer(&t.player, 1);
    assert_terse(&t, "{'method':'n'}\n{'method':'m'}\n[timer 2]\n");
    assert_int_equal(t.delay_us, 3999900);
    t.player.now_us = 12000000;
    player_handle_timer(&t.player, 2);
    assert_terse(&t, "{'id':1,'result':{}}\n");
    /* A call with only a response is delayed by the recorded latency. */
    player_run_play(&t, 0, "{'id':1,'method':'a'}", true);
    assert_terse(&t, "[timer 3]\n");
    assert_int_equal(t.delay_us, 5000000);
    player_run_release(&t);
}

static void a_blocked_call_waits_for_its_condition_or_a_time(void **state)
{
    struct player_run t;
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, "{'id':9,'method':'a'}"), &s.arena);
    struct task_hold by = { STR("T"), 0 };

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'a'}\ns2c {'id':1,'result':{}}\n");
    player_start_held(&t.player, 1, &m, false, by);
    assert_int_equal(t.delay_us, 100000);
    player_end_hold(&t.player, STR("U"));
    assert_terse(&t, "[timer 1]\n");
    assert_true(player_has_delayed_response(&t.player));
    player_end_hold(&t.player, STR("T"));
    assert_terse(&t, "{'id':9,'result':{}}\n");
    player_start_held(&t.player, 1, &m, false, by);
    player_end_hold(&t.player, STR_NONE);
    assert_terse(&t, "[timer 2]\n{'id':9,'result':{}}\n");
    player_start_held(&t.player, 1, &m, false, by);
    player_restart_hold(&t.player, (struct task_hold){ STR("U"), 0 });
    player_restart_hold(&t.player, by);
    player_handle_timer(&t.player, 3);
    assert_terse(&t, "[timer 3]\n[timer 4]\n");
    player_handle_timer(&t.player, 4);
    assert_terse(&t, "{'id':9,'result':{}}\n");
    assert_null(t.player.active);
    terse_scanned_release(&s);
    player_run_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_request_delays_the_steps_after_its_response),
        cmocka_unit_test(calls_do_not_wait_for_each_other),
        cmocka_unit_test(a_repeated_call_sends_only_progress_and_the_response),
        cmocka_unit_test(a_cancelled_call_sends_nothing_more),
        cmocka_unit_test(a_request_recorded_without_response_gets_an_error),
        cmocka_unit_test(a_recorded_cancellation_delays_the_call_until_it_comes),
        cmocka_unit_test(steps_after_initialized_wait_for_it),
        cmocka_unit_test(a_reset_drops_all_open_calls),
        cmocka_unit_test(the_opening_belongs_to_no_request),
        cmocka_unit_test(a_server_request_times_out_after_a_minute),
        cmocka_unit_test(a_response_that_differs_from_the_recorded_one_is_reported),
        cmocka_unit_test(with_recorded_timing_messages_are_delayed),
        cmocka_unit_test(a_blocked_call_waits_for_its_condition_or_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

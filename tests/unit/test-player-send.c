#include "replay/player-send.h"

#include "player-run.h"

static void ids_and_tokens_of_the_client_are_inserted_and_other_bytes_kept(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t,
                    "c2s {'id':1,'method':'a','params':{'_meta':{'progressToken':1}}}\n"
                    "s2c { 'method':'notifications/progress' ,'params':{'progress':1.50,"
                    "'progressToken':1}}\n"
                    "s2c {'result':{'id':1,'text':'`u00e9 1'} , 'id' : 1, 'jsonrpc':'2.0'}\n");
    player_run_play(&t, 0, "{'id':'x','method':'a','params':{'_meta':{'progressToken':'tok'}}}",
                    false);
    assert_terse(&t, "{ 'method':'notifications/progress' ,'params':{'progress':1.50,"
                     "'progressToken':'tok'}}\n[timer 1]\n");
    player_handle_timer(&t.player, 1);
    assert_terse(&t, "{'result':{'id':1,'text':'\\u00e9 1'} , 'id' : 'x', 'jsonrpc':'2.0'}\n");
    player_run_release(&t);
}

static void two_open_server_requests_have_different_ids(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, PLAYER_RUN_SERVER_REQUEST);
    player_run_play(&t, 0, "{'id':'x','method':'a'}", false);
    player_run_play(&t, 0, "{'id':'y','method':'a'}", false);
    player_run_play(&t, 0, "{'id':'z','method':'a'}", false);
    assert_terse(&t, "{'id':5,'method':'q'}\n"
                     "{'id':'mcpreel-1','method':'q'}\n"
                     "{'id':'mcpreel-2','method':'q'}\n");
    assert_true(player_run_respond(&t, "'mcpreel-2'"));
    assert_true(player_run_respond(&t, "5"));
    assert_true(player_run_respond(&t, "'mcpreel-1'"));
    assert_terse(&t,
                 "{'id':'z','result':{}}\n{'id':'x','result':{}}\n{'id':'y','result':{}}\n");
    player_run_release(&t);
}

static void a_server_request_is_sent_only_to_a_client_with_its_capability(void **state)
{
    static const char recording[] = "c2s {'id':1,'method':'a'}\n"
                                    "s2c {'id':5,'method':'sampling/createMessage'}\n"
                                    "c2s {'id':5,'result':{}}\n"
                                    "s2c {'id':6,'method':'ping'}\n"
                                    "c2s {'id':6,'result':{}}\n"
                                    "s2c {'id':1,'result':{}}\n";
    struct player_run t;

    (void)state;
    player_run_init(&t, recording);
    player_run_reset(&t, "{'roots':{}}");
    player_run_play(&t, 0, "{'id':1,'method':'a'}", false);
    assert_terse(&t, "[warn] skipped sampling/createMessage: the client does not support it\n"
                     "{'id':6,'method':'ping'}\n");
    assert_true(player_run_respond(&t, "6"));
    assert_terse(&t, "{'id':1,'result':{}}\n");
    player_run_reset(&t, "{'sampling':{}}");
    player_run_play(&t, 0, "{'id':1,'method':'a'}", false);
    assert_terse(&t, "{'id':5,'method':'sampling/createMessage'}\n");
    player_run_release(&t);
}

static void the_version_is_lowered_for_an_older_client_only(void **state)
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
    struct player_run t;

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'initialize'}\n"
                        "s2c {'id':1,'result':{'protocolVersion':'2025-06-18'}}\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf live, want;

        buf_init(&live, 1 << 10);
        buf_init(&want, 1 << 10);
        buf_printf(&live, "{'id':1,'method':'initialize','params':{'protocolVersion':%s}}",
                   rows[i].live);
        buf_printf(&want, "{'id':1,'result':{'protocolVersion':%s}}\n", rows[i].want);
        player_run_play(&t, 0, buf_z(&live), false);
        assert_terse(&t, buf_z(&want));
        buf_release(&live);
        buf_release(&want);
    }
    player_run_release(&t);
}

static void only_an_initialize_response_has_its_version_lowered(void **state)
{
    struct player_run t;

    (void)state;
    player_run_init(&t, "c2s {'id':1,'method':'own/upgrade'}\n"
                        "s2c {'id':1,'result':{'protocolVersion':'2025-06-18'}}\n");
    player_run_play(&t, 0,
                    "{'id':1,'method':'own/upgrade','params':{'protocolVersion':'2024-11-05'}}",
                    false);
    assert_terse(&t, "{'id':1,'result':{'protocolVersion':'2025-06-18'}}\n");
    player_run_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_and_tokens_of_the_client_are_inserted_and_other_bytes_kept),
        cmocka_unit_test(two_open_server_requests_have_different_ids),
        cmocka_unit_test(a_server_request_is_sent_only_to_a_client_with_its_capability),
        cmocka_unit_test(the_version_is_lowered_for_an_older_client_only),
        cmocka_unit_test(only_an_initialize_response_has_its_version_lowered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

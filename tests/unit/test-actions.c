#include "engine/actions.h"

#include "engine-run.h"

static void setup(struct engine_run *bench, struct actions *s)
{
    engine_run_init(bench, TO_SERVER, NULL, NULL);
    actions_init(s, &bench->out);
}

static void done(struct engine_run *bench, struct actions *s)
{
    actions_release(s);
    engine_run_release(bench);
}

static void every_kind_of_message_has_its_members(void **state)
{
    struct engine_run bench;
    struct actions s;

    (void)state;
    setup(&bench, &s);
    actions_send(&s, STR("{\"as\": it is}"));
    actions_send_request(&s, STR("\"x\""), STR("ping"), STR_NONE);
    actions_send_request(&s, STR("0"), STR("tools/list"), STR("{\"a\":1}"));
    actions_send_notification(&s, STR("notifications/x"), STR_NONE);
    actions_send_notification(&s, STR("notifications/x"), STR("{}"));
    actions_send_result(&s, STR("7"), STR("{}"));
    assert_actions(&bench,
                   "<< {'as': it is}\n"
                   "<< {'jsonrpc':'2.0','id':'x','method':'ping'}\n"
                   "<< {'jsonrpc':'2.0','id':0,'method':'tools/list','params':{'a':1}}\n"
                   "<< {'jsonrpc':'2.0','method':'notifications/x'}\n"
                   "<< {'jsonrpc':'2.0','method':'notifications/x','params':{}}\n"
                   "<< {'jsonrpc':'2.0','id':7,'result':{}}\n");
    done(&bench, &s);
}

static void an_error_may_have_no_id_and_no_data(void **state)
{
    struct engine_run bench;
    struct actions s;

    (void)state;
    setup(&bench, &s);
    actions_send_error(&s, STR("1"), -32601, STR("not \\ found"), STR("[2]"));
    actions_send_error(&s, STR_NONE, -32700, STR("no"), STR_NONE);
    assert_actions(&bench,
                   "<< {'jsonrpc':'2.0','id':1,'error':"
                   "{'code':-32601,'message':'not `` found','data':[2]}}\n"
                   "<< {'jsonrpc':'2.0','id':null,'error':{'code':-32700,'message':'no'}}\n");
    done(&bench, &s);
}

static void reports_timers_and_the_end_are_actions_too(void **state)
{
    struct engine_run bench;
    struct actions s;

    (void)state;
    setup(&bench, &s);
    actions_report(&s, LOG_WARN, "%d of %s", 3, "them");
    actions_set_timer(&s, 9, 1500);
    actions_finish(&s, 4);
    assert_actions(&bench, "report warn 3 of them\ntimer 9 in 1500 us\nfinish 4\n");
    done(&bench, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_message_has_its_members),
        cmocka_unit_test(an_error_may_have_no_id_and_no_data),
        cmocka_unit_test(reports_timers_and_the_end_are_actions_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

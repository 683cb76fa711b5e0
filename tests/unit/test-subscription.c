#include "engine/subscription.h"

#include "terse.h"
#include "test.h"

static void check(const char *filter, const char *notification, bool wants)
{
    struct terse_scanned f, n;
    struct json_val v = terse_scan(&f, filter);
    struct mcp_message m = mcp_classify(terse_scan(&n, notification), &n.arena);

    if (subscription_wants(v, &m) != wants)
        fail_msg("%s, %s", filter, notification);
    terse_scanned_release(&f);
    terse_scanned_release(&n);
}

static void a_change_has_to_be_asked_for(void **state)
{
    (void)state;
    check("{'toolsListChanged':true}", "{'method':'notifications/tools/list_changed'}", true);
    check("{'toolsListChanged':false}", "{'method':'notifications/tools/list_changed'}", false);
    check("{}", "{'method':'notifications/tools/list_changed'}", false);
    check("{'toolsListChanged':true}", "{'method':'notifications/prompts/list_changed'}",
          false);
    check("{'promptsListChanged':true}", "{'method':'notifications/prompts/list_changed'}",
          true);
    check("{'resourcesListChanged':true}", "{'method':'notifications/resources/list_changed'}",
          true);
}

static void a_resource_or_a_task_has_to_be_named(void **state)
{
    (void)state;
    check("{'resourceSubscriptions':['u:/a','u:/b']}",
          "{'method':'notifications/resources/updated','params':{'uri':'u:/b'}}", true);
    check("{'resourceSubscriptions':['u:/a']}",
          "{'method':'notifications/resources/updated','params':{'uri':'u:/b'}}", false);
    check("{}", "{'method':'notifications/resources/updated','params':{'uri':'u:/b'}}", false);
    check("{'taskIds':['t']}", "{'method':'notifications/tasks','params':{'taskId':'t'}}",
          true);
    check("{'taskIds':['t']}", "{'method':'notifications/tasks','params':{'taskId':'u'}}",
          false);
}

static void what_no_filter_can_name_passes(void **state)
{
    (void)state;
    check("{}", "{'method':'notifications/subscriptions/acknowledged'}", true);
    check("{}", "{'id':1,'result':{}}", true);
}

static void what_is_granted_was_asked_for(void **state)
{
    static const struct {
        const char *filter, *granted, *want;
    } rows[] = {
        { "{'toolsListChanged':true}", "{ 'toolsListChanged' : true }",
          "{ 'toolsListChanged' : true }" },
        { "{'toolsListChanged':true}", "{'toolsListChanged':true,'promptsListChanged':true}",
          "{'toolsListChanged':true}" },
        { "{'toolsListChanged':false}", "{'toolsListChanged':true}", "{}" },
        { "{'resourceSubscriptions':['b','c']}", "{'resourceSubscriptions':['a','b']}",
          "{'resourceSubscriptions':['b']}" },
        { "{}", "{}", "{}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct terse_scanned f, g;
        struct arena a = { 0 };
        struct json_val filter = terse_scan(&f, rows[i].filter);

        assert_str(subscription_grant(filter, terse_scan(&g, rows[i].granted), &a),
                   terse_json(&a, rows[i].want));
        terse_scanned_release(&f);
        terse_scanned_release(&g);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_has_to_be_asked_for),
        cmocka_unit_test(a_resource_or_a_task_has_to_be_named),
        cmocka_unit_test(what_no_filter_can_name_passes),
        cmocka_unit_test(what_is_granted_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

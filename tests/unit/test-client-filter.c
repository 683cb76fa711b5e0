#include "replay/client-filter.h"

#include "terse.h"
#include "test.h"

static void check(const char *filter, const char *notification, bool wants)
{
    struct terse_scanned f, n;
    struct json_val v = terse_scan(&f, filter);
    struct mcp_message m = mcp_classify(terse_scan(&n, notification), &n.arena);

    if (client_filter_wants(v, &m) != wants)
        fail_msg("%s, %s", filter, notification);
    terse_scanned_release(&f);
    terse_scanned_release(&n);
}

static void only_subscribed_changes_are_sent(void **state)
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

static void only_named_resources_and_tasks_are_sent(void **state)
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

static void messages_that_no_filter_names_are_sent(void **state)
{
    (void)state;
    check("{}", "{'method':'notifications/subscriptions/acknowledged'}", true);
    check("{}", "{'id':1,'result':{}}", true);
}

static void the_acknowledged_filter_has_only_requested_parts(void **state)
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

        assert_str(client_filter_grant(filter, terse_scan(&g, rows[i].granted), &a),
                   terse_json(&a, rows[i].want));
        terse_scanned_release(&f);
        terse_scanned_release(&g);
        arena_release(&a);
    }
}

#define MODERN "'io.modelcontextprotocol/protocolVersion':'2026-07-28'"
#define LEVEL "'io.modelcontextprotocol/logLevel':"

static bool can_be_requested(const char *capabilities, enum mcp_version version,
                             const char *method, const char *params)
{
    struct terse_scanned c, p;
    bool can = client_filter_supports_request(json_raw(terse_scan(&c, capabilities)), version,
                                              str_z(method), terse_scan(&p, params));

    terse_scanned_release(&c);
    terse_scanned_release(&p);
    return can;
}

static void a_client_gets_server_requests_of_its_capabilities_only(void **state)
{
    (void)state;
    assert_true(can_be_requested("{'sampling':{}}", MCP_VERSION_UNKNOWN,
                                 "sampling/createMessage", "{}"));
    assert_false(
        can_be_requested("{'roots':{}}", MCP_VERSION_UNKNOWN, "sampling/createMessage", "{}"));
    assert_true(can_be_requested("{}", MCP_VERSION_UNKNOWN, "ping", "{}"));
    assert_true(can_be_requested("{}", MCP_VERSION_UNKNOWN, "x/of-their-own", "{}"));
}

static void a_client_gets_no_server_requests_that_its_version_lacks(void **state)
{
    (void)state;
    assert_false(
        can_be_requested("{'elicitation':{}}", MCP_2025_03_26, "elicitation/create", "{}"));
    assert_true(
        can_be_requested("{'elicitation':{}}", MCP_2025_06_18, "elicitation/create", "{}"));
}

static void a_client_gets_elicitation_only_in_its_declared_modes(void **state)
{
    const enum mcp_version v = MCP_2025_11_25;

    (void)state;
    assert_true(
        can_be_requested("{'elicitation':{}}", v, "elicitation/create", "{'mode':'url'}"));
    assert_true(can_be_requested("{'elicitation':{'url':{}}}", v, "elicitation/create",
                                 "{'mode':'url'}"));
    assert_false(can_be_requested("{'elicitation':{'form':{}}}", v, "elicitation/create",
                                  "{'mode':'url'}"));
    assert_false(can_be_requested("{'elicitation':{'url':{}}}", v, "elicitation/create", "{}"));
}

static enum client_log_level level(const char *params)
{
    struct terse_scanned s;
    enum client_log_level of =
        client_filter_log_level(json_get(terse_scan(&s, params), STR("_meta")));

    terse_scanned_release(&s);
    return of;
}

static void only_stateless_clients_request_logs(void **state)
{
    (void)state;
    assert_int_equal(level("{}"), CLIENT_LOG_ALL);
    assert_int_equal(level("{'_meta':{" LEVEL "'error'}}"), CLIENT_LOG_ALL);
    assert_int_equal(level("{'_meta':{" MODERN "}}"), CLIENT_LOG_NONE);
    assert_int_equal(level("{'_meta':{" MODERN "," LEVEL "'loud'}}"), CLIENT_LOG_NONE);
    assert_int_equal(level("{'_meta':{" MODERN "," LEVEL "'debug'}}"), CLIENT_LOG_DEBUG);
    assert_int_equal(level("{'_meta':{" MODERN "," LEVEL "'emergency'}}"),
                     CLIENT_LOG_EMERGENCY);
}

static bool gets_message(enum client_log_level from, const char *message)
{
    struct terse_scanned s;
    bool does = client_filter_accepts_log(from, terse_scan(&s, message));

    terse_scanned_release(&s);
    return does;
}

static void logs_are_sent_from_their_level_on(void **state)
{
    const enum client_log_level info = CLIENT_LOG_DEBUG + 1;

    (void)state;
    assert_false(
        gets_message(info, "{'method':'notifications/message','params':{'level':'debug'}}"));
    assert_true(
        gets_message(info, "{'method':'notifications/message','params':{'level':'info'}}"));
    assert_true(
        gets_message(info, "{'method':'notifications/message','params':{'level':'alert'}}"));
    assert_true(
        gets_message(info, "{'method':'notifications/message','params':{'level':'odd'}}"));
    assert_true(gets_message(CLIENT_LOG_ALL,
                             "{'method':'notifications/message','params':{'level':'debug'}}"));
    assert_false(gets_message(
        CLIENT_LOG_NONE, "{'method':'notifications/message','params':{'level':'emergency'}}"));
}

static void messages_that_are_not_logs_are_always_sent(void **state)
{
    (void)state;
    assert_true(gets_message(CLIENT_LOG_NONE, "{'method':'notifications/tools/list_changed'}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_subscribed_changes_are_sent),
        cmocka_unit_test(only_named_resources_and_tasks_are_sent),
        cmocka_unit_test(messages_that_no_filter_names_are_sent),
        cmocka_unit_test(the_acknowledged_filter_has_only_requested_parts),
        cmocka_unit_test(a_client_gets_server_requests_of_its_capabilities_only),
        cmocka_unit_test(a_client_gets_no_server_requests_that_its_version_lacks),
        cmocka_unit_test(a_client_gets_elicitation_only_in_its_declared_modes),
        cmocka_unit_test(only_stateless_clients_request_logs),
        cmocka_unit_test(logs_are_sent_from_their_level_on),
        cmocka_unit_test(messages_that_are_not_logs_are_always_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

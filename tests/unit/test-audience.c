#include "engine/audience.h"

#include "terse.h"
#include "test.h"

#define MODERN "'io.modelcontextprotocol/protocolVersion':'2026-07-28'"
#define LEVEL "'io.modelcontextprotocol/logLevel':"

static bool can_be_asked(const char *capabilities, enum mcp_version version, const char *method,
                         const char *params)
{
    struct terse_scanned c, p;
    bool can = audience_can_be_asked(json_raw(terse_scan(&c, capabilities)), version,
                                     str_z(method), terse_scan(&p, params));

    terse_scanned_release(&c);
    terse_scanned_release(&p);
    return can;
}

static void a_client_is_asked_what_it_declared(void **state)
{
    (void)state;
    assert_true(
        can_be_asked("{'sampling':{}}", MCP_VERSION_UNKNOWN, "sampling/createMessage", "{}"));
    assert_false(
        can_be_asked("{'roots':{}}", MCP_VERSION_UNKNOWN, "sampling/createMessage", "{}"));
    assert_true(can_be_asked("{}", MCP_VERSION_UNKNOWN, "ping", "{}"));
    assert_true(can_be_asked("{}", MCP_VERSION_UNKNOWN, "x/of-their-own", "{}"));
}

static void a_client_is_not_asked_what_its_revision_has_not(void **state)
{
    (void)state;
    assert_false(
        can_be_asked("{'elicitation':{}}", MCP_2025_03_26, "elicitation/create", "{}"));
    assert_true(can_be_asked("{'elicitation':{}}", MCP_2025_06_18, "elicitation/create", "{}"));
}

static void a_client_that_names_ways_to_ask_it_is_asked_in_no_other(void **state)
{
    const enum mcp_version v = MCP_2025_11_25;

    (void)state;
    assert_true(can_be_asked("{'elicitation':{}}", v, "elicitation/create", "{'mode':'url'}"));
    assert_true(
        can_be_asked("{'elicitation':{'url':{}}}", v, "elicitation/create", "{'mode':'url'}"));
    assert_false(
        can_be_asked("{'elicitation':{'form':{}}}", v, "elicitation/create", "{'mode':'url'}"));
    assert_false(can_be_asked("{'elicitation':{'url':{}}}", v, "elicitation/create", "{}"));
}

static enum audience_level level(const char *params)
{
    struct terse_scanned s;
    enum audience_level of = audience_level(json_get(terse_scan(&s, params), STR("_meta")));

    terse_scanned_release(&s);
    return of;
}

static void only_the_era_without_sessions_asks_for_logs(void **state)
{
    (void)state;
    assert_int_equal(level("{}"), AUDIENCE_ALL);
    assert_int_equal(level("{'_meta':{" LEVEL "'error'}}"), AUDIENCE_ALL);
    assert_int_equal(level("{'_meta':{" MODERN "}}"), AUDIENCE_NONE);
    assert_int_equal(level("{'_meta':{" MODERN "," LEVEL "'loud'}}"), AUDIENCE_NONE);
    assert_int_equal(level("{'_meta':{" MODERN "," LEVEL "'debug'}}"), AUDIENCE_DEBUG);
    assert_int_equal(level("{'_meta':{" MODERN "," LEVEL "'emergency'}}"), AUDIENCE_EMERGENCY);
}

static bool hears(enum audience_level from, const char *message)
{
    struct terse_scanned s;
    bool does = audience_hears(from, terse_scan(&s, message));

    terse_scanned_release(&s);
    return does;
}

static void logs_are_heard_from_their_level_on(void **state)
{
    const enum audience_level info = AUDIENCE_DEBUG + 1;

    (void)state;
    assert_false(hears(info, "{'method':'notifications/message','params':{'level':'debug'}}"));
    assert_true(hears(info, "{'method':'notifications/message','params':{'level':'info'}}"));
    assert_true(hears(info, "{'method':'notifications/message','params':{'level':'alert'}}"));
    assert_true(hears(info, "{'method':'notifications/message','params':{'level':'odd'}}"));
    assert_true(
        hears(AUDIENCE_ALL, "{'method':'notifications/message','params':{'level':'debug'}}"));
    assert_false(hears(AUDIENCE_NONE,
                       "{'method':'notifications/message','params':{'level':'emergency'}}"));
}

static void what_is_no_log_is_heard_by_all(void **state)
{
    (void)state;
    assert_true(hears(AUDIENCE_NONE, "{'method':'notifications/tools/list_changed'}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_is_asked_what_it_declared),
        cmocka_unit_test(a_client_is_not_asked_what_its_revision_has_not),
        cmocka_unit_test(a_client_that_names_ways_to_ask_it_is_asked_in_no_other),
        cmocka_unit_test(only_the_era_without_sessions_asks_for_logs),
        cmocka_unit_test(logs_are_heard_from_their_level_on),
        cmocka_unit_test(what_is_no_log_is_heard_by_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

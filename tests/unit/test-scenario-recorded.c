#include "runtime/scenario-recorded.h"

#include "temp-dir.h"
#include "test.h"

#define MESSAGE(seq, dir, msg)                                                                 \
    "{'type':'message','seq':" #seq ",'ts':'2026-01-01T00:00:02.000Z','dir':'" dir             \
    "','msg':{'jsonrpc':'2.0'," msg "}}\n"

#define EXCHANGE(n, dir, msg)                                                                  \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','exchange':" #n ",'dir':'" dir  \
    "','msg':{'jsonrpc':'2.0'," msg "}}\n"
#define VERSION "{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"

static const char session[] =
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z','upstream':'u',"
    "'thoughtjack_version':'0.3.0'}\n" MESSAGE(
        1, "c2s", "'id':0,'method':'initialize','params':{}") MESSAGE(2, "s2c",
                                                                      "'id':0,'result':{}")
        MESSAGE(3, "c2s", "'method':'notifications/initialized'") MESSAGE(
            4, "c2s", "'id':1,'method':'tools/list','params':{'_meta':{'a':1}}")
            MESSAGE(5, "s2c", "'id':1,'result':{'nextCursor':'2'}") MESSAGE(
                6, "c2s", "'id':2,'method':'tools/list','params':{'cursor':'2'}")
                MESSAGE(7, "s2c", "'id':2,'result':{}") MESSAGE(
                    8, "c2s",
                    "'id':3,'method':'tools/call','params':{'name':'add','arguments':{'n':1}}")
                    MESSAGE(9, "s2c", "'id':3,'result':{}")
                        MESSAGE(10, "c2s", "'id':4,'method':'ping'")
                            MESSAGE(11, "s2c", "'id':4,'result':{}");

/* The server rejects initialize, so the rest belongs to no session that begins with it. */
static const char stateless[] = EXCHANGE(1, "c2s", "'id':0,'method':'initialize','params':{}")
    EXCHANGE(1, "s2c", "'id':0,'error':{'code':-32601,'message':'no'}")
        EXCHANGE(2, "c2s", "'id':1,'method':'server/discover','params':{'_meta':" VERSION "}")
            EXCHANGE(2, "s2c", "'id':1,'result':{}") EXCHANGE(
                3, "c2s", "'id':2,'method':'tools/list','params':{'_meta':" VERSION "}")
                EXCHANGE(3, "s2c", "'id':2,'result':{}");

static char *env[] = { NULL };

static void write_nothing(void *arg, struct str text)
{
    (void)arg;
    (void)text;
}

/* The first change is on `line`; 0: there is none. */
static void assert_change_of(const char *recording, const char *actions, uint32_t line,
                             bool params_differ)
{
    const struct log log = { .write = write_nothing };
    const struct app app = { .sys = &sys_real, .env = env, .log = &log };
    struct scenario_change change;
    struct verify_recording r;
    struct scenario_file file;
    struct err e = ERR_NONE;
    struct arena a = { 0 };

    temp_dir_put_terse("a.jsonl", recording);
    assert_true(verify_recording_open(&r, &app, "a.jsonl", &e));
    assert_true(verify_recording_load(&r, NULL, &e));
    assert_true(scenario_file_parse(
        &file,
        arena_printf(&a, "target: http://h\nscenarios: {a: {actions: [\n%s]}}\n", actions),
        "s.yml", env, &e));
    assert_true(scenario_recorded_find_change(&r, file.plans, &change, &e));
    assert_int_equal(change.action ? change.action->line : 0, line);
    assert_int_equal(change.params_differ, params_differ);
    scenario_file_release(&file);
    verify_recording_close(&r);
    arena_release(&a);
}

static void assert_change(const char *actions, uint32_t line, bool params_differ)
{
    assert_change_of(session, actions, line, params_differ);
}

static void equal_requests_in_order_are_no_change(void **state)
{
    (void)state;
    assert_change(
        "list_tools: {pages: all},\n{call_tool: {name: add, arguments: {n: 1.0}}},\nping", 0,
        false);
    assert_change("ping", 0, false);
    assert_change("", 0, false);
}

static void other_params_and_missing_requests_are_changes(void **state)
{
    (void)state;
    assert_change("list_tools,\n{call_tool: {name: add, arguments: {n: 2}}},\nping", 4, true);
    assert_change("list_tools,\n{call_tool: {name: sub, arguments: {n: 1}}},\nping", 4, false);
    assert_change("ping,\nlist_tools", 4, false);
    assert_change("list_prompts", 3, false);
}

static void params_with_saved_values_are_not_compared(void **state)
{
    (void)state;
    assert_change("list_tools: {save: {n: $.result.x, t: $.result.y}},\n"
                  "{call_tool: {name: '{{t}}', arguments: {n: 2}}}",
                  0, false);
    assert_change("list_tools: {save: {n: $.result.x}},\n"
                  "{call_tool: {name: add, arguments: {n: '{{n}}'}}}",
                  0, false);
    assert_change("list_tools: {save: {n: $.result.x}},\n"
                  "{call_tool: {name: sub, arguments: {n: '{{n}}'}}}",
                  4, false);
}

static void a_recording_may_have_several_sessions(void **state)
{
    (void)state;
    assert_change_of(stateless, "list_tools", 0, false);
    assert_change_of(stateless, "list_tools,\nlist_prompts", 4, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(equal_requests_in_order_are_no_change),
        IN_TEMP_DIR(other_params_and_missing_requests_are_changes),
        IN_TEMP_DIR(a_recording_may_have_several_sessions),
        IN_TEMP_DIR(params_with_saved_values_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

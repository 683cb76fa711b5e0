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

static const char responses[] = MESSAGE(1, "c2s", "'id':1,'method':'ping'")
    MESSAGE(2, "s2c", "'id':1,'result':{'n':1}") MESSAGE(3, "c2s", "'id':2,'method':'ping'")
        MESSAGE(4, "s2c", "'id':2,'result':{'n':1.0,'token':'[REDACTED:x]'}");

static char *env[] = { NULL };

static void write_nothing(void *arg, struct str text)
{
    (void)arg;
    (void)text;
}

/* The changes that were found. */
static void on_change(void *to, const struct scenario_change *c)
{
    static const char *const names[] = { "missing", "params", "expect", "extra" };

    buf_printf(to, "%u %s %.*s%s%.*s%s%.*s\n", c->action ? c->action->line : 0, names[c->kind],
               STR_ARG(c->method), c->subject.len ? " " : "", STR_ARG(c->subject),
               c->expected ? ": " : "", STR_ARG(c->expected ? c->expected->message : STR_NONE));
}

static void assert_changes_of(const char *recording, const char *actions, const char *want)
{
    const struct log log = { .write = write_nothing };
    const struct app app = { .sys = &sys_real, .env = env, .log = &log };
    struct verify_recording r;
    struct scenario_file file;
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    struct buf got;

    buf_init(&got, 4096);
    temp_dir_put_terse("a.jsonl", recording);
    assert_true(verify_recording_open(&r, &app, "a.jsonl", &e));
    assert_true(verify_recording_load(&r, NULL, &e));
    assert_true(scenario_file_parse(
        &file,
        arena_printf(&a, "target: http://h\nscenarios: {a: {actions: [\n%s]}}\n", actions),
        "s.yml", env, &e));
    assert_true(scenario_recorded_find_changes(&r, file.plans, on_change, &got, &e));
    assert_str(buf_str(&got), str_z(want));
    scenario_file_release(&file);
    verify_recording_close(&r);
    buf_release(&got);
    arena_release(&a);
}

static void assert_changes(const char *actions, const char *want)
{
    assert_changes_of(session, actions, want);
}

#define ADD "{call_tool: {name: add, arguments: {n: 1.0}}}"

static void equal_requests_in_order_are_no_change(void **state)
{
    (void)state;
    assert_changes("list_tools: {pages: all},\n" ADD ",\nping", "");
}

static void other_params_and_missing_requests_are_changes(void **state)
{
    (void)state;
    assert_changes(
        "list_tools: {pages: all},\n"
        "{call_tool: {name: add, arguments: {n: 2}, expect: {$.result.x: 1}}},\nping",
        "4 params tools/call add\n");
    assert_changes("list_tools,\n{call_tool: {name: sub, arguments: {n: 1}}},\nping",
                   "4 missing tools/call sub\n");
    assert_changes("list_tools: {pages: all},\n" ADD ",\nping,\nping", "6 missing ping\n");
    assert_changes("list_prompts", "3 missing prompts/list\n");
}

static void recorded_requests_without_an_action_are_changes(void **state)
{
    (void)state;
    assert_changes("list_tools: {pages: all},\nping", "0 extra tools/call add\n");
    assert_changes("list_tools: {pages: all},\n" ADD, "0 extra ping\n");
    assert_changes("list_tools,\n" ADD ",\nping", "0 extra tools/list\n");
    assert_changes("", "0 extra tools/list\n");
}

static void params_with_saved_values_are_not_compared(void **state)
{
    (void)state;
    assert_changes("list_tools: {pages: all, save: {n: $.result.x, t: $.result.y}},\n"
                   "{call_tool: {name: '{{t}}', arguments: {n: 2}}},\nping",
                   "");
    assert_changes("list_tools: {pages: all, save: {n: $.result.x}},\n"
                   "{call_tool: {name: add, arguments: {n: '{{n}}'}}},\nping",
                   "");
    assert_changes("list_tools: {pages: all, save: {n: $.result.x}},\n"
                   "{call_tool: {name: sub, arguments: {n: '{{n}}'}}}",
                   "4 missing tools/call sub\n");
}

static void methods_with_saved_values_are_not_compared(void **state)
{
    (void)state;
    assert_changes("list_tools: {pages: all, save: {n: $.result.x}},\n"
                   "{raw: {method: 'tools/{{n}}', params: {name: add, arguments: {n: 1}}}},\n"
                   "{raw: {method: '{{n}}'}}",
                   "");
    assert_changes("list_tools: {pages: all, save: {n: $.result.x}},\n" ADD
                   ",\nping,\n{raw: {method: '{{n}}'}}",
                   "6 missing {{n}}\n");
}

static void recorded_responses_are_as_expected(void **state)
{
    (void)state;
    assert_changes_of(
        responses,
        "ping: {expect: {$.result.n: 1, is_error: false}, save: {n: $.result.n}},\n"
        "{ping: {expect: {$.result.n: '{{n}}', $.result.token: secret}}}",
        "");
    assert_changes_of(
        responses,
        "ping: {expect: {$.result.n: 2, is_error: true}, save: {n: $.result.n}},\n"
        "{ping: {expect: {$.result.n: 7, $.result.m: '{{n}}'}}}",
        "3 expect ping: the response is no error\n"
        "3 expect ping: $.result.n is not as expected\n"
        "4 expect ping: $.result.n is not as expected\n"
        "4 expect ping: the response has no value at $.result.m\n");
}

/* The values of a list with all pages are not known. */
static void expectations_of_unknown_values_are_not_compared(void **state)
{
    (void)state;
    assert_changes(
        "list_tools: {pages: all, save: {n: $.result.x}},\n"
        "{call_tool: {name: add, arguments: {n: 1}, expect: {$.result.n: '{{n}}'}}},\n"
        "ping: {expect: {$.result: 1}}",
        "5 expect ping: $.result is not as expected\n");
}

static void a_recording_may_have_several_sessions(void **state)
{
    (void)state;
    assert_changes_of(stateless, "list_tools", "");
    assert_changes_of(stateless, "list_tools,\nlist_prompts", "4 missing prompts/list\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(equal_requests_in_order_are_no_change),
        IN_TEMP_DIR(other_params_and_missing_requests_are_changes),
        IN_TEMP_DIR(recorded_requests_without_an_action_are_changes),
        IN_TEMP_DIR(methods_with_saved_values_are_not_compared),
        IN_TEMP_DIR(recorded_responses_are_as_expected),
        IN_TEMP_DIR(expectations_of_unknown_values_are_not_compared),
        IN_TEMP_DIR(a_recording_may_have_several_sessions),
        IN_TEMP_DIR(params_with_saved_values_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

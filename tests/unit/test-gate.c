#include "check/gate.h"

#include <stdio.h>

#include "terse.h"
#include "test.h"

#define HEADER                                                                                 \
    "| {'type':'header','version':'1.0','recorded_at':'2026-11-15T21:00:00Z',"                 \
    "'upstream':'srv','thoughtjack_version':'0.3.0'}\n"
#define LIST                                                                                   \
    "c2s {'id':1,'method':'tools/list'}\n"                                                     \
    "s2c {'id':1,'result':{'tools':[{'name':'read'},{'name':'write'}]}}\n"
#define CALL(at, id, tool)                                                                     \
    "@" at " c2s {'id':" id ",'method':'tools/call','params':{'name':'" tool "'}}\n"
#define RESULT(at, id, result) "@" at " s2c {'id':" id ",'result':" result "}\n"

/* 2026-11-16T21:00:00Z */
#define A_DAY_LATER (INT64_C(1794776400000000) + INT64_C(86400) * 1000 * 1000)

/* Returns "RULE seq subject: message" of every finding, a line each. */
static const char *judge(const struct gate_conditions *c, const char *input)
{
    static char text[4096];
    struct finding_list l;
    struct stats s;
    struct gate g;
    size_t n = 0;

    finding_list_init(&l);
    stats_init(&s);
    gate_init(&g, c);
    s.observer = &g.events;
    terse_feed(&s.sink, input);
    stats_finish(&s);
    gate_finish(&g, &s, A_DAY_LATER, &l);
    *text = 0;
    for (size_t i = 0; i < l.count; i++) {
        assert_int_equal(l.at[i].severity, FINDING_ERROR);
        assert_true(l.at[i].count > 0);
        n += (size_t)snprintf(text + n, sizeof text - n, "%.*s x%d @%d '%.*s': %.*s\n",
                              STR_ARG(l.at[i].rule), (int)l.at[i].count, (int)l.at[i].seq,
                              STR_ARG(l.at[i].subject), STR_ARG(l.at[i].message));
    }
    gate_release(&g);
    stats_release(&s);
    finding_list_release(&l);
    return text;
}

static void read_patterns(struct gate_patterns *p, const char *one, const char *two)
{
    const char *names[] = { one, two };
    const struct str_list list = { names, two ? 2 : 1 };
    struct err e = ERR_NONE;

    assert_true(gate_patterns_read(p, &list, &e));
}

static void without_conditions_there_are_no_findings(void **state)
{
    const struct gate_conditions none = { .errors = { false, 0 } };

    (void)state;
    assert_string_equal(judge(&none, HEADER CALL("1", "1", "a") RESULT("9", "1", "{}")), "");
    assert_string_equal(judge(&none, ""), "");
}

static void an_expected_tool_must_be_called(void **state)
{
    struct gate_conditions c = { .errors = { false, 0 } };

    (void)state;
    read_patterns(&c.expected, "read", "wr*");
    assert_string_equal(judge(&c, CALL("1", "1", "read") CALL("2", "2", "write")), "");
    assert_string_equal(judge(&c, CALL("1", "1", "reader")),
                        "expect-tool x1 @0 'read': tool 'read' was not called\n"
                        "expect-tool x1 @0 'wr*': no tool 'wr*' was called\n");
    assert_string_equal(judge(&c, LIST CALL("1", "2", "write")),
                        "expect-tool x1 @0 'read': tool 'read' was not called\n");
    gate_patterns_release(&c.expected);
    read_patterns(&c.expected, "raed", NULL);
    assert_string_equal(
        judge(&c, LIST),
        "expect-tool x1 @0 'raed': tool 'raed' was not called, and is in no tools/list\n");
    gate_patterns_release(&c.expected);
}

static void only_calls_of_the_client_count(void **state)
{
    struct gate_conditions c = { .errors = { true, 0 } };

    (void)state;
    read_patterns(&c.forbidden, "*", NULL);
    assert_string_equal(judge(&c,
                              "s2c {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                              "c2s {'id':1,'error':{'code':1,'message':''}}\n"
                              "c2s {'method':'tools/call','params':{'name':'a'}}\n"
                              "c2s {'id':2,'method':'prompts/get','params':{'name':'a'}}\n"),
                        "");
    gate_patterns_release(&c.forbidden);
}

static void a_forbidden_tool_is_found_at_its_first_call(void **state)
{
    struct gate_conditions c = { .errors = { false, 0 } };

    (void)state;
    read_patterns(&c.forbidden, "rm", "rm*");
    assert_string_equal(judge(&c, CALL("1", "1", "ls") CALL("2", "2", "rm")
                                      CALL("3", "3", "rmdir") CALL("4", "4", "rm")),
                        "forbid-tool x2 @2 'rm': tool 'rm' was called 2 times (seq 2)\n"
                        "forbid-tool x1 @3 'rmdir': tool 'rmdir' was called 1 time (seq 3)\n");
    gate_patterns_release(&c.forbidden);
}

static void names_are_checked(void **state)
{
    static char name[OPERATION_TEXT_MAX + 2];
    const char *empty[] = { "a", "" }, *longest[] = { name };
    struct gate_patterns p;
    struct err e = ERR_NONE;

    (void)state;
    assert_false(gate_patterns_read(&p, &(struct str_list){ empty, 2 }, &e));
    assert_string_equal(e.msg, "the name of a tool cannot be empty");
    gate_patterns_release(&p);
    memset(name, 'a', OPERATION_TEXT_MAX + 1);
    assert_false(gate_patterns_read(&p, &(struct str_list){ longest, 1 }, &e));
    assert_string_equal(e.msg, "the name of a tool has at most 1024 bytes");
    gate_patterns_release(&p);
}

static void errors_are_counted_by_kind(void **state)
{
    static const char *const input =
        CALL("1", "1", "a") RESULT("2", "1", "{'isError':true}") CALL("3", "2", "b")
            CALL("3", "3", "c") "@4 s2c {'id':2,'error':{'code':1,'message':''}}\n" RESULT(
                "5", "3", "{}") CALL("6", "4", "never answered");
    struct gate_conditions c = { .errors = { true, 2 } };

    (void)state;
    assert_string_equal(judge(&c, input), "");
    c.errors.most = 1;
    assert_string_equal(
        judge(&c, input),
        "max-errors x2 @1 '': 2 errors (1 rpc-error, 1 tool-error), allowed: 1; "
        "the first: tools/call a (seq 1)\n");
}

static void a_slow_server_is_found_at_the_longest_call(void **state)
{
    static const char *const input = CALL("0", "1", "a") RESULT("1500", "1", "{}")
        CALL("2000", "2", "a") RESULT("5000", "2", "{}") CALL("6000", "3", "a")
            RESULT("7000", "3", "{}") CALL("8000", "4", "b") RESULT("9001", "4", "{}");
    struct gate_conditions c = { .server_us = { true, 1000 } };

    (void)state;
    assert_string_equal(
        judge(&c, input),
        "max-server-time x2 @3 'a': tools/call a: 2 calls took the server longer than 1.0 ms; "
        "the longest: 3.0 ms (seq 3)\n"
        "max-server-time x1 @7 'b': tools/call b: 1 call took the server longer than 1.0 ms: "
        "1.0 ms (seq 7)\n");
    c.server_us.most = 3000;
    assert_string_equal(judge(&c, input), "");
}

/* The server waits from 1000 to 9000. */
static void waiting_for_the_client_does_not_count(void **state)
{
    static const char *const input =
        CALL("0", "1", "a") "@1000 s2c {'id':5,'method':'elicitation/create'}\n"
                            "@9000 c2s {'id':5,'result':{}}\n" RESULT("9500", "1", "{}");
    struct gate_conditions c = { .server_us = { true, 1500 } };

    (void)state;
    assert_string_equal(judge(&c, input), "");
    c.server_us.most = 1499;
    assert_non_null(strstr(judge(&c, input), "1.5 ms (seq 1)"));
}

static void a_recording_without_times_cannot_be_judged(void **state)
{
    struct gate_conditions c = { .server_us = { true, 1000 } };

    (void)state;
    assert_string_equal(judge(&c, "c2s {'id':1,'method':'ping'}\ns2c {'id':1,'result':{}}\n"
                                  "c2s {'id':2,'method':'ping'}\n"),
                        "max-server-time x1 @0 '': 1 call cannot be judged: the recording has "
                        "no times\n");
}

static void a_large_result_is_found(void **state)
{
    static const char *const input =
        LIST CALL("1", "2", "a") RESULT("2", "2", "{'content':[]}") CALL("3", "3", "a")
            RESULT("4", "3", "{'content':[{}]}") CALL("5", "4", "b") RESULT("6", "4", "{}");
    struct gate_conditions c = { .result_bytes = { true, 14 } };

    (void)state;
    assert_string_equal(judge(&c, input),
                        "max-result-size x1 @5 'a': tools/call a: 1 result is larger than 14 "
                        "bytes: 16 bytes, about 4 tokens (seq 5)\n");
    c.result_bytes.most = 2;
    assert_string_equal(judge(&c, input),
                        "max-result-size x2 @5 'a': tools/call a: 2 results are larger than 2 "
                        "bytes; the largest: 16 bytes, about 4 tokens (seq 5)\n");
}

static void a_large_surface_is_found_at_the_list(void **state)
{
    struct gate_conditions c = { .surface_bytes = { true, 31 } };

    (void)state;
    assert_string_equal(judge(&c, LIST LIST), ""); /* 15 and 16 bytes */
    c.surface_bytes.most = 30;
    assert_string_equal(
        judge(&c, LIST LIST),
        "max-surface-bytes x1 @2 '': the definitions of the tools have 31 bytes, "
        "about 8 tokens; allowed: 30 bytes; the largest: 'write' with 16 "
        "bytes\n");
    assert_string_equal(judge(&c, ""),
                        "max-surface-bytes x1 @0 '': the definitions of the tools cannot be "
                        "judged: the recording has no tools/list\n");
    assert_string_equal(judge(&c, "c2s {'id':1,'method':'tools/list'}\n"
                                  "s2c {'id':1,'result':{'tools':[]}}\n"),
                        "");
}

static void an_old_recording_is_found(void **state)
{
    struct gate_conditions c = { .age_us = { true, INT64_C(86400) * 1000 * 1000 } };

    (void)state;
    assert_string_equal(judge(&c, HEADER), "");
    c.age_us.most--;
    assert_string_equal(judge(&c, HEADER),
                        "max-age x1 @0 '': recorded at 2026-11-15T21:00:00.000Z, 24 h 0 min "
                        "ago; allowed: 24 h 0 min\n");
    assert_string_equal(
        judge(&c, LIST),
        "max-age x1 @0 '': the age cannot be judged: the recording has no date\n");
}

static void names_beyond_the_limit_share_a_finding(void **state)
{
    static char input[(GATE_ROWS + 2) * 80];
    struct gate_conditions c = { .errors = { false, 0 } };
    struct finding_list l;
    struct stats s;
    struct gate g;
    size_t n = 0;

    (void)state;
    for (int i = 0; i < GATE_ROWS + 2; i++)
        n += (size_t)snprintf(input + n, sizeof input - n,
                              "c2s {'id':%d,'method':'tools/call','params':{'name':'t%d'}}\n",
                              i, i);
    read_patterns(&c.forbidden, "t*", NULL);
    finding_list_init(&l);
    stats_init(&s);
    gate_init(&g, &c);
    s.observer = &g.events;
    terse_feed(&s.sink, input);
    stats_finish(&s);
    gate_finish(&g, &s, 0, &l);
    assert_int_equal(l.count, GATE_ROWS + 1);
    assert_int_equal(l.at[GATE_ROWS].count, 2);
    assert_str(l.at[GATE_ROWS].message,
               STR("other forbidden tools were called 2 times (seq 513)"));
    gate_release(&g);
    stats_release(&s);
    finding_list_release(&l);
    gate_patterns_release(&c.forbidden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_conditions_there_are_no_findings),
        cmocka_unit_test(an_expected_tool_must_be_called),
        cmocka_unit_test(only_calls_of_the_client_count),
        cmocka_unit_test(a_forbidden_tool_is_found_at_its_first_call),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(errors_are_counted_by_kind),
        cmocka_unit_test(a_slow_server_is_found_at_the_longest_call),
        cmocka_unit_test(waiting_for_the_client_does_not_count),
        cmocka_unit_test(a_recording_without_times_cannot_be_judged),
        cmocka_unit_test(a_large_result_is_found),
        cmocka_unit_test(a_large_surface_is_found_at_the_list),
        cmocka_unit_test(an_old_recording_is_found),
        cmocka_unit_test(names_beyond_the_limit_share_a_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "report/scenario-lines.h"

#include "test.h"

enum { TEXT_MAX = 1 << 16 };

static void the_lines_are_those_of_mcp_recorder(void **state)
{
    struct scenario_lines_run run = {
        .target = STR("node a.js"), .is_command = true, .count = 2, .folder = STR("out")
    };
    struct scenario_lines l;
    struct buf text;

    (void)state;
    buf_init(&text, TEXT_MAX);
    scenario_lines_init(&l, &text);
    scenario_lines_begin(&l, &run);
    scenario_lines_recorded(&l, STR("a"), STR("a.json"), 5);
    scenario_lines_recorded(&l, STR("b"), STR("b.json"), 3);
    scenario_lines_end(&l);
    assert_str(buf_str(&text), STR("Target: stdio: node a.js\nScenarios: 2\nOutput: out/\n\n"
                                   "  a -> a.json (5 interactions)\n"
                                   "  b -> b.json (3 interactions)\n\n"
                                   "Done: 2 scenario(s), 8 total interactions.\n"));
    scenario_lines_release(&l);
    buf_release(&text);
}

static void failures_have_a_place_and_a_reason(void **state)
{
    static const struct finding findings[] = {
        { .path = STR_INIT("$.a"), .recorded = STR_INIT("1"), .live = STR_INIT("2") },
        { .message = STR_INIT("the response is an error\033"), .live = STR_INIT("{}") },
    };
    struct call_verdict v = { .scenario = STR("a"),
                              .method = STR("tools/call"),
                              .subject = STR("x"),
                              .line = 14,
                              .kind = VERDICT_FAILED,
                              .failure = FAILURE_CONTENT,
                              .findings = findings,
                              .finding_count = 2 };
    struct call_verdict lost = { .method = STR("ping"),
                                 .line = 3,
                                 .kind = VERDICT_FAILED,
                                 .failure = FAILURE_MISSING,
                                 .reason = STR("the time limit is over") };
    struct scenario_lines l;
    struct buf text;

    (void)state;
    buf_init(&text, TEXT_MAX);
    scenario_lines_init(&l, &text);
    scenario_lines_failed(&l, STR("a"), STR("s.yml"), &v);
    scenario_lines_failed(&l, STR("b"), STR("s.yml"), &lost);
    scenario_lines_add_reason(&l, STR("'x' ended with exit code 1"));
    scenario_lines_add_reason(&l, STR("the time limit is over"));
    scenario_lines_add_reason(&l, STR("cannot reach it: the time limit is over"));
    scenario_lines_end(&l);
    assert_str(buf_str(&text),
               STR("  a -> FAILED: tools/call x (s.yml:14)\n"
                   "      $.a: expected 1, got 2\n"
                   "      the response is an error\\x1b: {}\n"
                   "  b -> FAILED: ping (s.yml:3)\n"
                   "      no response: the time limit is over\n"
                   "      'x' ended with exit code 1\n\n"
                   "Done: 0 scenario(s), 0 total interactions. 2 failed: a, b\n"));
    scenario_lines_release(&l);
    buf_release(&text);
}

static void a_scenario_that_was_not_written_has_failed_once(void **state)
{
    struct call_verdict v = { .method = STR("ping"), .line = 3, .kind = VERDICT_FAILED };
    struct scenario_lines l;
    struct buf text;

    (void)state;
    buf_init(&text, TEXT_MAX);
    scenario_lines_init(&l, &text);
    scenario_lines_failed(&l, STR("a"), STR("s.yml"), &v);
    scenario_lines_not_written(&l, STR("a"), STR("cannot write 'a.json'"));
    scenario_lines_not_written(&l, STR("b"), STR("cannot write 'b.json\033'"));
    scenario_lines_end(&l);
    assert_str(buf_str(&text),
               STR("  a -> FAILED: ping (s.yml:3)\n"
                   "      cannot write 'a.json'\n"
                   "  b -> FAILED: cannot write 'b.json\\x1b'\n\n"
                   "Done: 0 scenario(s), 0 total interactions. 2 failed: a, b\n"));
    scenario_lines_release(&l);
    buf_release(&text);
}

static void a_scenario_that_is_not_run_has_a_line(void **state)
{
    struct scenario_lines l;
    struct buf text;

    (void)state;
    buf_init(&text, TEXT_MAX);
    scenario_lines_init(&l, &text);
    scenario_lines_skipped(&l, STR("a"), STR("interrupted\n"));
    scenario_lines_end(&l);
    assert_str(buf_str(&text), STR("  a -> not run: interrupted\\n\n\n"
                                   "Done: 0 scenario(s), 0 total interactions. 1 not run\n"));
    scenario_lines_release(&l);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lines_are_those_of_mcp_recorder),
        cmocka_unit_test(failures_have_a_place_and_a_reason),
        cmocka_unit_test(a_scenario_that_was_not_written_has_failed_once),
        cmocka_unit_test(a_scenario_that_is_not_run_has_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

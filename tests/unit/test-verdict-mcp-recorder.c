#include "report/verdict-mcp-recorder.h"

#include "test.h"
#include "verdict-sample.h"

static struct buf to;

static int setup(void **state)
{
    (void)state;
    buf_init(&to, 1 << 24);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_release(&to);
    return 0;
}

static void check_difference(const char *rule, const char *recorded, const char *live,
                             const char *want)
{
    struct finding f = { .rule = str_z(rule),
                         .message = STR("message"),
                         .path = STR("$.a"),
                         .recorded = str_z(recorded),
                         .live = str_z(live) };

    buf_clear(&to);
    verdict_mcp_recorder_write_difference(&to, &f);
    assert_str(buf_str(&to), str_z(want));
}

static void differences_are_those_of_mcp_recorder(void **state)
{
    (void)state;
    check_difference("content-changed", "{\"b\":1}", "\"\xc3\xa9\"",
                     "  $.a: {\"b\": 1} != \"\\u00e9\"\n");
    check_difference("type-changed", "5", "5.0",
                     "  $.a: type int != float\n    expected: 5\n    actual:   5.0\n");
    check_difference("type-changed", "null", "{ }",
                     "  $.a: type NoneType != dict\n    expected: null\n    actual:   {}\n");
    check_difference("content-removed", "[1,2]", "",
                     "  $.a: missing in actual\n    expected: [1, 2]\n");
    check_difference("content-added", "", "true",
                     "  $.a: unexpected key in actual\n    actual: true\n");
    check_difference("length-changed", "[1,[2,3]]", "[]", "  $.a: list length 2 != 0\n");
    check_difference("error-in-place-of-result", "{\"r\":1}", "{\"code\":1}",
                     "  $.error: unexpected key in actual\n    actual: {\"code\": 1}\n"
                     "  $.result: missing in actual\n    expected: {\"r\": 1}\n");
    check_difference("result-in-place-of-error", "{\"code\":1}", "{\"r\":1}",
                     "  $.error: missing in actual\n    expected: {\"code\": 1}\n"
                     "  $.result: unexpected key in actual\n    actual: {\"r\": 1}\n");
    check_difference("other", "", "", "  message\n");
}

static const struct finding type_changed = { .rule = STR_INIT("type-changed"),
                                             .path =
                                                 STR_INIT("$.result.structuredContent.result"),
                                             .recorded = STR_INIT("5"),
                                             .live = STR_INIT("5.0") };
static const struct finding not_updated[] = {
    { .rule = STR_INIT("not-updated"),
      .severity = FINDING_WARNING,
      .message = STR_INIT("--update did not accept it") },
    { .rule = STR_INIT("other"), .severity = FINDING_WARNING, .message = STR_INIT("other") },
};
static const struct call_verdict calls[] = {
    { .number = 1, .method = STR_INIT("initialize") },
    { .number = 2, .method = STR_INIT("notifications/initialized") },
    { .number = 3, .method = STR_INIT("resources/read"), .subject = STR_INIT("file:///a") },
    { .number = 4,
      .method = STR_INIT("tools/call"),
      .subject = STR_INIT("add"),
      .kind = VERDICT_FAILED,
      .failure = FAILURE_CONTENT,
      .findings = &type_changed,
      .finding_count = 1,
      .updated = true },
    { .number = 5,
      .method = STR_INIT("prompts/get"),
      .subject = STR_INIT("p"),
      .kind = VERDICT_FAILED,
      .failure = FAILURE_MISSING,
      .reason = STR_INIT("the server exited"),
      .findings = not_updated,
      .finding_count = 2 },
    { .number = 6,
      .method = STR_INIT("tools/list"),
      .kind = VERDICT_SKIPPED,
      .reason = STR_INIT("TOKEN is not set") },
};

static void the_lines_are_those_of_mcp_recorder(void **state)
{
    const struct verdict_report_run run = { .file = STR("golden.json"),
                                            .target = STR("node server.js"),
                                            .call_count = 6 };
    const struct call_verdict_totals totals = {
        .count = { [VERDICT_PASSED] = 3, [VERDICT_FAILED] = 2, [VERDICT_SKIPPED] = 1 },
        .updated = 1
    };
    struct verdict_mcp_recorder r;

    (void)state;
    verdict_mcp_recorder_init(
        &r, &to,
        &(struct verdict_mcp_recorder_options){
            .is_command = true, .ignored_fields = STR("a, b"), .ignored_paths = STR("$.c") });
    r.report.begin(&r.report, &run);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        r.report.verdict(&r.report, &calls[i]);
    r.report.end(&r.report, &(struct verdict_report_result){ .totals = &totals });
    assert_str(buf_str(&to), STR("Verifying golden.json against stdio: node server.js\n"
                                 "Interactions: 6\n"
                                 "Ignoring fields: a, b\n"
                                 "Ignoring paths: $.c\n"
                                 "\n"
                                 "  1. initialize [PASS]\n"
                                 "  2. notifications/initialized [PASS]\n"
                                 "  3. resources/read [PASS]\n"
                                 "  4. tools/call [add] [FAIL]\n"
                                 "      $.result.structuredContent.result: type int != float\n"
                                 "        expected: 5\n"
                                 "        actual:   5.0\n"
                                 "  5. prompts/get [FAIL]\n"
                                 "      transport error: the server exited\n"
                                 "      --update did not accept it\n"
                                 "  6. tools/list [FAIL]\n"
                                 "      skipped: TOKEN is not set\n"
                                 "\n"
                                 "Result: 3/6 passed, 3 failed\n"
                                 "\n"
                                 "Saved 6 interactions to golden.json\n"
                                 "Updated golden.json with new responses.\n"));
}

static void hostile_text_is_escaped(void **state)
{
    struct verdict_mcp_recorder r;

    (void)state;
    verdict_mcp_recorder_init(&r, &to, &(struct verdict_mcp_recorder_options){ 0 });
    verdict_sample_play_hostile(&r.report);
    verdict_sample_assert_no_controls(buf_str(&to));
    assert_true(str_starts(buf_str(&to), STR("Verifying \\x1b[31m ")));
    assert_true(str_ends(buf_str(&to), STR("\n\nResult: 1/3 passed, 2 failed\n")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(differences_are_those_of_mcp_recorder),
        TEST(the_lines_are_those_of_mcp_recorder),
        TEST(hostile_text_is_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "report/verdict-report.h"

#include "test.h"

static void every_value_has_a_word(void **state)
{
    (void)state;
    for (int i = 0; i < VERDICT_KINDS; i++)
        assert_true(verdict_report_kind((enum verdict_kind)i).len > 0);
    for (int i = 0; i <= FAILURE_PROTOCOL; i++)
        assert_true(verdict_report_failure((enum verdict_failure)i).len > 0);
    for (int i = 0; i <= FINDING_NOTE; i++)
        assert_true(verdict_report_severity((enum finding_severity)i).len > 0);
    assert_str(verdict_report_kind(VERDICT_VOLATILE), STR("volatile"));
    assert_str(verdict_report_failure(FAILURE_MISSING), STR("no-response"));
    assert_str(verdict_report_severity(FINDING_NOTE), STR("note"));
}

static void check_name(const struct call_verdict *v, const char *want)
{
    struct buf to;

    buf_init(&to, 1 << 16);
    verdict_report_write_name(&to, v);
    assert_str(buf_str(&to), str_z(want));
    buf_release(&to);
}

static void a_name_has_method_subject_and_seq(void **state)
{
    (void)state;
    check_name(&(struct call_verdict){ .method = STR("ping") }, "ping");
    check_name(
        &(struct call_verdict){ .method = STR("tools/call"), .subject = STR("a\nb"), .seq = 7 },
        "tools/call a\\nb #7");
}

static void check_reason(enum verdict_kind kind, enum verdict_failure failure,
                         struct str reason, const char *want)
{
    struct buf to;

    buf_init(&to, 1 << 16);
    verdict_report_write_reason(
        &to, &(struct call_verdict){ .kind = kind, .failure = failure, .reason = reason });
    assert_str(buf_str(&to), str_z(want));
    buf_release(&to);
}

static void a_reason_has_its_prefix(void **state)
{
    (void)state;
    check_reason(VERDICT_SKIPPED, FAILURE_NONE, STR("no\x1b"), "skipped: no\\x1b");
    check_reason(VERDICT_BLOCKED, FAILURE_NONE, STR_NONE, "blocked");
    check_reason(VERDICT_FAILED, FAILURE_MISSING, STR("it exited"), "no response: it exited");
    check_reason(VERDICT_FAILED, FAILURE_CONTENT, STR_NONE, "");
    check_reason(VERDICT_PASSED, FAILURE_NONE, STR_NONE, "");
}

static void only_a_changed_value_is_explained(void **state)
{
    struct finding f = { .rule = STR("content-changed"),
                         .message = STR("m"),
                         .path = STR("$"),
                         .recorded = STR("1"),
                         .live = STR("2") };

    (void)state;
    assert_false(verdict_report_needs_message(&f));
    f.live = STR("1"); /* both were redacted */
    assert_true(verdict_report_needs_message(&f));
    f.live = STR("2");
    f.severity = FINDING_NOTE;
    assert_true(verdict_report_needs_message(&f));
    f.severity = FINDING_WARNING;
    f.rule = STR("type-changed");
    assert_true(verdict_report_needs_message(&f));
    f.rule = STR("content-changed");
    f.recorded = STR_NONE;
    assert_true(verdict_report_needs_message(&f));
    f.message = STR_NONE;
    assert_false(verdict_report_needs_message(&f));
}

static void volatile_calls_passed(void **state)
{
    struct call_verdict_totals t = {
        .count = { [VERDICT_PASSED] = 3, [VERDICT_VOLATILE] = 2, [VERDICT_SKIPPED] = 1 }
    };

    (void)state;
    assert_int_equal(verdict_report_passed(&t), 5);
}

static void assert_server(const char *method, const char *response, const char *want)
{
    struct verdict_report_run run = { .command = STR_NONE };
    struct arena a = { 0 };

    verdict_report_read_server(&run, str_z(method), str_z(response), &a);
    assert_str(arena_printf(&a, "%.*s|%.*s|%.*s", STR_ARG(run.server_name),
                            STR_ARG(run.server_version), STR_ARG(run.protocol)),
               str_z(want));
    arena_release(&a);
}

static void the_server_is_read_from_a_response(void **state)
{
    (void)state;
    assert_server("initialize",
                  "{\"result\":{\"protocolVersion\":\"2025-11-25\",\"serverInfo\":{\"name\":"
                  "\"a\\u00e9\",\"version\":\"1\"}}}",
                  "aé|1|2025-11-25");
    assert_server(
        "server/discover",
        "{\"result\":{\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\","
        "\"version\":\"2\"}}}}",
        "s|2|");
    assert_server("initialize", "{\"error\":{\"code\":1}}", "||");
    assert_server("initialize", "", "||");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_has_a_word),
        cmocka_unit_test(a_name_has_method_subject_and_seq),
        cmocka_unit_test(a_reason_has_its_prefix),
        cmocka_unit_test(only_a_changed_value_is_explained),
        cmocka_unit_test(volatile_calls_passed),
        cmocka_unit_test(the_server_is_read_from_a_response),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "report/contract-report.h"

#include "contract-sample.h"
#include "report/verdict-github.h"

static void changes_are_counted_without_the_allowed_ones(void **state)
{
    uint64_t counts[CONTRACT_SEVERITIES];
    struct contract_sample s;
    struct buf b;

    (void)state;
    contract_sample_init(&s);
    assert_int_equal(contract_report_count(&s.report, counts), 1);
    assert_int_equal(counts[CONTRACT_BREAKING], 1);
    assert_int_equal(counts[CONTRACT_ROUTING], 1);
    buf_init(&b, 1 << 10);
    contract_report_write_counts(&b, &s.report);
    assert_str(buf_str(&b), STR("1 breaking, 1 routing, 1 allowed"));
    buf_clear(&b);
    s.changes.count = 0;
    contract_report_write_counts(&b, &s.report);
    assert_str(buf_str(&b), STR("no changes"));
    buf_release(&b);
    contract_sample_release(&s);
}

static void changes_are_findings_of_other_reports(void **state)
{
    const struct verdict_report_run run = { .command = STR("lock"),
                                            .file = STR("a.lock.json"),
                                            .no_calls = true };
    struct verdict_github github;
    struct contract_sample s;
    struct buf b;

    (void)state;
    contract_sample_init(&s);
    buf_init(&b, 1 << 16);
    verdict_github_init(&github, &b);
    contract_report_give(&s.report, &run, NULL, 0, &github.report);
    github.report.finish(&github.report);
    assert_true(str_contains(buf_str(&b), STR("::error file=a.lock.json,line=1,")));
    assert_true(str_contains(buf_str(&b),
                             STR("breaking: tool 'search': a required property was added")));
    assert_true(str_contains(buf_str(&b), STR("::warning ")));
    verdict_github_release(&github);
    buf_release(&b);
    contract_sample_release(&s);
}

static void words_are_those_of_the_options(void **state)
{
    (void)state;
    assert_str(contract_report_fail_on(FAIL_ON_BREAKING_USED), STR("breaking-used"));
    assert_str(contract_report_fail_on(FAIL_ON_NEVER), STR("never"));
    assert_str(contract_report_fail_on(FAIL_ON_COSMETIC), STR("cosmetic"));
    assert_str(contract_report_profile(CONTRACT_PROFILE_WIRE), STR("wire"));
    assert_str(contract_report_list(SURFACE_TEMPLATE), STR("resource-templates"));
    assert_str(contract_report_list(SURFACE_SERVER), STR("server"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_counted_without_the_allowed_ones),
        cmocka_unit_test(changes_are_findings_of_other_reports),
        cmocka_unit_test(words_are_those_of_the_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

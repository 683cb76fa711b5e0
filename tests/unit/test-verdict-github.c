#include "report/verdict-github.h"

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

static void play(void (*sample)(struct verdict_report *report))
{
    struct verdict_github r;

    verdict_github_init(&r, &to);
    sample(&r.report);
    verdict_github_release(&r);
}

static void the_sample_is_written_exactly(void **state)
{
    (void)state;
    play(verdict_sample_play);
    verdict_sample_assert_file(buf_str(&to), "tests/report/sample.github");
}

static void hostile_text_is_escaped(void **state)
{
    (void)state;
    play(verdict_sample_play_hostile);
    verdict_sample_assert_no_controls(buf_str(&to));
    verdict_sample_assert_file(buf_str(&to), "tests/report/hostile.github");
}

static size_t count_lines(struct str text, struct str prefix)
{
    size_t n = 0;

    while (text.len)
        n += str_starts(str_cut(&text, '\n'), prefix);
    return n;
}

static void play_failures(size_t failed)
{
    struct verdict_github g;

    buf_clear(&to);
    verdict_github_init(&g, &to);
    verdict_sample_play_many(&g.report, 3, failed);
    verdict_github_release(&g);
}

static void ten_errors_are_shown(void **state)
{
    (void)state;
    play_failures(10);
    assert_int_equal(count_lines(buf_str(&to), STR("::error file=golden.jsonl,line=")), 10);
    assert_null(strstr(buf_z(&to), "more"));
    play_failures(47);
    assert_int_equal(count_lines(buf_str(&to), STR("::")), 10);
    assert_int_equal(count_lines(buf_str(&to), STR("::error file=golden.jsonl,line=")), 9);
    assert_true(str_ends(buf_str(&to), STR("\n::error title=more errors::+38 more\n")));
    play_failures(0);
    assert_int_equal(to.len, 0);
}

static void errors_come_before_warnings(void **state)
{
    struct verdict_report_run run = { .file = STR("-") };
    struct finding warning = { .rule = STR("w"),
                               .severity = FINDING_WARNING,
                               .message = STR("one") },
                   error = {
                       .rule = STR("e"), .message = STR("two"), .file = STR("f"), .line = 3
                   };
    struct call_verdict_totals totals = { .duration_us = 1 };
    struct verdict_github g;

    (void)state;
    verdict_github_init(&g, &to);
    g.report.begin(&g.report, &run);
    g.report.finding(&g.report, &warning);
    g.report.finding(&g.report, &error);
    g.report.end(&g.report, &(struct verdict_report_result){ .totals = &totals });
    g.report.finish(&g.report);
    assert_str(buf_str(&to), STR("::error file=f,line=3,title=e::two\n"
                                 "::warning title=w::one\n"));
    verdict_github_release(&g);
}

static void play_ten(struct verdict_report *report)
{
    verdict_sample_play_several(report, 10);
}

static void the_limit_is_for_all_recordings(void **state)
{
    (void)state;
    play(play_ten);
    assert_int_equal(count_lines(buf_str(&to), STR("::error ")), VERDICT_GITHUB_MAX);
    assert_int_equal(count_lines(buf_str(&to), STR("::error file=0.jsonl,line=14")), 1);
    assert_int_equal(count_lines(buf_str(&to), STR("::error file=1.jsonl,line=14")), 1);
    assert_int_equal(count_lines(buf_str(&to), STR("::error title=more errors::+21 more")), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_sample_is_written_exactly), TEST(hostile_text_is_escaped),
        TEST(ten_errors_are_shown),          TEST(the_limit_is_for_all_recordings),
        TEST(errors_come_before_warnings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

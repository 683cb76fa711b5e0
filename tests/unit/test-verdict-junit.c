#include "report/verdict-junit.h"

#include "base/utf8.h"
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
    struct verdict_junit r;

    verdict_junit_init(&r, &to);
    sample(&r.report);
    verdict_junit_release(&r);
}

static void the_sample_is_written_exactly(void **state)
{
    (void)state;
    play(verdict_sample_play);
    verdict_sample_assert_file(buf_str(&to), "tests/report/sample.xml");
}

static void hostile_text_is_escaped(void **state)
{
    (void)state;
    play(verdict_sample_play_hostile);
    verdict_sample_assert_no_controls(buf_str(&to));
    verdict_sample_assert_file(buf_str(&to), "tests/report/hostile.xml");
}

static void a_run_without_calls_is_an_empty_suite(void **state)
{
    (void)state;
    play(verdict_sample_play_empty);
    assert_str(buf_str(&to), STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                 "<testsuites tests=\"0\" failures=\"0\" errors=\"0\" "
                                 "skipped=\"0\" time=\"1.400\">\n"
                                 "  <testsuite name=\"\" tests=\"0\" failures=\"0\" "
                                 "errors=\"0\" skipped=\"0\" time=\"1.400\">\n"
                                 "    <properties>\n"
                                 "      <property name=\"command\" value=\"verify\"/>\n"
                                 "      <property name=\"exit-code\" value=\"1\"/>\n"
                                 "    </properties>\n"
                                 "  </testsuite>\n"
                                 "</testsuites>\n"));
}

/* Gives a report one failed call with `count` long findings. */
static void play_long(struct verdict_junit *j, size_t count)
{
    static const struct verdict_report_run run = { .file = STR_INIT("a.jsonl") };
    struct finding found[40];
    struct call_verdict v = { .kind = VERDICT_FAILED,
                              .failure = FAILURE_CONTENT,
                              .method = STR("ping"),
                              .findings = found,
                              .finding_count = count };
    struct buf text;

    buf_init(&text, 1 << 16);
    for (size_t i = 0; i < 2000; i++)
        buf_add(&text, STR("\xc3\xa4"));
    for (size_t i = 0; i < count; i++)
        found[i] = (struct finding){ .message = buf_str(&text) };
    j->report.begin(&j->report, &run);
    j->report.verdict(&j->report, &v);
    buf_release(&text);
}

static void a_long_text_is_cut_between_characters(void **state)
{
    struct verdict_junit j;
    const char *start, *end;

    (void)state;
    verdict_junit_init(&j, &to);
    play_long(&j, 40);
    start = strstr(buf_z(&j.cases), "\">\xc3\xa4");
    assert_non_null(start);
    end = strstr(start, "…</failure>");
    assert_non_null(end);
    assert_true(end - start > VERDICT_JUNIT_TEXT - 64);
    assert_true(end - start <= VERDICT_JUNIT_TEXT);
    assert_true(utf8_valid(buf_str(&j.cases)));
    verdict_junit_release(&j);
}

/* Counts an occurrence of `what` in the output. */
static size_t count(const char *what)
{
    size_t n = 0;

    for (const char *at = buf_z(&to); (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void play_two(struct verdict_report *report)
{
    verdict_sample_play_several(report, 2);
}

static void each_recording_is_a_suite(void **state)
{
    (void)state;
    play(play_two);
    assert_int_equal(count("<testsuites tests=\"18\" failures=\"6\" errors=\"0\" "
                           "skipped=\"4\" time=\"2.800\">"),
                     1);
    assert_int_equal(count("<testsuite name=\"0.jsonl\" tests=\"9\" failures=\"3\""), 1);
    assert_int_equal(count("<testsuite name=\"1.jsonl\" tests=\"9\" failures=\"3\""), 1);
    assert_int_equal(count("</testsuites>"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_sample_is_written_exactly),         TEST(hostile_text_is_escaped),
        TEST(a_run_without_calls_is_an_empty_suite), TEST(each_recording_is_a_suite),
        TEST(a_long_text_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

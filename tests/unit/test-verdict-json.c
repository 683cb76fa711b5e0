#include "report/verdict-json.h"

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
    struct verdict_json r;

    verdict_json_init(&r, &to);
    sample(&r.report);
    verdict_json_release(&r);
}

/* A finding of no call comes between two calls. */
static void play_mixed(struct verdict_report *report)
{
    static const struct verdict_report_run run = { .command = STR_INIT("verify"),
                                                   .file = STR_INIT("a") };
    static const struct call_verdict call = { .number = 7, .method = STR_INIT("ping") };
    static const struct finding finding = { .rule = STR_INIT("found") };
    const struct call_verdict_totals totals = { .duration_us = -1 };

    report->begin(report, &run);
    report->finding(report, &finding);
    report->verdict(report, &call);
    report->finding(report, &finding);
    report->end(report, &(struct verdict_report_result){ .totals = &totals });
}

static void the_sample_is_written_exactly(void **state)
{
    (void)state;
    play(verdict_sample_play);
    verdict_sample_assert_file(buf_str(&to), "tests/report/sample.json");
}

static void hostile_text_is_escaped(void **state)
{
    (void)state;
    play(verdict_sample_play_hostile);
    verdict_sample_assert_no_controls(buf_str(&to));
    verdict_sample_assert_file(buf_str(&to), "tests/report/hostile.json");
}

static void a_large_value_is_replaced_by_its_size(void **state)
{
    (void)state;
    play(verdict_sample_play_hostile);
    assert_null(strstr(buf_z(&to), "\"recorded\":"));
    assert_non_null(strstr(buf_z(&to), ",\"recorded_bytes\":300"));
    assert_non_null(strstr(buf_z(&to), ",\"live_bytes\":300"));
}

static void a_run_without_calls_has_empty_arrays(void **state)
{
    (void)state;
    play(verdict_sample_play_empty);
    assert_non_null(strstr(buf_z(&to), "\"target\":null,\"server\":null,"));
    assert_non_null(strstr(buf_z(&to), ",\"calls\":[],\"findings\":[],\"summary\":{"));
}

static void findings_come_after_all_calls(void **state)
{
    const char *calls, *call, *findings, *finding;

    (void)state;
    play(play_mixed);
    calls = strstr(buf_z(&to), "\"calls\":[{");
    call = strstr(buf_z(&to), "\"number\":7");
    findings = strstr(buf_z(&to), "]}],\"findings\":[{");
    finding = strstr(buf_z(&to), "\"rule\":\"found\"");
    assert_true(calls && calls < call && call < findings && findings < finding);
    assert_non_null(strstr(finding, "},{\"rule\":\"found\""));
}

static void play_two(struct verdict_report *report)
{
    verdict_sample_play_several(report, 2);
}

static void each_recording_is_a_line(void **state)
{
    struct str rest, line;
    size_t lines = 0;

    (void)state;
    play(play_two);
    for (rest = buf_str(&to); rest.len; lines++) {
        line = str_cut(&rest, '\n');
        assert_true(str_starts(line, STR("{\"v\":2,\"command\":\"verify\",\"file\":\"")));
        assert_true(str_ends(line, STR(",\"exit_code\":1}")));
    }
    assert_int_equal(lines, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_sample_is_written_exactly),         TEST(hostile_text_is_escaped),
        TEST(a_large_value_is_replaced_by_its_size), TEST(a_run_without_calls_has_empty_arrays),
        TEST(findings_come_after_all_calls),         TEST(each_recording_is_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

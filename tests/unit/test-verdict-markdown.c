#include "report/verdict-markdown.h"

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
    struct verdict_markdown r;

    verdict_markdown_init(&r, &to);
    sample(&r.report);
    verdict_markdown_release(&r);
}

static void the_sample_is_written_exactly(void **state)
{
    (void)state;
    play(verdict_sample_play);
    verdict_sample_assert_file(buf_str(&to), "tests/report/sample.md");
}

static void hostile_text_is_escaped(void **state)
{
    (void)state;
    play(verdict_sample_play_hostile);
    verdict_sample_assert_no_controls(buf_str(&to));
    verdict_sample_assert_file(buf_str(&to), "tests/report/hostile.md");
}

static void play_many(size_t passed, size_t failed)
{
    struct verdict_markdown m;

    buf_clear(&to);
    verdict_markdown_init(&m, &to);
    verdict_sample_play_many(&m.report, passed, failed);
    verdict_markdown_release(&m);
}

static void rows_that_do_not_fit_are_counted(void **state)
{
    uint64_t rows = 0, left_out;
    const char *more;
    struct str rest;

    (void)state;
    play_many(10000, 20000);
    assert_true(to.len <= VERDICT_MARKDOWN_MAX);
    for (const char *at = buf_z(&to); (at = strstr(at, "| ✗ |")); at++)
        rows++;
    more = strstr(buf_z(&to), "| … | ");
    assert_non_null(more);
    rest = str_z(more + strlen("| … | "));
    assert_true(str_parse_u64(str_cut(&rest, ' '), &left_out));
    assert_true(rows > 100);
    assert_int_equal(rows + left_out, 20000);
    assert_non_null(strstr(more, "<details><summary>10000 passed</summary>\n\n| | call |"));
    assert_true(str_ends(buf_str(&to), STR("more | | |\n\n</details>\n\n")));
}

static void a_passed_run_has_no_table_of_failures(void **state)
{
    (void)state;
    play_many(1, 0);
    assert_str(buf_str(&to), STR("### MCP verify: 1 passed\n\n"
                                 "`golden.jsonl` → `node dist/index.js`, server `github-mcp` "
                                 "`2.4.0`, protocol `2025-11-25`, 1.4 s\n\n"
                                 "<details><summary>1 passed</summary>\n\n"
                                 "| | call | time | result |\n|---|---|---|---|\n"
                                 "| ✓ | `tools/call t #2` | 1.0 ms |  |\n\n"
                                 "</details>\n\n"));
}

static void a_run_without_calls_says_so(void **state)
{
    (void)state;
    play(verdict_sample_play_empty);
    assert_true(str_starts(buf_str(&to), STR("### MCP verify: no calls\n\n1.4 s\n\naccept: ")));
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

static void play_hundred(struct verdict_report *report)
{
    verdict_sample_play_several(report, 100);
}

static void each_recording_is_a_section_below_the_totals(void **state)
{
    (void)state;
    play(play_two);
    assert_true(str_starts(buf_str(&to), STR("## MCP: 2 recordings: 6 failed (2 updated), ")));
    assert_int_equal(count("### MCP verify: 3 failed (1 updated), "), 2);
    assert_int_equal(count("`0.jsonl` → "), 1);
    assert_int_equal(count("`1.jsonl` → "), 1);
    assert_int_equal(count("more recordings"), 0);
}

static void recordings_that_do_not_fit_are_counted(void **state)
{
    (void)state;
    play(play_hundred);
    assert_true(to.len <= VERDICT_MARKDOWN_MAX);
    assert_true(str_starts(buf_str(&to), STR("## MCP: 100 recordings: 300 failed")));
    assert_true(count("### MCP verify: ") > 20);
    assert_int_equal(count(" more recordings, which are counted above"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_sample_is_written_exactly),
        TEST(hostile_text_is_escaped),
        TEST(rows_that_do_not_fit_are_counted),
        TEST(a_passed_run_has_no_table_of_failures),
        TEST(a_run_without_calls_says_so),
        TEST(each_recording_is_a_section_below_the_totals),
        TEST(recordings_that_do_not_fit_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

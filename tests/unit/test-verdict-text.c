#include "report/verdict-text.h"

#include "base/text-wrap.h"
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

static void play(void (*sample)(struct verdict_report *report),
                 struct verdict_text_options options)
{
    struct verdict_text t;

    verdict_text_init(&t, &to, &options);
    sample(&t.report);
}

static void a_terminal_has_80_columns(void **state)
{
    (void)state;
    play(verdict_sample_play, (struct verdict_text_options){ .width = 80 });
    verdict_sample_assert_file(buf_str(&to), "tests/report/sample.txt");
}

/* Plays two calls of a run of `count`. */
static void play_numbers(uint64_t count)
{
    const struct verdict_report_run run = { .file = STR("a.jsonl"), .call_count = count };
    const struct verdict_text_options options = { .width = 80 };
    struct call_verdict v = { .method = STR("ping"), .number = 1, .seq = 2, .duration_us = -1 };
    struct verdict_text t;

    buf_clear(&to);
    verdict_text_init(&t, &to, &options);
    t.report.begin(&t.report, &run);
    t.report.verdict(&t.report, &v);
    v.number = (uint32_t)count;
    t.report.verdict(&t.report, &v);
}

static void the_numbers_of_many_calls_are_aligned(void **state)
{
    (void)state;
    play_numbers(99);
    assert_str(buf_str(&to), STR("a.jsonl\n\n"
                                 "  ✓  1  ping                                         #2\n"
                                 "  ✓ 99  ping                                         #2\n"));
    play_numbers(1000);
    assert_str(buf_str(&to),
               STR("a.jsonl\n\n"
                   "  ✓    1  ping                                         #2\n"
                   "  ✓ 1000  ping                                         #2\n"));
}

static void verbose_shows_notes_and_a_log_is_not_wrapped(void **state)
{
    (void)state;
    play(verdict_sample_play, (struct verdict_text_options){ .verbose = true });
    verdict_sample_assert_file(buf_str(&to), "tests/report/sample-verbose.txt");
}

/* Removes the sequences that change colours. */
static void remove_colors(struct buf *text)
{
    size_t kept = 0;

    for (size_t i = 0; i < text->len; i++) {
        if (text->at[i] == '\x1b')
            while (text->at[i] != 'm')
                i++;
        else
            text->at[kept++] = text->at[i];
    }
    text->len = kept;
}

static void colours_change_no_text(void **state)
{
    (void)state;
    play(verdict_sample_play, (struct verdict_text_options){ .width = 80, .color = true });
    assert_non_null(strstr(buf_z(&to), "  \x1b[31m✗\x1b[0m  3  tools/call search_issues"));
    assert_non_null(strstr(buf_z(&to), "\x1b[31m- \"3 issues found\"\x1b[0m\n"));
    assert_non_null(strstr(buf_z(&to), "\n\x1b[32m3 passed\x1b[0m (1 volatile) · "));
    remove_colors(&to);
    verdict_sample_assert_file(buf_str(&to), "tests/report/sample.txt");
}

static void hostile_text_is_escaped(void **state)
{
    (void)state;
    play(verdict_sample_play_hostile, (struct verdict_text_options){ .width = 80 });
    verdict_sample_assert_no_controls(buf_str(&to));
    verdict_sample_assert_file(buf_str(&to), "tests/report/hostile.txt");
}

static void a_narrow_terminal_gets_narrow_rows(void **state)
{
    struct str rest;

    (void)state;
    play(verdict_sample_play, (struct verdict_text_options){ .width = 50 });
    rest = buf_str(&to);
    while (rest.len) {
        struct str line = str_cut(&rest, '\n');

        if (str_starts(line, STR("3 passed")))
            break; /* the totals, then command lines to copy */
        if (text_wrap_columns(line) > 50 && !str_contains(line, STR("$.")))
            fail_msg("too wide: %.*s", STR_ARG(line));
    }
    assert_true(rest.len > 0);
    assert_non_null(
        strstr(buf_z(&to), "\n  ✗  3  tools/call search_issues    #13    212 ms\n"));
}

static void a_call_shows_its_first_differences(void **state)
{
    struct finding found[VERDICT_TEXT_FINDINGS + 3];
    struct call_verdict v = { .number = 1,
                              .method = STR("ping"),
                              .kind = VERDICT_FAILED,
                              .failure = FAILURE_CONTENT,
                              .findings = found,
                              .finding_count = VERDICT_TEXT_FINDINGS + 3 };
    struct verdict_text t;

    (void)state;
    for (size_t i = 0; i < v.finding_count; i++)
        found[i] = (struct finding){ .message = STR("x") };
    verdict_text_init(&t, &to, &(struct verdict_text_options){ 0 });
    t.report.verdict(&t.report, &v);
    assert_true(str_ends(buf_str(&to), STR("\n        x\n        and 3 more; -v shows all\n")));
    buf_clear(&to);
    t.options.verbose = true;
    t.report.verdict(&t.report, &v);
    assert_true(str_ends(buf_str(&to), STR("\n        x\n        x\n        x\n")));
    assert_null(strstr(buf_z(&to), "more"));
}

static void a_run_without_calls_says_so(void **state)
{
    (void)state;
    play(verdict_sample_play_empty, (struct verdict_text_options){ 0 });
    assert_true(str_starts(buf_str(&to), STR("\n\n\nno calls · 1.4 s\naccept: ")));
}

static void a_notice_comes_before_the_verdicts(void **state)
{
    struct verdict_report_run run = { .file = STR("a.jsonl"),
                                      .target = STR("https://mcp.example.com/mcp"),
                                      .notice =
                                          STR("only tools marked readOnlyHint are "
                                              "called; --include-destructive calls all") };
    struct verdict_text t;

    (void)state;
    verdict_text_init(&t, &to, &(struct verdict_text_options){ .width = 60 });
    t.report.begin(&t.report, &run);
    assert_str(buf_str(&to), STR("a.jsonl → https://mcp.example.com/mcp\n"
                                 "only tools marked readOnlyHint are called;\n"
                                 "--include-destructive calls all\n\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_terminal_has_80_columns),
        TEST(the_numbers_of_many_calls_are_aligned),
        TEST(verbose_shows_notes_and_a_log_is_not_wrapped),
        TEST(colours_change_no_text),
        TEST(hostile_text_is_escaped),
        TEST(a_narrow_terminal_gets_narrow_rows),
        TEST(a_call_shows_its_first_differences),
        TEST(a_run_without_calls_says_so),
        TEST(a_notice_comes_before_the_verdicts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

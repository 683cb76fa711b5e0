#include "report/verdict-sarif.h"

#include "test.h"
#include "verdict-sample.h"
#include "json/json.h"

static struct buf to;

static int setup(void **state)
{
    (void)state;
    buf_init(&to, 1 << 26);
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
    struct verdict_sarif s;

    verdict_sarif_init(&s, &to);
    sample(&s.report);
    verdict_sarif_release(&s);
}

static void the_sample_is_written_exactly(void **state)
{
    (void)state;
    play(verdict_sample_play);
    verdict_sample_assert_file(buf_str(&to), "tests/report/sample.sarif");
}

static void hostile_text_is_escaped(void **state)
{
    (void)state;
    play(verdict_sample_play_hostile);
    verdict_sample_assert_no_controls(buf_str(&to));
    verdict_sample_assert_file(buf_str(&to), "tests/report/hostile.sarif");
}

/* Returns how often a text occurs in the output. */
static size_t count(const char *text)
{
    size_t n = 0;

    for (const char *at = buf_z(&to); (at = strstr(at, text)); at++)
        n++;
    return n;
}

static void play_failures(size_t failed)
{
    struct verdict_sarif s;

    buf_clear(&to);
    verdict_sarif_init(&s, &to);
    verdict_sample_play_many(&s.report, 3, failed);
    verdict_sarif_release(&s);
}

static void results_past_the_limit_are_counted(void **state)
{
    (void)state;
    play_failures(VERDICT_SARIF_MAX);
    assert_int_equal(count("\"ruleId\":"), VERDICT_SARIF_MAX);
    assert_int_equal(count("truncated"), 0);
    play_failures(VERDICT_SARIF_MAX + 7);
    assert_int_equal(count("\"ruleId\":"), VERDICT_SARIF_MAX);
    assert_int_equal(count("8 more results are not in this log"), 1);
    play_failures(0);
    assert_int_equal(count("\"results\":[]"), 1);
}

/* Writes findings of no call as one report. */
static void play_findings(struct str file, const struct finding *findings, size_t n)
{
    struct verdict_report_run run = { .command = STR("lock"), .file = file };
    struct call_verdict_totals totals = { .duration_us = 1 };
    struct verdict_sarif s;

    buf_clear(&to);
    verdict_sarif_init(&s, &to);
    s.report.begin(&s.report, &run);
    for (size_t i = 0; i < n; i++)
        s.report.finding(&s.report, &findings[i]);
    s.report.end(&s.report, &(struct verdict_report_result){ .totals = &totals });
    s.report.finish(&s.report);
    verdict_sarif_release(&s);
}

static void a_location_is_a_uri(void **state)
{
    static const struct {
        struct str file;
        const char *location;
    } rows[] = {
        { STR_INIT("a b/%c:#.json"),
          "{\"uri\":\"a%20b/%25c%3A%23.json\",\"uriBaseId\":\"%SRCROOT%\"}" },
        { STR_INIT("./x.json"), "{\"uri\":\"x.json\",\"uriBaseId\":\"%SRCROOT%\"}" },
        { STR_INIT("/tmp/x"), "{\"uri\":\"file:///tmp/x\"}" },
    };
    struct finding f = { .rule = STR("r"), .message = STR("m") };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_findings(rows[i].file, &f, 1);
        if (!count(rows[i].location))
            fail_msg("%s\nlacks %s", buf_z(&to), rows[i].location);
        assert_int_equal(count("\"startLine\":1}"), 1);
    }
    play_findings(STR("-"), &f, 1);
    assert_int_equal(count("\"locations\""), 0);
}

static void a_message_makes_no_link(void **state)
{
    struct finding f = { .rule = STR("r"), .message = STR("see [x](https://a.example)") };

    (void)state;
    play_findings(STR("f"), &f, 1);
    assert_int_equal(count("[x] (https://a.example)"), 1);
}

/* Returns the fingerprint of a result. */
static struct str fingerprint(struct json *doc, size_t number, struct arena *a)
{
    struct json_val runs, results, prints;

    assert_true(json_scan(doc, buf_str(&to), &(struct json_fault){ 0 }));
    runs = json_get(json_root(doc), STR("runs"));
    results = json_get(json_item(runs, 0), STR("results"));
    prints = json_get(json_item(results, number), STR("partialFingerprints"));
    return json_text(json_get(prints, STR("mcpreelFinding/v1")), a);
}

static void a_fingerprint_depends_on_rule_subject_and_path(void **state)
{
    const struct finding base = { .rule = STR("r"),
                                  .message = STR("m"),
                                  .subject = STR("tool a"),
                                  .path = STR("$.x"),
                                  .line = 7 };
    struct finding rows[] = { base, base, base, base, base, base };
    struct arena a = { 0 };
    struct str prints[6];
    struct json doc;

    (void)state;
    rows[1].line = 9;
    rows[1].message = STR("rejects 3 of 7 calls");
    rows[2].rule = STR("q");
    rows[3].subject = STR("tool b");
    rows[4].path = STR("$.y");
    rows[5].severity = FINDING_NOTE;
    json_init(&doc);
    for (size_t i = 0; i < 5; i++) {
        play_findings(STR("f"), &rows[i], 1);
        prints[i] = arena_str(&a, fingerprint(&doc, 0, &a));
    }
    assert_str(prints[1], prints[0]);
    for (size_t i = 2; i < 5; i++)
        assert_false(str_eq(prints[i], prints[0]));
    play_findings(STR("f"), rows, 6);
    assert_int_equal(count("\"ruleId\":"), 5); /* not the note */
    assert_false(str_eq(fingerprint(&doc, 0, &a), fingerprint(&doc, 1, &a)));
    json_release(&doc);
    arena_release(&a);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_sample_is_written_exactly),
        TEST(hostile_text_is_escaped),
        TEST(results_past_the_limit_are_counted),
        TEST(a_location_is_a_uri),
        TEST(a_message_makes_no_link),
        TEST(a_fingerprint_depends_on_rule_subject_and_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

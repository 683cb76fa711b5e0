#include "replay/replay-findings.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loaded-index.h"

static const char recording[] = "c2s {'id':1,'method':'initialize'}\n"
                                "c2s {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
                                "c2s {'id':3,'method':'tools/call','params':{'name':'b'}}\n"
                                "c2s {'id':4,'method':'tools/list'}\n";

/* A finished replay of the recording, and its findings as lines. */
struct result {
    struct loaded_index loaded;
    struct replay replay;
    struct used_set none;
    struct buf lines;
};

static int setup(void **state)
{
    struct result *t = mem_new(struct result);

    loaded_index_init(&t->loaded, MATCH_SEQUENTIAL, recording);
    t->replay.index = &t->loaded.index;
    replay_report_init(&t->replay.report, &t->loaded.index, &t->replay.options.match);
    used_set_init(&t->none, t->loaded.index.call_count);
    buf_init(&t->lines, 1 << 20);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct result *t = *state;

    replay_report_release(&t->replay.report);
    used_set_release(&t->none);
    loaded_index_release(&t->loaded);
    buf_release(&t->lines);
    free(t);
    return 0;
}

static void add_verdict(void *to, const struct call_verdict *v)
{
    static const char *const kinds[] = { "passed", "volatile", "failed", "blocked", "skipped" };

    buf_printf(to, "%lu session %lu #%lu %.*s %.*s %s %.*s\n", (unsigned long)v->number,
               (unsigned long)v->session, (unsigned long)v->seq, STR_ARG(v->method),
               STR_ARG(v->subject), kinds[v->kind], STR_ARG(v->reason));
}

static void add_finding(void *to, const struct finding *f)
{
    static const char *const severities[] = { "error", "warning", "note" };

    buf_printf(to, "%s %.*s #%lu: %.*s\n", severities[f->severity], STR_ARG(f->rule),
               (unsigned long)f->seq, STR_ARG(f->message));
}

static struct call_verdict_totals check(struct result *t, const char *want)
{
    const struct replay_findings_sink sink = { add_verdict, add_finding, &t->lines };
    struct call_verdict_totals totals;

    buf_clear(&t->lines);
    totals = replay_findings_give(&t->replay, &sink);
    assert_str(buf_str(&t->lines), str_z(want));
    assert_int_equal(totals.duration_us, -1);
    return totals;
}

static void add_miss(struct result *t, uint32_t nearest, const char *reason)
{
    struct terse_scanned s;
    struct mcp_message m =
        mcp_classify(terse_scan(&s, "{'id':1,'method':'tools/call'}"), &s.arena);
    struct miss_report why = { .subject = STR("x"), .nearest = nearest, .reason = reason };

    replay_report_add_miss(&t->replay.report, &m, &why);
    terse_scanned_release(&s);
}

static void used_calls_have_passed(void **state)
{
    struct result *t = *state;
    struct call_verdict_totals totals;

    replay_report_add_match(&t->replay.report,
                            &(struct match){ .outcome = MATCH_FOUND, .call = 3 }, &t->none);
    totals = check(t, "1 session 1 #2 tools/call a skipped no client requested it\n"
                      "2 session 1 #3 tools/call b passed \n"
                      "3 session 1 #4 tools/list  skipped no client requested it\n");
    assert_int_equal(totals.count[VERDICT_PASSED], 1);
    assert_int_equal(totals.count[VERDICT_SKIPPED], 2);
    t->replay.options.strict_unused = true;
    totals = check(t, "1 session 1 #2 tools/call a failed no client requested it\n"
                      "2 session 1 #3 tools/call b passed \n"
                      "3 session 1 #4 tools/list  failed no client requested it\n");
    assert_int_equal(totals.count[VERDICT_FAILED], 2);
}

static const char unused[] = "1 session 1 #2 tools/call a skipped no client requested it\n"
                             "2 session 1 #3 tools/call b skipped no client requested it\n"
                             "3 session 1 #4 tools/list  skipped no client requested it\n";

/* Checks the lines after the verdicts; no call is used. */
static struct call_verdict_totals check_findings(struct result *t, const char *want)
{
    struct call_verdict_totals totals;
    struct buf all;

    buf_init(&all, 1 << 16);
    buf_add(&all, str_z(unused));
    buf_add(&all, str_z(want));
    totals = check(t, buf_z(&all));
    buf_release(&all);
    return totals;
}

static void a_miss_is_an_error_if_it_sets_the_exit_code(void **state)
{
    struct result *t = *state;
    struct call_verdict_totals totals;

    add_miss(t, 3, "exhausted");
    add_miss(t, 0, "no-match");
    totals =
        check_findings(t, "error unmatched-request #3: no recorded call matches tools/call "
                          "x (exhausted); nearest: #3 tools/call b\n"
                          "error unmatched-request #0: no recorded call matches tools/call "
                          "x\n");
    assert_int_equal(totals.findings[FINDING_ERROR], 2);
    t->replay.options.on_miss = ON_MISS_WARN;
    totals =
        check_findings(t, "warning unmatched-request #3: no recorded call matches tools/call "
                          "x (exhausted); nearest: #3 tools/call b\n"
                          "warning unmatched-request #0: no recorded call matches tools/call "
                          "x\n");
    assert_int_equal(totals.findings[FINDING_WARNING], 2);
}

static void misses_that_were_not_kept_are_counted(void **state)
{
    struct result *t = *state;

    for (int i = 0; i < REPLAY_REPORT_MAX + 2; i++)
        add_miss(t, 0, "no-match");
    replay_findings_give(&t->replay,
                         &(struct replay_findings_sink){ add_verdict, add_finding, &t->lines });
    assert_true(str_ends(buf_str(&t->lines),
                         STR("\nerror unmatched-request #0: 2 more unmatched requests\n")));
}

static void everything_else_is_a_warning_unless_it_sets_the_exit_code(void **state)
{
    struct result *t = *state;
    struct replay_report *r = &t->replay.report;

    r->params_differ = 1;
    r->ambiguous = 2;
    replay_report_add_refusal(r);
    replay_report_add_server_request(r, 2, STR("p"), SERVER_REQUEST_DIFFERS);
    replay_report_add_server_request(r, 2, STR("q"), SERVER_REQUEST_UNSUPPORTED);
    replay_report_add_server_request(r, 3, STR("r"), SERVER_REQUEST_NO_RESPONSE);
    check_findings(t,
                   "warning protocol-version-refused #0: 1 request with a protocol version "
                   "that is not in the recording\n"
                   "warning differing-params #0: 1 request matched in spite of other params\n"
                   "warning ambiguous-match #0: 2 requests matched one of several calls that "
                   "differ only in redacted values\n"
                   "warning server-request-differs #2: server request p of #2 tools/call a: "
                   "the client's response differs from the recorded one\n"
                   "warning server-request-unsupported #2: server request q of #2 tools/call "
                   "a: not sent: the client does not support it\n"
                   "warning server-request-unanswered #3: server request r of #3 tools/call "
                   "b: the client did not respond\n");
    r->params_differ = r->ambiguous = r->note_count = 0;
    t->replay.shared.refused_clients = 1;
    t->replay.passthrough.failed = true;
    check_findings(t, "error protocol-version-refused #0: 1 request with a protocol version "
                      "that is not in the recording\n"
                      "error upstream-failed #0: the upstream for unmatched requests failed\n");
}

static void matches_by_a_rule_are_notes(void **state)
{
    static const struct match_tool_mode tool = { STR_INIT("t"), MATCH_FUZZY };
    struct result *t = *state;
    struct replay_report *r = &t->replay.report;
    struct call_verdict_totals totals;
    struct compare_rules rules;
    struct err e = ERR_NONE;

    compare_rules_init(&rules);
    assert_true(compare_rules_add_path(&rules, COMPARE_PATH_IGNORE, STR("$..q"), &e));
    t->replay.options.match.tools = &tool;
    t->replay.options.match.tool_count = 1;
    t->replay.options.match.rules.ignore = &rules;
    replay_report_release(r);
    replay_report_init(r, &t->loaded.index, &t->replay.options.match);
    replay_report_add_reason(r, 2, &(struct match_reason){ .rules = { 0 }, .rule_count = 1 });
    replay_report_add_reason(r, 2,
                             &(struct match_reason){ .rules = { 0, 1 }, .rule_count = 2 });
    r->redacted = 3;
    totals = check_findings(
        t, "note ignored-params #0: 2 requests matched because values are ignored: "
           "ignore_paths '$..q' (2)\n"
           "note tool-mode #0: 1 request matched by the mode for a tool: match t=fuzzy (1)\n"
           "note redacted-params #0: 3 requests matched a call with redacted params, which "
           "were not compared\n");
    assert_int_equal(totals.findings[FINDING_NOTE], 3);
    compare_rules_release(&rules);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(used_calls_have_passed),
        TEST(a_miss_is_an_error_if_it_sets_the_exit_code),
        TEST(misses_that_were_not_kept_are_counted),
        TEST(everything_else_is_a_warning_unless_it_sets_the_exit_code),
        TEST(matches_by_a_rule_are_notes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

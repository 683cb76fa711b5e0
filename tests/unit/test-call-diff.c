#include "diff/call-diff.h"

#include <stdlib.h>

#include "call-diff-run.h"

/* "~1>2 $.result.x 1 2" for each entry that is not the same: status, requests, then path and
 * values of each difference. */
static bool write_entry(void *arg, const struct call_diff_entry *e, struct err *err)
{
    struct buf *to = arg;

    (void)err;
    if (e->status == CALL_DIFF_SAME && !e->moved && !e->latency_changed)
        return true;
    buf_printf(to, "%s%c%u>%u%s%s", to->len ? "; " : "", "=~+-"[e->status], e -> before.seq,
               e->after.seq, e->moved ? " moved" : "", e->latency_changed ? " latency" : "");
    for (size_t i = 0; i < e->finding_count; i++) {
        const struct finding *f = &e->findings[i];

        buf_printf(to, " %.*s %.*s %.*s", STR_ARG(f->path.len ? f->path : f->rule),
                   STR_ARG(f->recorded), STR_ARG(f->live));
    }
    return true;
}

static struct call_diff_totals check_with(const struct compare_rules *rules, const char *before,
                                          const char *after, const char *want)
{
    struct call_diff_totals totals;
    struct buf got;

    buf_init(&got, 1 << 20);
    totals = call_diff_run_both(
        (struct call_diff){
            .latency_ms = 100, .latency_percent = 100, .found = write_entry, .arg = &got },
        before, after, rules);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    return totals;
}

static struct call_diff_totals check(const char *before, const char *after, const char *want)
{
    return check_with(NULL, before, after, want);
}

#define REQUEST(id, x)                                                                         \
    "c2s {'id':" #id ",'method':'tools/call','params':{'name':'t','arguments':{'x':" #x "}}}"  \
    "\n"
#define ANSWER(id, v) "s2c {'id':" #id ",'result':{'v':" v "}}\n"
#define CALL(id, x, v) REQUEST(id, x) ANSWER(id, v)

static void equal_recordings_have_no_differences(void **state)
{
    struct call_diff_totals t;

    (void)state;
    t = check(CALL(1, 1, "1") CALL(2, 2, "2"), CALL(1, 1, "1") CALL(2, 2, "2"), "");
    assert_int_equal(t.count[CALL_DIFF_SAME], 2);
    assert_false(call_diff_is_different(&t));
    t = check("", "", "");
    assert_int_equal(t.count[CALL_DIFF_SAME], 0);
    check(CALL(1, 1, "1"), CALL(9, 1, "1.0"), ""); /* other ids, other spelling */
}

static void a_response_that_differs_is_a_change(void **state)
{
    struct call_diff_totals t;

    (void)state;
    t = check(CALL(1, 1, "1"), CALL(1, 1, "2"), "~1>1 $.result.v 1 2");
    assert_int_equal(t.count[CALL_DIFF_CHANGED], 1);
    assert_true(call_diff_is_different(&t));
    check(CALL(1, 1, "'{`'a`':1}'"), CALL(1, 1, "'{`'a`':2}'"), "~1>1 $.result.v.a 1 2");
    check(CALL(1, 1, "1"), REQUEST(1, 1), "~1>1 response-removed  ");
    check(REQUEST(1, 1), CALL(1, 1, "1"), "~1>1 response-added  ");
    check(REQUEST(1, 1), REQUEST(1, 1), "");
    check(CALL(1, 1, "1"), REQUEST(1, 1) "s2c {'id':1,'error':{'code':-1,'message':'m'}}\n",
          "~1>1 call-failed   $.error  {\"code\":-1,\"message\":\"m\"} $.result {\"v\":1} ");
}

#define RESULT(id, x, members) REQUEST(id, x) "s2c {'id':" #id ",'result':{" members "}}\n"
#define TEXT "{'type':'text','text':'a'}"
#define IMAGE "{'type':'image','data':''}"

static void assert_breaking(const char *before, const char *after, const char *want)
{
    struct call_diff_totals totals;
    struct buf got, start;

    buf_init(&got, 1 << 20);
    totals = call_diff_run_both((struct call_diff){ .found = write_entry, .arg = &got }, before,
                                after, NULL);
    assert_int_equal(totals.breaking, *want != 0);
    buf_init(&start, 256);
    buf_printf(&start, "~1>1 %s ", want);
    if (*want && !str_starts(buf_str(&got), buf_str(&start)))
        fail_msg("%s", buf_z(&got));
    buf_release(&start);
    buf_release(&got);
}

static void a_call_that_fails_now_is_breaking(void **state)
{
    (void)state;
    assert_breaking(RESULT(1, 1, "'v':1"), RESULT(1, 1, "'v':1,'isError':true"), "call-failed");
    assert_breaking(RESULT(1, 1, "'v':1,'isError':false"), RESULT(1, 1, "'v':2"), "");
    assert_breaking(RESULT(1, 1, "'isError':true"), RESULT(1, 1, "'isError':false"), "");
    assert_breaking(RESULT(1, 1, "'v':1,'isError':true"), RESULT(1, 1, "'v':2,'isError':true"),
                    "");
    assert_breaking(RESULT(1, 1, "'v':1"), REQUEST(1, 1), "response-removed");
    assert_breaking(RESULT(1, 1, "'isError':true"), REQUEST(1, 1), "");
    /* other arguments */
    assert_breaking(RESULT(1, 1, "'v':1"), RESULT(1, 2, "'v':1,'isError':true"), "");
}

static void other_types_of_content_are_breaking(void **state)
{
    (void)state;
    assert_breaking(RESULT(1, 1, "'content':[" TEXT "]"), RESULT(1, 1, "'content':[" IMAGE "]"),
                    "content-types-changed");
    assert_breaking(RESULT(1, 1, "'content':[" TEXT "]"),
                    RESULT(1, 1, "'content':[" TEXT "," IMAGE "]"), "content-types-changed");
    assert_breaking(RESULT(1, 1, "'content':[" TEXT "]"), RESULT(1, 1, "'content':[]"),
                    "content-types-changed");
    /* another number and order */
    assert_breaking(RESULT(1, 1, "'content':[" TEXT "," IMAGE "]"),
                    RESULT(1, 1, "'content':[" IMAGE "," TEXT "," TEXT "]"), "");
    assert_breaking(RESULT(1, 1, "'content':[" TEXT "]"), RESULT(1, 1, "'v':1"), "");
}

static void ignored_values_break_nothing(void **state)
{
    struct compare_rules rules;
    struct call_diff_totals t;
    struct err e = ERR_NONE;

    (void)state;
    compare_rules_init(&rules);
    assert_true(compare_rules_add_field(&rules, STR("isError"), &e));
    assert_true(compare_rules_add_field(&rules, STR("content"), &e));
    t = check_with(&rules, RESULT(1, 1, "'v':1,'content':[" TEXT "]"),
                   RESULT(1, 1, "'v':2,'content':[" IMAGE "],'isError':true"),
                   "~1>1 $.result.v 1 2");
    assert_int_equal(t.breaking, 0);
    compare_rules_release(&rules);
}

static void calls_are_added_removed_and_moved(void **state)
{
    struct call_diff_totals t;

    (void)state;
    check(CALL(1, 1, "1"), CALL(1, 1, "1") CALL(2, 2, "2"), "+0>3");
    check(CALL(1, 1, "1") CALL(2, 2, "2"), CALL(1, 2, "2"), "-1>0");
    t = check(CALL(1, 1, "1") CALL(2, 2, "2") CALL(3, 3, "3"),
              CALL(2, 2, "2") CALL(3, 3, "3") CALL(1, 1, "0"), "~1>5 moved $.result.v 1 0");
    assert_int_equal(t.moved, 1);
    assert_true(call_diff_is_different(&t));
}

static void other_arguments_are_a_change(void **state)
{
    (void)state;
    check(CALL(1, 1, "1"), CALL(1, 2, "1"), "~1>1 $.params.arguments.x 1 2");
}

static void volatile_redacted_and_ignored_values_do_not_count(void **state)
{
    struct compare_rules rules;
    struct err e = ERR_NONE;

    (void)state;
    check(CALL(1, 1, "'2026-11-18T07:00:00Z'"), CALL(1, 1, "'2026-11-19T08:11:12Z'"), "");
    check(CALL(1, '2026-11-18T07:00:00Z', "1"), CALL(1, '2026-11-19T08:11:12Z', "1"), "");
    check(CALL(1, 1, "'[REDACTED:token]'"), CALL(1, 1, "'abc'"), "");
    check(CALL(1, 1, "'abc'"), CALL(1, 1, "'[REDACTED:token]'"), "");
    compare_rules_init(&rules);
    assert_true(compare_rules_add_field(&rules, STR("v"), &e));
    assert_true(compare_rules_add_field(&rules, STR("x"), &e));
    check_with(&rules, CALL(1, 1, "1"), CALL(1, 2, "2"), "");
    compare_rules_release(&rules);
}

static void results_of_lists_can_be_skipped(void **state)
{
    const char *before = "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{'v':1}}\n",
               *after = "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{'v':2}}\n";
    struct buf got;

    (void)state;
    check(before, after, "~1>1 $.result.v 1 2");
    buf_init(&got, 1 << 20);
    call_diff_run_both((struct call_diff){ .found = write_entry,
                                           .arg = &got,
                                           .skip_lists = { [SURFACE_TOOL] = true } },
                       before, after, NULL);
    assert_int_equal(got.len, 0);
    buf_release(&got);
}

static void a_skipped_list_that_fails_now_is_breaking(void **state)
{
    struct call_diff_totals t;
    struct buf got;

    (void)state;
    buf_init(&got, 1 << 20);
    t = call_diff_run_both(
        (struct call_diff){
            .found = write_entry, .arg = &got, .skip_lists = { [SURFACE_TOOL] = true } },
        "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{'tools':[]}}\n",
        "c2s {'id':1,'method':'tools/list'}\n"
        "s2c {'id':1,'error':{'code':-32601,'message':'no'}}\n",
        NULL);
    assert_int_equal(t.breaking, 1);
    assert_true(str_starts(buf_str(&got), STR("~1>1 call-failed ")));
    buf_release(&got);
}

#define TIMED(ms) "@0 " REQUEST(1, 1) "@" #ms "000 " ANSWER(1, "1")

static void latencies_count_past_both_thresholds_only(void **state)
{
    struct call_diff_totals t;

    (void)state;
    check(TIMED(10), TIMED(90), "");     /* nine times, but less than 100 ms */
    check(TIMED(1000), TIMED(1900), ""); /* 900 ms, but less than twice */
    t = check(TIMED(100), TIMED(200), "=1>1 latency");
    assert_int_equal(t.slower, 1);
    assert_false(call_diff_is_different(&t));
    t = check(TIMED(900), TIMED(200), "=1>1 latency");
    assert_int_equal(t.faster, 1);
}

static void many_differences_of_a_call_are_counted(void **state)
{
    struct buf a, b, got;

    (void)state;
    buf_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    buf_init(&got, 1 << 20);
    for (int i = 0; i < CALL_DIFF_FINDINGS_MAX + 5; i++) {
        buf_printf(&a, "%s'k%d':1", i ? "," : REQUEST(1, 1) "s2c {'id':1,'result':{", i);
        buf_printf(&b, "%s'k%d':2", i ? "," : REQUEST(1, 1) "s2c {'id':1,'result':{", i);
    }
    buf_add(&a, STR("}}\n"));
    buf_add(&b, STR("}}\n"));
    call_diff_run_both((struct call_diff){ .found = write_entry, .arg = &got }, buf_z(&a),
                       buf_z(&b), NULL);
    assert_true(got.len > CALL_DIFF_FINDINGS_MAX);
    buf_release(&a);
    buf_release(&b);
    buf_release(&got);
}

/* Counts by status and their moves. */
struct counts {
    uint64_t of[CALL_DIFF_STATUSES], findings;
};

static bool count_entry(void *arg, const struct call_diff_entry *e, struct err *err)
{
    struct counts *c = arg;

    (void)err;
    c->of[e->status]++;
    c->findings += e->finding_count;
    return true;
}

static void random_recording(struct buf *to, unsigned *seed)
{
    size_t n = (size_t)rand_r(seed) % 15;

    buf_clear(to);
    for (size_t i = 0; i < n; i++)
        buf_printf(to,
                   "c2s {'id':%zu,'method':'tools/call','params':{'name':'t%d','arguments':"
                   "{'x':%d}}}\ns2c {'id':%zu,'result':{'v':%d}}\n",
                   i, rand_r(seed) % 3, rand_r(seed) % 4, i, rand_r(seed) % 2);
}

static void exchanged_recordings_give_the_mirror(void **state)
{
    unsigned seed = 5;
    struct buf a, b;

    (void)state;
    buf_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    for (int i = 0; i < 200; i++) {
        struct counts there = { 0 }, back = { 0 };

        random_recording(&a, &seed);
        random_recording(&b, &seed);
        call_diff_run_both((struct call_diff){ .found = count_entry, .arg = &there }, buf_z(&a),
                           buf_z(&b), NULL);
        call_diff_run_both((struct call_diff){ .found = count_entry, .arg = &back }, buf_z(&b),
                           buf_z(&a), NULL);
        assert_int_equal(there.of[CALL_DIFF_ADDED], back.of[CALL_DIFF_REMOVED]);
        assert_int_equal(there.of[CALL_DIFF_REMOVED], back.of[CALL_DIFF_ADDED]);
        assert_int_equal(there.of[CALL_DIFF_SAME], back.of[CALL_DIFF_SAME]);
        assert_int_equal(there.of[CALL_DIFF_CHANGED], back.of[CALL_DIFF_CHANGED]);
        assert_int_equal(there.findings, back.findings);
    }
    buf_release(&a);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_recordings_have_no_differences),
        cmocka_unit_test(a_response_that_differs_is_a_change),
        cmocka_unit_test(a_call_that_fails_now_is_breaking),
        cmocka_unit_test(other_types_of_content_are_breaking),
        cmocka_unit_test(ignored_values_break_nothing),
        cmocka_unit_test(calls_are_added_removed_and_moved),
        cmocka_unit_test(other_arguments_are_a_change),
        cmocka_unit_test(volatile_redacted_and_ignored_values_do_not_count),
        cmocka_unit_test(results_of_lists_can_be_skipped),
        cmocka_unit_test(a_skipped_list_that_fails_now_is_breaking),
        cmocka_unit_test(latencies_count_past_both_thresholds_only),
        cmocka_unit_test(many_differences_of_a_call_are_counted),
        cmocka_unit_test(exchanged_recordings_give_the_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

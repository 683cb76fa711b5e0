#include "verify/judge.h"

#include "terse.h"
#include "test.h"

struct rig {
    struct compare_rules rules;
    struct judge judge;
    struct arena arena;
};

static void begin(struct rig *r)
{
    *r = (struct rig){ 0 };
    compare_rules_init(&r->rules);
    judge_init(&r->judge, &r->rules, NULL);
}

static void end(struct rig *r)
{
    judge_release(&r->judge);
    compare_rules_release(&r->rules);
    arena_release(&r->arena);
}

static void judge(struct rig *r, const char *method, bool is_poll, const char *recorded,
                  const char *live)
{
    struct json a, b;
    struct json_fault fault;

    json_init(&a);
    json_init(&b);
    assert_true(json_scan(&a, terse_json(&r->arena, recorded), &fault));
    assert_true(json_scan(&b, terse_json(&r->arena, live), &fault));
    judge_clear(&r->judge);
    judge_response(&r->judge, str_z(method), is_poll, json_root(&a), json_root(&b));
    judge_finish(&r->judge);
    json_release(&a); /* the findings must not need them any more */
    json_release(&b);
}

static void a_difference_is_a_finding_with_path_and_both_values(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    judge(&r, "tools/call", false,
          "{'result':{'content':[{'type':'text','text':'{`'a`':1}'}]}}",
          "{'result':{'content':[{'type':'text','text':'{`'a`':2}'}]}}");
    assert_int_equal(r.judge.failure, FAILURE_CONTENT);
    assert_int_equal(r.judge.count, 1);
    assert_str(r.judge.findings[0].rule, STR("content-changed"));
    assert_str(r.judge.findings[0].path, STR("$.result.content[0].text.a"));
    assert_str(r.judge.findings[0].recorded, STR("1"));
    assert_str(r.judge.findings[0].live, STR("2"));
    end(&r);
}

static void another_order_of_a_list_is_a_note(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    judge(&r, "tools/list", false, "{'result':{'tools':[{'name':'a'},{'name':'b'}]}}",
          "{'result':{'tools':[{'name':'b'},{'name':'a'}]}}");
    assert_int_equal(r.judge.failure, FAILURE_NONE);
    assert_int_equal(r.judge.count, 1);
    assert_int_equal(r.judge.findings[0].severity, FINDING_NOTE);
    end(&r);
}

static void a_tool_error_in_place_of_a_result_is_an_error(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    judge(&r, "tools/call", false, "{'result':{'content':[]}}",
          "{'result':{'content':[],'isError':true}}");
    assert_int_equal(r.judge.failure, FAILURE_ERROR);
    end(&r);
}

static void the_state_of_a_recorded_open_task_may_be_any_but_a_failure(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    judge(&r, "tasks/get", true, "{'result':{'taskId':'t','status':'working'}}",
          "{'result':{'taskId':'t','status':'completed','x':1}}");
    assert_int_equal(r.judge.failure, FAILURE_NONE);
    judge(&r, "tasks/get", true, "{'result':{'taskId':'t','status':'working'}}",
          "{'result':{'taskId':'t','status':'failed'}}");
    assert_int_equal(r.judge.failure, FAILURE_CONTENT);
    judge(&r, "tasks/get", true, "{'result':{'taskId':'t','status':'completed'}}",
          "{'result':{'taskId':'t','status':'working'}}");
    assert_int_equal(r.judge.failure, FAILURE_CONTENT);
    end(&r);
}

static void a_member_beside_the_same_result_is_a_difference(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    judge(&r, "tools/call", false, "{'jsonrpc':'2.0','id':1,'result':{'a':[1,'b']}}",
          "{'jsonrpc':'2.0','id':7,'result':{'a':[1,'b']}}");
    assert_int_equal(r.judge.failure, FAILURE_NONE);
    assert_int_equal(r.judge.count, 0);
    judge(&r, "tools/call", false, "{'jsonrpc':'2.0','id':1,'result':{'a':[1,'b']}}",
          "{'jsonrpc':'2.0','id':7,'result':{'a':[1,'b']},'x':1}");
    assert_int_equal(r.judge.failure, FAILURE_CONTENT);
    end(&r);
}

static void a_live_result_must_fit_the_live_output_schema(void **state)
{
    struct rig r;
    struct json live;
    struct json_fault fault;
    struct str schema;

    (void)state;
    begin(&r);
    json_init(&live);
    schema = terse_json(&r.arena, "{'type':'object','properties':{'n':{'type':'integer'}}}");
    assert_true(json_scan(
        &live, terse_json(&r.arena, "{'result':{'structuredContent':{'n':'x'}}}"), &fault));
    judge_clear(&r.judge);
    judge_output_schema(&r.judge, schema, JSON_VAL_NONE, json_root(&live));
    assert_int_equal(r.judge.failure, FAILURE_PROTOCOL);
    assert_int_equal(r.judge.count, 1);
    assert_str(r.judge.findings[0].path, STR("$.result.structuredContent.n"));
    assert_true(json_scan(
        &live, terse_json(&r.arena, "{'result':{'structuredContent':{'n':1}}}"), &fault));
    judge_clear(&r.judge);
    judge_output_schema(&r.judge, schema, JSON_VAL_NONE, json_root(&live));
    assert_int_equal(r.judge.count, 0);
    judge_output_schema(&r.judge, STR_NONE, JSON_VAL_NONE, json_root(&live));
    assert_int_equal(r.judge.count, 0);
    json_release(&live);
    end(&r);
}

/* The finding on a live result of a tool with an outputSchema; NULL: none. */
static const struct finding *judge_content(struct rig *r, const char *recorded,
                                           const char *live)
{
    struct json was, is;
    struct json_fault fault;

    json_init(&was);
    json_init(&is);
    assert_true(json_scan(&was, terse_json(&r->arena, recorded), &fault));
    assert_true(json_scan(&is, terse_json(&r->arena, live), &fault));
    judge_clear(&r->judge);
    judge_output_schema(&r->judge, terse_json(&r->arena, "{'type':'object'}"), json_root(&was),
                        json_root(&is));
    json_release(&was);
    json_release(&is);
    return r->judge.count ? &r->judge.findings[0] : NULL;
}

static void an_output_schema_requires_structured_content(void **state)
{
    const char *plain = "{'result':{'content':[]}}";
    const char *structured = "{'result':{'content':[],'structuredContent':{}}}";
    struct rig r;

    (void)state;
    begin(&r);
    assert_int_equal(judge_content(&r, structured, plain)->severity, FINDING_ERROR);
    assert_int_equal(r.judge.failure, FAILURE_PROTOCOL);
    assert_str(r.judge.findings[0].rule, STR("structured-content-missing"));
    assert_true(r.judge.obstacle.len > 0);
    assert_int_equal(judge_content(&r, plain, plain)->severity, FINDING_WARNING);
    assert_int_equal(r.judge.failure, FAILURE_NONE);
    assert_int_equal(r.judge.obstacle.len, 0);
    assert_int_equal(
        judge_content(&r, "{'result':{'content':[],'isError':true}}", plain)->severity,
        FINDING_ERROR);
    assert_int_equal(judge_content(&r, plain, "{'result':{'resultType':'complete'}}")->severity,
                     FINDING_WARNING);
    end(&r);
}

static void errors_and_incomplete_results_need_no_structured_content(void **state)
{
    static const char *const live[] = {
        "{'error':{'code':-32603,'message':'no'}}",
        "{'result':{'content':[],'isError':true}}",
        "{'result':{'task':{'taskId':'t','status':'working'}}}",
        "{'result':{'resultType':'task','taskId':'t','status':'working'}}",
        "{'result':{'resultType':'input_required','inputRequests':{}}}",
    };
    struct rig r;

    (void)state;
    begin(&r);
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        if (judge_content(&r, "{'result':{'structuredContent':{}}}", live[i]))
            fail_msg("%s", live[i]);
    end(&r);
}

static void too_many_findings_are_counted(void **state)
{
    struct rig r;
    struct finding f = { .rule = STR("x"), .severity = FINDING_ERROR };

    (void)state;
    begin(&r);
    judge_clear(&r.judge);
    for (int i = 0; i < JUDGE_FINDINGS_MAX + 5; i++)
        judge_add(&r.judge, FAILURE_PROTOCOL, &f);
    judge_finish(&r.judge);
    assert_int_equal(r.judge.failure, FAILURE_PROTOCOL);
    assert_int_equal(r.judge.count, JUDGE_FINDINGS_MAX + 1);
    assert_str(r.judge.findings[JUDGE_FINDINGS_MAX].message, STR("5 more differences"));
    end(&r);
}

static void a_hint_goes_to_the_first_error_without_one(void **state)
{
    struct finding note = { .rule = STR("a"), .severity = FINDING_NOTE };
    struct finding hinted = { .rule = STR("b"), .hint = STR("log in") };
    struct finding error = { .rule = STR("c") };
    struct rig r;

    (void)state;
    begin(&r);
    judge_add(&r.judge, FAILURE_CONTENT, &note);
    judge_add(&r.judge, FAILURE_CONTENT, &hinted);
    judge_add(&r.judge, FAILURE_CONTENT, &error);
    judge_add(&r.judge, FAILURE_CONTENT, &error);
    judge_hint(&r.judge, STR("rebind"));
    assert_str(r.judge.findings[0].hint, STR(""));
    assert_str(r.judge.findings[1].hint, STR("log in"));
    assert_str(r.judge.findings[2].hint, STR("rebind"));
    assert_str(r.judge.findings[3].hint, STR(""));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_is_a_finding_with_path_and_both_values),
        cmocka_unit_test(another_order_of_a_list_is_a_note),
        cmocka_unit_test(a_tool_error_in_place_of_a_result_is_an_error),
        cmocka_unit_test(the_state_of_a_recorded_open_task_may_be_any_but_a_failure),
        cmocka_unit_test(a_member_beside_the_same_result_is_a_difference),
        cmocka_unit_test(a_live_result_must_fit_the_live_output_schema),
        cmocka_unit_test(an_output_schema_requires_structured_content),
        cmocka_unit_test(errors_and_incomplete_results_need_no_structured_content),
        cmocka_unit_test(too_many_findings_are_counted),
        cmocka_unit_test(a_hint_goes_to_the_first_error_without_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

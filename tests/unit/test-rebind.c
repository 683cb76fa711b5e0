#include "verify/rebind.h"

#include <stdio.h>

#include "terse.h"
#include "test.h"

struct rig {
    struct compare_rules rules;
    struct rebind rebind;
    struct arena arena;
    struct json json[2];
};

static void begin(struct rig *r)
{
    *r = (struct rig){ 0 };
    compare_rules_init(&r->rules);
    rebind_init(&r->rebind, &r->rules);
    json_init(&r->json[0]);
    json_init(&r->json[1]);
}

static void end(struct rig *r)
{
    rebind_release(&r->rebind);
    compare_rules_release(&r->rules);
    arena_release(&r->arena);
    json_release(&r->json[0]);
    json_release(&r->json[1]);
}

static struct json_val parse(struct rig *r, int at, const char *text)
{
    struct json_fault fault;

    if (!json_scan(&r->json[at], terse_json(&r->arena, text), &fault))
        fail_msg("%s", text);
    return json_root(&r->json[at]);
}

static void learn(struct rig *r, const char *method, const char *recorded, const char *live)
{
    struct json_val was = parse(r, 0, recorded), is = parse(r, 1, live);

    rebind_learn(&r->rebind, str_z(method), was, is);
}

static void add_path(struct rig *r, const char *path)
{
    struct err e = ERR_NONE;

    if (!compare_rules_add_path(&r->rules, COMPARE_PATH_REBIND, str_z(path), &e))
        fail_msg("%s", e.msg);
}

/* The live value of a recorded one: JSON, "-" if it is sent as recorded, "blocked by N". */
static void assert_live(struct rig *r, const char *recorded, const char *want)
{
    const struct rebind_value *v = rebind_find(&r->rebind, parse(r, 0, recorded));

    if (!v)
        assert_string_equal(want, "-");
    else if (!v->live.len)
        assert_str(arena_printf(&r->arena, "blocked by %u", v->blocker), str_z(want));
    else
        assert_str(v->live, terse_json(&r->arena, want));
}

static void a_string_that_differs_is_bound_to_the_live_one(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    learn(&r, "tools/call",
          "{'result':{'structuredContent':{'handle':'abc123','n':'same-value'}}}",
          "{'result':{'structuredContent':{'handle':'xyz789','n':'same-value'}}}");
    assert_live(&r, "'abc123'", "'xyz789'");
    assert_live(&r, "'same-value'", "-");
    end(&r);
}

static void short_strings_and_numbers_are_not_bound(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    learn(&r, "tools/call", "{'result':{'a':'abc12','b':7}}", "{'result':{'a':'xyz78','b':8}}");
    assert_live(&r, "'abc12'", "-");
    assert_live(&r, "7", "-");
    end(&r);
}

static void a_path_of_the_user_binds_short_strings_and_numbers(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    add_path(&r, "$.result.a");
    add_path(&r, "$.result.b");
    learn(&r, "tools/call", "{'result':{'a':'abc','b':7,'c':5}}",
          "{'result':{'a':'xyz','b':8,'c':6}}");
    assert_live(&r, "'abc'", "'xyz'");
    assert_live(&r, "7", "8");
    assert_live(&r, "5", "-");
    end(&r);
}

static void cursors_and_task_ids_may_be_short(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    learn(&r, "tools/list", "{'result':{'tools':[],'nextCursor':'2'}}",
          "{'result':{'tools':[],'nextCursor':'9'}}");
    learn(&r, "tools/call", "{'result':{'task':{'taskId':'t1'}}}",
          "{'result':{'task':{'taskId':'t7'}}}");
    assert_live(&r, "'2'", "'9'");
    assert_live(&r, "'t1'", "'t7'");
    end(&r);
}

static void names_of_tools_are_never_bound(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    learn(&r, "tools/list", "{'result':{'tools':[{'name':'search_issues'}]}}",
          "{'result':{'tools':[{'name':'search_results'}]}}");
    assert_live(&r, "'search_issues'", "-");
    end(&r);
}

static void resources_of_a_list_are_paired_by_name(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    learn(
        &r, "resources/list",
        "{'result':{'resources':[{'name':'a','uri':'s://1/a'},{'name':'b','uri':'s://1/b'}]}}",
        "{'result':{'resources':[{'name':'b','uri':'s://2/b'},{'name':'a','uri':'s://2/a'}]}}");
    assert_live(&r, "'s://1/a'", "'s://2/a'");
    assert_live(&r, "'s://1/b'", "'s://2/b'");
    end(&r);
}

static void json_inside_strings_is_searched(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    learn(&r, "tools/call", "{'result':{'content':[{'text':'{`'id`':`'abc123`'}'}]}}",
          "{'result':{'content':[{'text':'{ `'id`': `'xyz789`'}'}]}}");
    assert_live(&r, "'abc123'", "'xyz789'");
    end(&r);
}

static void a_value_of_the_client_is_never_bound(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_request(&r.rebind, parse(&r, 0, "{'arguments':{'path':'/notes/today'}}"));
    learn(&r, "tools/call", "{'result':{'path':'/notes/today'}}",
          "{'result':{'path':'/notes/other'}}");
    assert_live(&r, "'/notes/today'", "-");
    end(&r);
}

/* Whether a difference is explained. */
static void assert_explains(struct rig *r, const char *recorded, const char *live, bool want)
{
    struct json_val was = parse(r, 0, recorded), is = parse(r, 1, live);

    assert_int_equal(rebind_explains(&r->rebind, was, is), want);
}

static void a_value_that_later_requests_have_explains_a_difference(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_later(&r.rebind, parse(&r, 0, "{'arguments':{'h':'abc123'}}"));
    learn(&r, "tools/call", "{'result':{'h':'abc123','t':'three issues'}}",
          "{'result':{'h':'xyz789','t':'three results'}}");
    assert_explains(&r, "'abc123'", "'xyz789'", true);
    assert_explains(&r, "'opened abc123.'", "'opened xyz789.'", true);
    assert_explains(&r, "'read abc123: done'", "'read xyz789: done'", true);
    assert_explains(&r, "'abc123'", "'other9'", false);
    assert_explains(&r, "'opened abc123.'", "'closed xyz789.'", false);
    assert_explains(&r, "'three issues'", "'three results'", false);
    end(&r);
}

static void a_word_of_a_text_is_bound_if_a_later_request_has_it(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_later(&r.rebind, parse(&r, 0, "{'arguments':{'h':'handle-81'}}"));
    learn(&r, "tools/call", "{'result':{'t':'opened handle-81 for you'}}",
          "{'result':{'t':'opened handle-99 for you'}}");
    assert_live(&r, "'handle-81'", "'handle-99'");
    end(&r);
}

static void generated_values_of_a_failed_call_are_unavailable(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_lose(&r.rebind, 4,
                parse(&r, 0,
                      "{'result':{'taskId':'t1','job':'0f8fad5b-d9cb-469f-a165-70867728950e',"
                      "'word':'hello world'}}"));
    assert_live(&r, "'t1'", "blocked by 4");
    assert_live(&r, "'0f8fad5b-d9cb-469f-a165-70867728950e'", "blocked by 4");
    assert_live(&r, "'hello world'", "-");
    end(&r);
}

static void the_oldest_values_go_when_there_are_too_many(void **state)
{
    struct rig r;
    char recorded[64], live[64];

    (void)state;
    begin(&r);
    for (int i = 0; i <= REBIND_MAX; i++) {
        snprintf(recorded, sizeof recorded, "{'result':{'h':'recorded-%d'}}", i);
        snprintf(live, sizeof live, "{'result':{'h':'live-%d-'}}", i);
        learn(&r, "tools/call", recorded, live);
        arena_clear(&r.arena);
    }
    assert_int_equal(r.rebind.dropped, 1);
    assert_live(&r, "'recorded-0'", "-");
    assert_live(&r, "'recorded-1'", "'live-1-'");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_that_differs_is_bound_to_the_live_one),
        cmocka_unit_test(short_strings_and_numbers_are_not_bound),
        cmocka_unit_test(a_path_of_the_user_binds_short_strings_and_numbers),
        cmocka_unit_test(cursors_and_task_ids_may_be_short),
        cmocka_unit_test(names_of_tools_are_never_bound),
        cmocka_unit_test(resources_of_a_list_are_paired_by_name),
        cmocka_unit_test(json_inside_strings_is_searched),
        cmocka_unit_test(a_value_of_the_client_is_never_bound),
        cmocka_unit_test(a_value_that_later_requests_have_explains_a_difference),
        cmocka_unit_test(a_word_of_a_text_is_bound_if_a_later_request_has_it),
        cmocka_unit_test(generated_values_of_a_failed_call_are_unavailable),
        cmocka_unit_test(the_oldest_values_go_when_there_are_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

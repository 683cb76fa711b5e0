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

/* Call 4 failed. */
static void lose(struct rig *r, const char *method, const char *recorded)
{
    rebind_lose(&r->rebind, (struct rebind_loss){ 4, "failed" }, str_z(method),
                parse(r, 0, recorded));
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
        assert_str(arena_printf(&r->arena, "blocked by %u", v->loss.call), str_z(want));
    else
        assert_str(v->live, terse_json(&r->arena, want));
}

static void a_differing_string_is_bound_to_the_live_one(void **state)
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

static void a_title_that_later_requests_have_is_a_difference(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_later(&r.rebind, parse(&r, 0,
                                       "{'a':['Widget-report','Top 10 widgets','kQzTfb',"
                                       "'abc123']}"));
    learn(&r, "tools/call",
          "{'result':{'a':'Widget-report','b':'Top 10 widgets','c':'kQzTfb','d':'abc123'}}",
          "{'result':{'a':'Gadget-report','b':'Top 10 gadgets','c':'RmpUxw','d':'xyz789'}}");
    assert_live(&r, "'Widget-report'", "'Gadget-report'");
    assert_explains(&r, "'Widget-report'", "'Gadget-report'", false);
    assert_explains(&r, "'best is Widget-report'", "'best is Gadget-report'", false);
    assert_explains(&r, "'Top 10 widgets'", "'Top 10 gadgets'", false);
    assert_explains(&r, "'kQzTfb'", "'RmpUxw'", true);
    assert_explains(&r, "'abc123'", "'xyz789'", true);
    r.rules.default_volatile = false;
    assert_explains(&r, "'abc123'", "'xyz789'", false);
    assert_live(&r, "'abc123'", "'xyz789'");
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

static void assert_proposed(struct rig *r, const char *params, const char *want)
{
    assert_str(rebind_propose(&r->rebind, parse(r, 0, params)), str_z(want));
}

static void a_path_is_proposed_for_a_value_that_is_too_short_to_be_bound(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_later(&r.rebind, parse(&r, 0, "{'a':['abc',7,42,'h-81',9,'long-one']}"));
    rebind_note_request(&r.rebind, parse(&r, 0, "{'limit':9}"));
    learn(&r, "tools/call",
          "{'result':{'a b':'abc','n':7,'own':9,'unused':3,'long':'long-one',"
          "'t':'opened issue 42 as h-81.','j':'{`'k`':[7,{`'x`':42}]}'}}",
          "{'result':{'a b':'xyz','n':8,'own':8,'unused':4,'long':'live-one',"
          "'t':'opened issue 57 as h-99.','j':'{`'k`':[8,{`'x`':57}]}'}}");
    assert_proposed(&r, "{'x':{'y':['abc']}}", "$.result['a b']");
    assert_proposed(&r, "{'x':7}", "$.result.n");
    assert_proposed(&r, "{'x':42}", "$.result.t");
    assert_proposed(&r, "{'x':'h-81'}", "$.result.t");
    assert_proposed(&r, "{'x':'7'}", "");        /* a string is no number */
    assert_proposed(&r, "{'x':9}", "");          /* the client made it */
    assert_proposed(&r, "{'x':3}", "");          /* no recorded request has it */
    assert_proposed(&r, "{'x':'long-one'}", ""); /* it is bound */
    assert_live(&r, "42", "-");
    end(&r);
}

static void no_path_is_proposed_for_a_short_value_that_is_bound(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_later(&r.rebind, parse(&r, 0, "{'cursor':'2','taskId':'t-1','page':2}"));
    learn(&r, "tools/list", "{'result':{'nextCursor':'2'}}", "{'result':{'nextCursor':'3'}}");
    learn(&r, "tools/call", "{'result':{'taskId':'t-1'}}", "{'result':{'taskId':'t-2'}}");
    assert_live(&r, "'2'", "'3'");
    assert_live(&r, "'t-1'", "'t-2'");
    assert_proposed(&r, "{'cursor':'2'}", "");
    assert_proposed(&r, "{'taskId':'t-1'}", "");
    assert_proposed(&r, "{'page':2}", "$.result.nextCursor");
    end(&r);
}

static void a_proposed_path_binds_the_value(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    add_path(&r, "$.result.t");
    add_path(&r, "$.result.j.k[1].x");
    rebind_note_later(&r.rebind, parse(&r, 0, "{'a':[42,'h-81',7,5]}"));
    learn(&r, "tools/call", "{'result':{'t':'issue 42 as h-81.','j':'{`'k`':[5,{`'x`':7}]}'}}",
          "{'result':{'t':'issue 57 as h-99.','j':'{`'k`':[6,{`'x`':8}]}'}}");
    assert_live(&r, "42", "57");
    assert_live(&r, "'h-81'", "'h-99'");
    assert_live(&r, "7", "8");
    assert_live(&r, "5", "-");
    assert_true(rebind_explains(&r.rebind, parse(&r, 0, "'issue 42, h-81'"),
                                parse(&r, 1, "'issue 57, h-99'")));
    assert_false(
        rebind_explains(&r.rebind, parse(&r, 0, "'issue 42'"), parse(&r, 1, "'issue 58'")));
    end(&r);
}

static void a_value_at_a_path_of_the_user_is_unavailable_too(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    add_path(&r, "$.result.n");
    add_path(&r, "$.result.j.x");
    rebind_note_later(&r.rebind, parse(&r, 0, "{'a':[7,8,9]}"));
    lose(&r, "tools/call", "{'result':{'n':7,'m':8,'j':'{`'x`':9}'}}");
    assert_live(&r, "7", "blocked by 4");
    assert_live(&r, "8", "-");
    assert_live(&r, "9", "blocked by 4");
    end(&r);
}

static void generated_values_of_a_failed_call_are_unavailable(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_later(&r.rebind,
                      parse(&r, 0, "{'a':['t1','abc123','file-77','own-one','s1']}"));
    rebind_note_request(&r.rebind, parse(&r, 0, "{'q':'make own-one please'}"));
    lose(&r, "tools/call",
         "{'result':{'taskId':'t1','h':'abc123','text':'wrote file-77, own-one','s':'s1',"
         "'unused':'hello world'}}");
    assert_live(&r, "'t1'", "blocked by 4");
    assert_live(&r, "'abc123'", "blocked by 4");
    assert_live(&r, "'file-77'", "blocked by 4");
    assert_live(&r, "'own-one'", "-");     /* the client made it */
    assert_live(&r, "'s1'", "-");          /* too short to be bound */
    assert_live(&r, "'hello world'", "-"); /* no request has it */
    end(&r);
}

static void a_value_that_another_live_response_had_stays_available(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_later(&r.rebind, parse(&r, 0, "{'a':['abc123','xyz789','cursor-7']}"));
    rebind_confirm(&r.rebind, STR("tools/call"),
                   parse(&r, 0, "{'result':{'text':'have abc123'}}"));
    rebind_confirm(&r.rebind, STR("tools/call"),
                   parse(&r, 0, "{'result':{'isError':true,'text':'no xyz789'}}"));
    lose(&r, "tools/call", "{'result':{'h':'abc123','i':'xyz789'}}");
    lose(&r, "tools/list", "{'result':{'tools':[{'name':'abc1234'}],'nextCursor':'cursor-7'}}");
    assert_live(&r, "'abc123'", "-");
    assert_live(&r, "'xyz789'", "blocked by 4");
    assert_live(&r, "'cursor-7'", "blocked by 4");
    end(&r);
}

static void names_in_a_lost_list_of_tools_stay_available(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_later(&r.rebind, parse(&r, 0, "{'a':['search_issues']}"));
    lose(&r, "tools/list", "{'result':{'tools':[{'name':'search_issues'}]}}");
    assert_live(&r, "'search_issues'", "-");
    end(&r);
}

static void the_text_of_a_tool_error_is_no_value(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    learn(&r, "tools/call", "{'result':{'content':[{'text':'abc123'}]}}",
          "{'result':{'content':[{'text':'no handle is left'}],'isError':true}}");
    assert_live(&r, "'abc123'", "-");
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

/* Notes a request with the numbers from `first` to `last`, and `more`. */
static void note_numbers(struct rig *r, int first, int last, const char *more)
{
    struct buf text;

    buf_init(&text, 1 << 22);
    buf_add(&text, STR("{'a':["));
    for (int i = first; i <= last; i++)
        buf_printf(&text, "%d,", i);
    buf_printf(&text, "'%s']}", more);
    rebind_note_later(&r->rebind, parse(r, 0, buf_z(&text)));
    buf_release(&text);
    arena_clear(&r->arena);
}

static void requests_ahead_are_noted_as_far_as_there_is_room(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    note_numbers(&r, 1, REBIND_MAX / 2, "first");
    assert_true(rebind_has_room(&r.rebind));
    note_numbers(&r, 1, REBIND_MAX - 2, "second");
    assert_false(rebind_has_room(&r.rebind));
    assert_int_equal(r.rebind.dropped, 0);
    rebind_note_request(&r.rebind, parse(&r, 0, "{'a':'first'}"));
    assert_true(rebind_has_room(&r.rebind)); /* of the first request only 'first' is left */
    note_numbers(&r, 1, 3, "handle-81");
    assert_int_equal(r.rebind.dropped, 1);
    assert_false(rebind_has_room(&r.rebind));
    learn(&r, "tools/call", "{'result':{'content':[{'text':'opened handle-81 now'}]}}",
          "{'result':{'content':[{'text':'opened handle-93 now'}]}}");
    assert_live(&r, "'handle-81'", "'handle-93'");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_differing_string_is_bound_to_the_live_one),
        cmocka_unit_test(short_strings_and_numbers_are_not_bound),
        cmocka_unit_test(a_path_of_the_user_binds_short_strings_and_numbers),
        cmocka_unit_test(cursors_and_task_ids_may_be_short),
        cmocka_unit_test(names_of_tools_are_never_bound),
        cmocka_unit_test(resources_of_a_list_are_paired_by_name),
        cmocka_unit_test(json_inside_strings_is_searched),
        cmocka_unit_test(a_value_of_the_client_is_never_bound),
        cmocka_unit_test(a_value_that_later_requests_have_explains_a_difference),
        cmocka_unit_test(a_title_that_later_requests_have_is_a_difference),
        cmocka_unit_test(a_word_of_a_text_is_bound_if_a_later_request_has_it),
        cmocka_unit_test(a_path_is_proposed_for_a_value_that_is_too_short_to_be_bound),
        cmocka_unit_test(no_path_is_proposed_for_a_short_value_that_is_bound),
        cmocka_unit_test(a_proposed_path_binds_the_value),
        cmocka_unit_test(a_value_at_a_path_of_the_user_is_unavailable_too),
        cmocka_unit_test(generated_values_of_a_failed_call_are_unavailable),
        cmocka_unit_test(a_value_that_another_live_response_had_stays_available),
        cmocka_unit_test(names_in_a_lost_list_of_tools_stay_available),
        cmocka_unit_test(the_text_of_a_tool_error_is_no_value),
        cmocka_unit_test(the_oldest_values_go_when_there_are_too_many),
        cmocka_unit_test(requests_ahead_are_noted_as_far_as_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "match/match-reason.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loaded-index.h"

static const char recording[] =
    "c2s {'id':1,'method':'tools/call','params':{'name':'search','arguments':{'q':'cats','n':5,"
    "'key':'[REDACTED:K]'}}}\n"
    "s2c {'id':1,'result':{}}\n"
    "c2s {'id':2,'method':'tools/call','params':{'name':'log','arguments':{'a':1,'b':1,'c':1,"
    "'d':1,'e':1,'f':1}}}\n"
    "s2c {'id':2,'result':{}}\n"
    "c2s {'id':3,'method':'tasks/get','params':{'taskId':'t','x':1}}\n"
    "s2c {'id':3,'result':{}}\n";

static const struct match_tool_mode tools[] = { { STR_INIT("search"), MATCH_FUZZY } };

struct rig {
    struct compare_rules rules;
    struct match_options options;
    struct loaded_index loaded;
    struct matcher matcher;
    struct buf text;
};

static int set_up(void **state)
{
    struct rig *t = mem_new(struct rig);
    struct err e = ERR_NONE;

    compare_rules_init(&t->rules);
    assert_true(compare_rules_add_path(&t->rules, COMPARE_PATH_IGNORE,
                                       STR("$.params.arguments.q"), &e));
    assert_true(compare_rules_add_path(&t->rules, COMPARE_PATH_REBIND, STR("$.result.id"), &e));
    assert_true(compare_rules_add_field(&t->rules, STR("day"), &e));
    t->options =
        (struct match_options){ .mode = MATCH_SEQUENTIAL, .tools = tools, .tool_count = 1 };
    t->options.rules = matcher_rules(&t->options, false);
    t->options.rules.ignore = &t->rules;
    loaded_index_init_with(&t->loaded, &t->options.rules, recording);
    matcher_init(&t->matcher, &t->loaded.index, &t->options, &t->loaded.fuzzy);
    buf_init(&t->text, 1 << 16);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *t = *state;

    matcher_release(&t->matcher);
    loaded_index_release(&t->loaded);
    compare_rules_release(&t->rules);
    buf_release(&t->text);
    free(t);
    return 0;
}

/* The rules, and behind '|' the paths with the number of their rule. */
static void check(struct rig *t, uint32_t call, const char *live, const char *want)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, live), &s.arena);
    struct match_reason why;

    buf_clear(&t->text);
    match_reason_find(&why, &t->matcher, call, &m, true);
    for (size_t i = 0; i < why.rule_count; i++) {
        buf_add(&t->text, i ? STR(", ") : STR_NONE);
        match_reason_write(&t->options, why.rules[i], &t->text);
    }
    for (size_t i = 0; i < why.path_count; i++)
        buf_printf(&t->text, "%s%.*s=%zu", i ? " " : " | ", STR_ARG(why.paths[i].path),
                   why.paths[i].rule);
    assert_str(buf_str(&t->text), str_z(want));
    match_reason_release(&why);
    terse_scanned_release(&s);
}

#define REQUEST(tool, args)                                                                    \
    "{'id':1,'method':'tools/call','params':{'name':'" tool "','arguments':" args "}}"

static void an_equal_request_needs_no_rule(void **state)
{
    check(*state, 2, REQUEST("log", "{'a':1,'b':1,'c':1,'d':1,'e':1,'f':1}"), "");
}

static void each_difference_has_the_rule_that_excuses_it(void **state)
{
    check(*state, 1, REQUEST("search", "{'q':'dogs','n':5,'key':'[REDACTED:K]'}"),
          "ignore_paths '$.params.arguments.q' | $.params.arguments.q=0");
    check(*state, 1, REQUEST("search", "{'q':'cats','n':6,'key':'secret','day':1}"),
          "match search=fuzzy, redacted, ignore_fields 'day' | $.params.arguments.n=3 "
          "$.params.arguments.key=5 $.params.arguments.day=2");
}

static void a_rule_is_named_once_and_the_first_paths_are_kept(void **state)
{
    check(*state, 2, REQUEST("log", "{}"),
          "match sequential | $.params.arguments.a=4 $.params.arguments.b=4 "
          "$.params.arguments.c=4 $.params.arguments.d=4 $.params.arguments.e=4");
}

/* The rules after a match, without paths. */
static void check_match(struct rig *t, const char *live, size_t rules)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, live), &s.arena);
    struct match_reason why, again;
    struct used_set used;
    struct match found;

    used_set_init(&used, t->loaded.index.call_count);
    found = matcher_match(&t->matcher, &used, 0, &m);
    assert_int_equal(found.outcome, MATCH_FOUND);
    match_reason_find(&why, &t->matcher, found.call, &m, false);
    match_reason_find(&again, &t->matcher, found.call, &m, true);
    assert_int_equal(why.rule_count, rules);
    assert_int_equal(again.rule_count, rules);
    assert_memory_equal(why.rules, again.rules, rules * sizeof *why.rules);
    assert_int_equal(why.path_count, 0);
    match_reason_release(&why);
    match_reason_release(&again);
    used_set_release(&used);
    terse_scanned_release(&s);
}

static void the_rules_of_the_match_are_known_without_paths(void **state)
{
    static const char *const names[] = { "u", "v", "w", "x", "y" };
    struct rig *t = *state;
    struct err e = ERR_NONE;

    for (size_t i = 0; i < 5; i++)
        assert_true(compare_rules_add_field(&t->rules, str_z(names[i]), &e));
    check_match(
        t, REQUEST("log", "{'a':1,'b':1,'c':1,'d':1,'e':1,'f':1,'u':1,'day':2,'day':1}"), 2);
    check_match(
        t,
        REQUEST("log", "{'a':1,'b':1,'c':1,'d':1,'e':1,'f':1,'u':1,'v':1,'w':1,'x':1,'y':1}"),
        5);
    check_match(t, REQUEST("log", "{'a':2,'b':1,'c':1,'d':1,'e':1,'f':1,'u':1}"), 2);
    check_match(t, REQUEST("search", "{'q':'dogs','n':5,'key':'secret'}"),
                2); /* redacted, too */
}

static void a_poll_needs_no_mode(void **state)
{
    check(*state, 3, "{'id':1,'method':'tasks/get','params':{'taskId':'t','x':2}}", "");
}

static void rules_that_can_let_a_request_match_are_listed(void **state)
{
    static const bool listed[] = { true, false, true, true, true, false };
    struct rig *t = *state;

    assert_int_equal(match_reason_rule_count(&t->options), 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(match_reason_is_listed(&t->options, i), listed[i]);
    assert_int_equal(match_reason_rule_count(loaded_index_exact()), 2);
    assert_false(match_reason_is_listed(loaded_index_exact(), 0));
}

static void a_rule_has_a_name_and_a_value(void **state)
{
    struct rig *t = *state;

    assert_string_equal(match_reason_describe(&t->options, 0, &t->text), "ignore_paths");
    assert_str(buf_str(&t->text), STR("$.params.arguments.q"));
    buf_clear(&t->text);
    assert_string_equal(match_reason_describe(&t->options, 3, &t->text), "match");
    assert_str(buf_str(&t->text), STR("search=fuzzy"));
    buf_clear(&t->text);
    assert_string_equal(match_reason_describe(&t->options, 5, &t->text), "redacted");
    assert_int_equal(t->text.len, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_equal_request_needs_no_rule),
        TEST(each_difference_has_the_rule_that_excuses_it),
        TEST(a_rule_is_named_once_and_the_first_paths_are_kept),
        TEST(the_rules_of_the_match_are_known_without_paths),
        TEST(a_poll_needs_no_mode),
        TEST(rules_that_can_let_a_request_match_are_listed),
        TEST(a_rule_has_a_name_and_a_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "mcp/compare-rules.h"

#include "terse.h"
#include "test.h"

static struct compare_rules rules;

static int setup(void **state)
{
    (void)state;
    compare_rules_init(&rules);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    compare_rules_release(&rules);
    return 0;
}

/* Parses a text in the manner of terse.h. */
static void parses(const char *text)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;

    if (!compare_rules_parse(&rules, terse_json(&a, text), &e))
        fail_msg("%s: %s", text, e.msg);
    arena_release(&a); /* the rules own their strings */
}

static void is_rejected(const char *text, const char *message, const char *hint)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;

    assert_false(compare_rules_parse(&rules, terse_json(&a, text), &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, message);
    assert_string_equal(e.hint, hint);
    arena_release(&a);
    compare_rules_release(&rules);
}

static void without_rules_the_default_set_is_volatile_and_meta_is_not_compared(void **state)
{
    (void)state;
    assert_true(rules.default_volatile);
    assert_false(rules.include_meta);
    assert_false(rules.like_mcp_recorder);
    assert_int_equal(rules.path_count, 0);
    assert_true(compare_rules_find_field(&rules, STR("id")) == COMPARE_RULES_NONE);
}

static void an_empty_document_changes_nothing(void **state)
{
    (void)state;
    parses("{}");
    parses("{'$schema':'rules.schema.json','ignore_fields':[],'volatile':[],'rebind':[]}");
    assert_true(rules.default_volatile);
    assert_int_equal(rules.path_count, 0);
    assert_int_equal(rules.field_count, 0);
}

static void fields_are_ignored_by_their_exact_name(void **state)
{
    (void)state;
    parses("{'ignore_fields':['requestId','a`nb']}");
    assert_true(compare_rules_find_field(&rules, STR("requestId")) != COMPARE_RULES_NONE);
    assert_true(compare_rules_find_field(&rules, STR("a\nb")) != COMPARE_RULES_NONE);
    assert_true(compare_rules_find_field(&rules, STR("requestid")) == COMPARE_RULES_NONE);
    assert_true(compare_rules_find_field(&rules, STR("request")) == COMPARE_RULES_NONE);
}

static void mcp_recorder_strips_ids_and_meta(void **state)
{
    (void)state;
    assert_false(compare_rules_strips_field(&rules, STR("id")));
    assert_false(compare_rules_strips_field(&rules, STR("_meta")));
    rules.like_mcp_recorder = true;
    assert_true(compare_rules_strips_field(&rules, STR("id")));
    assert_true(compare_rules_strips_field(&rules, STR("_meta")));
    assert_false(compare_rules_strips_field(&rules, STR("jsonrpc")));
}

static void has_path(size_t i, enum compare_path_kind kind, const char *text)
{
    assert_true(i < rules.path_count);
    assert_int_equal(rules.paths[i]->kind, kind);
    assert_str(rules.paths[i]->text, str_z(text));
}

static void paths_keep_their_kind_and_match(void **state)
{
    const struct json_step steps[] = { { .name = STR("result") }, { .name = STR("etag") } };
    const struct json_location etag = { steps, 2 }, result = { steps, 1 };

    (void)state;
    parses("{'ignore_paths':['$..etag','$.a[*]'],'rebind':['$.result.handle'],"
           "'volatile':['$.x']}");
    assert_int_equal(rules.path_count, 4);
    has_path(0, COMPARE_PATH_IGNORE, "$..etag");
    has_path(1, COMPARE_PATH_IGNORE, "$.a[*]");
    has_path(2, COMPARE_PATH_REBIND, "$.result.handle");
    has_path(3, COMPARE_PATH_VOLATILE, "$.x");
    assert_true(json_path_matches(&rules.paths[0]->path, etag));
    assert_false(json_path_matches(&rules.paths[0]->path, result));
}

static void volatile_paths_are_added_to_the_default_set(void **state)
{
    (void)state;
    parses("{'volatile':['$.x']}");
    assert_true(rules.default_volatile);
    has_path(0, COMPARE_PATH_VOLATILE, "$.x");
}

static void volatile_false_turns_the_default_set_off(void **state)
{
    (void)state;
    parses("{'volatile':false}");
    assert_false(rules.default_volatile);
    parses("{'volatile':true}");
    assert_true(rules.default_volatile);
}

static void meta_is_compared_on_request(void **state)
{
    (void)state;
    parses("{'include_meta':true}");
    assert_true(rules.include_meta);
}

static void documents_and_options_add_up(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    parses("{'ignore_fields':['a'],'ignore_paths':['$.a']}");
    parses("{'ignore_fields':['b']}");
    assert_true(compare_rules_add_field(&rules, STR("c"), &e));
    assert_true(compare_rules_add_path(&rules, COMPARE_PATH_REBIND, STR("$.h"), &e));
    assert_int_equal(rules.field_count, 3);
    assert_true(compare_rules_find_field(&rules, STR("a")) != COMPARE_RULES_NONE);
    assert_true(compare_rules_find_field(&rules, STR("c")) != COMPARE_RULES_NONE);
    has_path(1, COMPARE_PATH_REBIND, "$.h");
}

static void the_option_volatile_takes_on_off_and_paths(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    assert_true(compare_rules_set_volatile(&rules, STR("off"), &e));
    assert_false(rules.default_volatile);
    assert_true(compare_rules_set_volatile(&rules, STR("$.x"), &e));
    assert_false(rules.default_volatile);
    has_path(0, COMPARE_PATH_VOLATILE, "$.x");
    assert_true(compare_rules_set_volatile(&rules, STR("on"), &e));
    assert_true(rules.default_volatile);
    assert_false(compare_rules_set_volatile(&rules, STR("of"), &e));
    assert_string_equal(e.msg, "bad value 'of': expected 'on', 'off' or a path");
    assert_int_equal(e.kind, ERR_USAGE);
}

static void an_unknown_member_gets_a_suggestion_and_its_position(void **state)
{
    (void)state;
    is_rejected("{\n  'ignore_field': []}",
                "bad rules at line 2, column 3: unknown member 'ignore_field'",
                "did you mean 'ignore_fields'?");
    is_rejected("{'zebra': []}", "bad rules at line 1, column 2: unknown member 'zebra'",
                "members are: ignore_fields, ignore_paths, volatile, rebind, include_meta, "
                "allow");
}

static void a_value_of_the_wrong_type_is_rejected_at_its_position(void **state)
{
    (void)state;
    is_rejected("{'ignore_fields': 'a'}",
                "bad rules at line 1, column 19: 'ignore_fields' is not an array of strings",
                "");
    is_rejected("{'rebind': [\n\n1]}",
                "bad rules at line 3, column 1: 'rebind' is not an array of strings", "");
    is_rejected("{'volatile': 'off'}",
                "bad rules at line 1, column 14: 'volatile' is not true, false or an array of "
                "paths",
                "");
    is_rejected("{'include_meta': 1}",
                "bad rules at line 1, column 18: 'include_meta' is not true or false", "");
    is_rejected("{'$schema': {}}", "bad rules at line 1, column 13: '$schema' is not a string",
                "");
    is_rejected("[]", "bad rules at line 1, column 1: expected an object", "");
}

static void a_bad_path_or_name_is_rejected_at_its_position(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    is_rejected("{'ignore_paths': ['$.a', 'result.x']}",
                "bad rules at line 1, column 26: bad path 'result.x': expected '$' at byte 1",
                "");
    is_rejected("{'ignore_fields': ['']}",
                "bad rules at line 1, column 20: bad ignored field: the name is empty", "");
    assert_false(compare_rules_add_path(&rules, COMPARE_PATH_IGNORE, STR("$."), &e));
    assert_string_equal(e.msg, "bad path '$.': expected a name or '*' at byte 3");
}

static void a_member_that_occurs_twice_is_rejected(void **state)
{
    (void)state;
    is_rejected("{'volatile':true,'volatile':false}",
                "bad rules at line 1, column 2: 'volatile' occurs twice", "");
}

static void a_text_that_is_not_json_is_rejected_at_its_position(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    assert_false(compare_rules_parse(&rules, STR("{\n\"volatile\": yes}"), &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_true(str_starts(str_z(e.msg), STR("bad rules at line 2, column 13: ")));
    assert_false(compare_rules_parse(&rules, STR_NONE, &e));
    assert_true(str_starts(str_z(e.msg), STR("bad rules at line 1, column 1: ")));
}

static void the_number_of_rules_is_limited(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    for (int i = 0; i < COMPARE_RULES_MAX; i++) {
        assert_true(compare_rules_add_path(&rules, COMPARE_PATH_IGNORE, STR("$.a"), &e));
        assert_true(compare_rules_add_field(&rules, STR("a"), &e));
    }
    assert_false(compare_rules_add_path(&rules, COMPARE_PATH_IGNORE, STR("$.a"), &e));
    assert_string_equal(e.msg, "too many paths: 256 are allowed");
    assert_false(compare_rules_add_field(&rules, STR("a"), &e));
    assert_string_equal(e.msg, "too many ignored fields: 256 are allowed");
}

static void allowed_changes_have_a_rule_a_day_and_a_reason(void **state)
{
    (void)state;
    parses("{'allow':[{'rule':'tool.removed','tool':'a','until':'2027-01-31','reason':'old'},"
           "{'rule':'tool.added','until':'2027-01-31','reason':'new'}]}");
    assert_int_equal(rules.allow_count, 2);
    assert_str(rules.allow[0].rule, STR("tool.removed"));
    assert_str(rules.allow[0].tool, STR("a"));
    assert_str(rules.allow[0].until, STR("2027-01-31"));
    assert_str(rules.allow[0].reason, STR("old"));
    assert_int_equal(rules.allow[1].tool.len, 0);
}

static void an_entry_of_allow_that_lacks_something_is_rejected(void **state)
{
    (void)state;
    is_rejected("{'allow':[{'rule':'a','until':'2027-01-31'}]}",
                "bad rules at line 1, column 11: an entry of 'allow' lacks its 'reason'", "");
    is_rejected("{'allow':[{'until':'2027-01-31','reason':'x'}]}",
                "bad rules at line 1, column 11: an entry of 'allow' lacks its 'rule'", "");
    is_rejected("{'allow':[{'rule':'a','until':'2027-13-01','reason':'x'}]}",
                "bad rules at line 1, column 11: 'until' of 'allow' is not a date such as "
                "2027-01-31",
                "");
    is_rejected("{'allow':[{'rule':''}]}",
                "bad rules at line 1, column 19: 'rule' of 'allow' is not a string with text",
                "");
    is_rejected("{'allow':[{'until':'2027-01-31','why':'x'}]}",
                "bad rules at line 1, column 33: unknown member 'why' of 'allow'",
                "members are: rule, tool, until, reason");
    is_rejected("{'allow':{}}",
                "bad rules at line 1, column 10: 'allow' is not an array of "
                "objects",
                "");
    is_rejected("{'allow':[1]}",
                "bad rules at line 1, column 11: 'allow' is not an array of "
                "objects",
                "");
}

#define RULES_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULES_TEST(without_rules_the_default_set_is_volatile_and_meta_is_not_compared),
        RULES_TEST(an_empty_document_changes_nothing),
        RULES_TEST(fields_are_ignored_by_their_exact_name),
        RULES_TEST(mcp_recorder_strips_ids_and_meta),
        RULES_TEST(paths_keep_their_kind_and_match),
        RULES_TEST(volatile_paths_are_added_to_the_default_set),
        RULES_TEST(volatile_false_turns_the_default_set_off),
        RULES_TEST(meta_is_compared_on_request),
        RULES_TEST(documents_and_options_add_up),
        RULES_TEST(the_option_volatile_takes_on_off_and_paths),
        RULES_TEST(an_unknown_member_gets_a_suggestion_and_its_position),
        RULES_TEST(a_value_of_the_wrong_type_is_rejected_at_its_position),
        RULES_TEST(a_bad_path_or_name_is_rejected_at_its_position),
        RULES_TEST(a_member_that_occurs_twice_is_rejected),
        RULES_TEST(a_text_that_is_not_json_is_rejected_at_its_position),
        RULES_TEST(the_number_of_rules_is_limited),
        RULES_TEST(allowed_changes_have_a_rule_a_day_and_a_reason),
        RULES_TEST(an_entry_of_allow_that_lacks_something_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

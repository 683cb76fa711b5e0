#include "verify/tool-list.h"

#include "terse.h"
#include "test.h"

static void add(struct tool_list *t, const char *text)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct json j;

    json_init(&j);
    if (!json_scan(&j, terse_json(&a, text), &fault))
        fail_msg("%s", text);
    tool_list_add(t, json_root(&j));
    json_release(&j);
    arena_release(&a);
}

static void only_an_explicit_hint_makes_a_tool_read_only(void **state)
{
    struct tool_list t;

    (void)state;
    tool_list_init(&t);
    assert_false(t.known);
    add(&t, "{'tools':[{'name':'a','annotations':{'readOnlyHint':true}},{'name':'b'},"
            "{'name':'c','annotations':{'readOnlyHint':false}},{'name':7}]}");
    assert_true(t.known);
    assert_true(tool_list_find(&t, STR("a"))->read_only);
    assert_false(tool_list_find(&t, STR("b"))->read_only);
    assert_false(tool_list_find(&t, STR("c"))->read_only);
    assert_null(tool_list_find(&t, STR("d")));
    tool_list_release(&t);
}

static void a_later_list_replaces_an_earlier_one(void **state)
{
    struct tool_list t;

    (void)state;
    tool_list_init(&t);
    add(&t, "{'tools':[{'name':'a','annotations':{'readOnlyHint':true},"
            "'outputSchema':{'type':'object'}}]}");
    assert_str(tool_list_find(&t, STR("a"))->output_schema, STR("{\"type\":\"object\"}"));
    add(&t, "{'tools':[{'name':'a'}]}");
    assert_false(tool_list_find(&t, STR("a"))->read_only);
    assert_int_equal(tool_list_find(&t, STR("a"))->output_schema.len, 0);
    tool_list_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_an_explicit_hint_makes_a_tool_read_only),
        cmocka_unit_test(a_later_list_replaces_an_earlier_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

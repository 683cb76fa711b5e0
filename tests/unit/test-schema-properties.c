#include "diff/schema-properties.h"

#include "terse.h"
#include "test.h"

static void list_schema(const char *schema, const char *want)
{
    struct terse_scanned text;
    struct json_val root = terse_scan(&text, schema);
    struct json_schema_rules rules;
    struct schema_properties list;
    struct schema_view view;
    struct arena a = { 0 };
    struct buf seen;
    uint64_t view_work = 0, work = 0;

    buf_init(&seen, 1 << 16);
    json_schema_rules_init(&rules, root);
    schema_view_init(&view, &rules, root, SCHEMA_VIEW_JOINED, &a, &view_work);
    list = schema_properties_list(&view, &a, &work);
    for (size_t i = 0; i < list.count; i++)
        buf_printf(&seen, "%.*s%s %.*s, ", STR_ARG(list.at[i].name),
                   list.at[i].required ? "!" : "", STR_ARG(json_raw(list.at[i].schema)));
    buf_printf(&seen, "%d", (int)work);
    assert_str(buf_str(&seen), str_z(want));
    buf_release(&seen);
    json_schema_rules_release(&rules);
    terse_scanned_release(&text);
    arena_release(&a);
}

static void properties_are_sorted_and_each_is_there_once(void **state)
{
    (void)state;
    list_schema("{}", "0");
    list_schema("{'properties':{'b':1,'a':2},'required':['b','c','b']}", "a 2, b! 1, c! , 5");
    list_schema("{'properties':{'a':1},'allOf':[{'properties':{'b':2},'required':['a']}]}",
                "a! 1, b 2, 3");
    list_schema("{'properties':{'a':1,'a':2}}", "a 1, 2");
}

static void values_that_are_no_names_are_left_out(void **state)
{
    (void)state;
    list_schema("{'properties':['a'],'required':{'a':'b'}}", "0");
    list_schema("{'properties':7,'required':[1,null,'a']}", "a! , 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_are_sorted_and_each_is_there_once),
        cmocka_unit_test(values_that_are_no_names_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "json/schema-rules.h"

#include "terse.h"
#include "test.h"

static struct json json;
static struct arena texts;
static struct json_schema_rules rules;

static struct json_val read_schema(const char *terse)
{
    struct json_fault fault;

    assert_true(json_scan(&json, terse_json(&texts, terse), &fault));
    json_schema_rules_init(&rules, json_root(&json));
    return json_root(&json);
}

static void forget_schema(void)
{
    json_schema_rules_release(&rules);
    arena_clear(&texts);
}

/* The keywords of the root in their order, each with its value. */
static void check_keywords(const char *schema, const char *want)
{
    struct json_val root = read_schema(schema);
    const struct json_schema_node *node = json_schema_rules_of(&rules, root);
    struct buf out;

    buf_init(&out, 1000);
    for (size_t i = 0; i < node->count; i++)
        buf_printf(&out, "%.*s=%.*s ", STR_ARG(json_keyword_name(node->rules[i].keyword)),
                   STR_ARG(json_raw(node->rules[i].value)));
    assert_str(buf_str(&out), str_z(want));
    assert_ptr_equal(json_schema_rules_of(&rules, root), node);
    buf_release(&out);
    forget_schema();
}

static void keywords_come_in_order_and_once(void **state)
{
    (void)state;
    check_keywords("{'title':'x','required':1,'type':2,'required':3}", "type=2 required=3 ");
    check_keywords("{'`u0074ype':2,'Type':3,'invalid schema':4}", "type=2 ");
    check_keywords("{}", "");
}

static void keywords_belong_to_dialects(void **state)
{
    (void)state;
    check_keywords("{'prefixItems':1,'dependencies':2}", "prefixItems=1 dependencies=2 ");
    check_keywords("{'$schema':'http://json-schema.org/draft-07/schema#','prefixItems':1,"
                   "'dependencies':2}",
                   "dependencies=2 ");
    check_keywords("{'$schema':'https://json-schema.org/draft/2020-12/schema','prefixItems':1,"
                   "'dependencies':2}",
                   "prefixItems=1 ");
    check_keywords("{'$schema':'urn:other','prefixItems':1,'dependencies':2}",
                   "prefixItems=1 dependencies=2 ");
}

static void a_keyword_is_found_or_not(void **state)
{
    const struct json_schema_node *node =
        json_schema_rules_of(&rules, read_schema("{'type':2,'if':3}"));

    (void)state;
    assert_str(json_raw(json_schema_rule(node, KEYWORD_IF)->value), STR("3"));
    assert_null(json_schema_rule(node, KEYWORD_THEN));
    forget_schema();
}

/* Where a $ref of `schema.properties.x` leads, as text; empty if to nothing. */
static void check_target(const char *schema, const char *want)
{
    struct json_val root = read_schema(schema);
    struct json_val x = json_get(json_get(root, STR("properties")), STR("x"));
    const struct json_schema_rule *ref =
        json_schema_rule(json_schema_rules_of(&rules, x), KEYWORD_REF);

    assert_non_null(ref);
    assert_str(json_raw(ref->target), terse_json(&texts, want));
    forget_schema();
}

static void references_are_resolved(void **state)
{
    (void)state;
    check_target("{'$defs':{'a':1},'properties':{'x':{'$ref':'#/$defs/a'}}}", "1");
    check_target("{'$defs':{'a':1},'properties':{'x':{'$ref':'#/$defs/%61'}}}", "1");
    check_target("{'$defs':{'~1':1,'/':2},'properties':{'x':{'$ref':'#/$defs/~01'}}}", "1");
    check_target("{'$defs':{'~1':1,'/':2},'properties':{'x':{'$ref':'#/$defs/~1'}}}", "2");
    check_target("{'$defs':{'':[5,6]},'properties':{'x':{'$ref':'#/$defs//1'}}}", "6");
    check_target("{'$defs':{'':7},'properties':{'x':{'$ref':'#/$defs/'}}}", "7");
    check_target("{'properties':{'x':{'$ref':'#'}}}", "{'properties':{'x':{'$ref':'#'}}}");
    check_target("{'properties':{'x':{'$ref':''}}}", "{'properties':{'x':{'$ref':''}}}");
}

static void references_to_nothing_stay_open(void **state)
{
    (void)state;
    check_target("{'properties':{'x':{'$ref':'#/$defs/a'}}}", "");
    check_target("{'$defs':[1],'properties':{'x':{'$ref':'#/$defs/1'}}}", "");
    check_target("{'$defs':[1],'properties':{'x':{'$ref':'#/$defs/a'}}}", "");
    check_target("{'$defs':'a','properties':{'x':{'$ref':'#/$defs/a'}}}", "");
    check_target("{'properties':{'x':{'$ref':'#anchor'}}}", "");
    check_target("{'properties':{'x':{'$ref':'other.json#/a'}}}", "");
    check_target("{'properties':{'x':{'$ref':1}}}", "");
}

static void references_belong_to_their_resource(void **state)
{
    (void)state;
    check_target("{'$id':'http://a.example/s','d':1,'properties':{'x':{'$ref':'#/d'}}}", "1");
    check_target("{'$id':'http://a.example/s#','d':1,'properties':{'x':{'$ref':"
                 "'http://a.example/s#/d'}}}",
                 "1");
    check_target("{'$id':'http://a.example/s','d':1,'properties':{'x':{'$ref':"
                 "'http://a.example/s2#/d'}}}",
                 "");
    check_target("{'d':1,'properties':{'x':{'$id':'inner','d':2,'$ref':'#/d'}}}", "2");
    check_target("{'d':1,'properties':{'y':{'$id':'inner','d':2},'x':{'$ref':'#/d'}}}", "1");
    check_target("{'d':1,'properties':{'x':{'$id':'#anchor','d':2,'$ref':'#/d'}}}", "1");
    check_target("{'d':1,'properties':{'$id':{'d':2},'x':{'$ref':'#/d'}}}", "1");
}

static void a_schema_of_too_many_resources_has_no_references(void **state)
{
    struct json_fault fault;
    struct buf b;

    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        buf_init(&b, 10000);
        buf_add(&b, STR("{\"allOf\":["));
        for (int i = 0; i < JSON_SCHEMA_MAX_RESOURCES + extra; i++)
            buf_printf(&b, "%s{\"$id\":\"r%d\"}", i ? "," : "", i);
        buf_add(&b, STR("],\"$ref\":\"#/allOf/0\"}"));
        assert_true(json_scan(&json, buf_str(&b), &fault));
        json_schema_rules_init(&rules, json_root(&json));
        assert_int_equal(
            json_exists(
                json_schema_rule(json_schema_rules_of(&rules, json_root(&json)), KEYWORD_REF)
                    ->target),
            !extra);
        buf_release(&b);
        forget_schema();
    }
}

static void patterns_are_compiled_once_and_limited(void **state)
{
    struct json_fault fault;
    const struct regex *first;
    struct json_iter it;
    struct buf b;
    int compiled = 0;

    (void)state;
    buf_init(&b, 10000);
    buf_add(&b, STR("[\"(?=a)\", 7"));
    for (int i = 0; i < JSON_SCHEMA_MAX_PATTERNS + 1; i++)
        buf_printf(&b, ",\"^a%d$\"", i);
    buf_add_ch(&b, ']');
    assert_true(json_scan(&json, buf_str(&b), &fault));
    json_schema_rules_init(&rules, json_root(&json));
    assert_null(json_schema_rules_pattern(&rules, json_item(json_root(&json), 0)));
    assert_null(json_schema_rules_pattern(&rules, json_item(json_root(&json), 1)));
    first = json_schema_rules_pattern(&rules, json_item(json_root(&json), 2));
    assert_true(regex_search(first, STR("a0")));
    assert_false(regex_search(first, STR("a")));
    for (it = json_each(json_root(&json)); json_next(&it);)
        compiled += json_schema_rules_pattern(&rules, it.value) != NULL;
    assert_int_equal(compiled, JSON_SCHEMA_MAX_PATTERNS);
    assert_ptr_equal(json_schema_rules_pattern(&rules, json_item(json_root(&json), 2)), first);
    buf_release(&b);
    forget_schema();
}

static void check_values(const char *schema, bool valid)
{
    struct json_val root = read_schema(schema);
    const struct json_schema_node *node = json_schema_rules_of(&rules, root);

    for (size_t i = 0; i < node->count; i++)
        if (json_keyword_is_valid(node->rules[i].keyword, node->rules[i].value) != valid)
            fail_msg("%.*s", STR_ARG(json_keyword_name(node->rules[i].keyword)));
    forget_schema();
}

static void a_value_has_the_form_of_its_keyword_or_not(void **state)
{
    (void)state;
    check_values("{'type':['string','null'],'enum':[1],'const':{},'minimum':1.5,'maxItems':2,'"
                 "pattern':'^',"
                 "'uniqueItems':true,'items':[{}],'required':['a'],'properties':{},'not':false,"
                 "'oneOf':[{}]}",
                 true);
    check_values(
        "{'type':'strnig','enum':1,'minimum':'1','maxItems':null,'pattern':1,'uniqueItems':{},"
        "'items':1,'required':['a',1],'properties':[],'not':[],'oneOf':{},'$ref':1}",
        false);
}

static int release(void **state)
{
    (void)state;
    json_release(&json);
    arena_release(&texts);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keywords_come_in_order_and_once),
        cmocka_unit_test(keywords_belong_to_dialects),
        cmocka_unit_test(a_keyword_is_found_or_not),
        cmocka_unit_test(references_are_resolved),
        cmocka_unit_test(references_to_nothing_stay_open),
        cmocka_unit_test(references_belong_to_their_resource),
        cmocka_unit_test(a_schema_of_too_many_resources_has_no_references),
        cmocka_unit_test(patterns_are_compiled_once_and_limited),
        cmocka_unit_test(a_value_has_the_form_of_its_keyword_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}

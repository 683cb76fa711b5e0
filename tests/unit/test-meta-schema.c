#include "json/meta-schema.h"

#include "terse.h"
#include "test.h"

/* Checks a schema, spelled with ' for ", see terse.h. `why` is empty if it is valid. */
static void check(const char *terse, const char *why)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct json j;
    struct buf found;

    json_init(&j);
    buf_init(&found, 1 << 10);
    assert_true(json_scan(&j, terse_json(&a, terse), &fault));
    assert_int_equal(json_meta_schema_check(json_root(&j), &found), !*why);
    assert_str(buf_str(&found), terse_json(&a, why));
    buf_release(&found);
    json_release(&j);
    arena_release(&a);
}

static void valid_schemas_are_accepted(void **state)
{
    (void)state;
    check("{}", "");
    check("true", "");
    check("{'type':['string','null'],'minLength':0,'required':[],'properties':{'a':{'$ref':'#'}"
          "}}",
          "");
    check("{'$schema':'https://json-schema.org/draft/2020-12/schema','prefixItems':[{}],"
          "'dependentRequired':{'a':['b']},'x':1}",
          "");
}

static void schemas_of_other_dialects_are_not_judged(void **state)
{
    (void)state;
    check("{'$schema':'http://json-schema.org/draft-04/schema#','exclusiveMinimum':true}", "");
    check("{'$schema':'https://example.com/own','type':'date'}", "");
    check("{'$schema':'http://json-schema.org/draft-07/schema#','exclusiveMinimum':true}",
          "$.exclusiveMinimum must be a number");
    check("{'$schema':'https://json-schema.org/draft/2020-12/schema','type':'date'}",
          "$.type is not one of 'array', 'boolean', 'integer', 'null', 'number', 'object', "
          "'string'");
    check("{'$schema':4}", "$.$schema must be a string");
}

static void a_keyword_with_a_wrong_value_is_found(void **state)
{
    (void)state;
    check("{'type':'nonsense'}", "$.type is not one of 'array', 'boolean', 'integer', 'null', "
                                 "'number', 'object', 'string'");
    check("{'required':'a'}", "$.required must be an array");
    check("{'properties':[]}", "$.properties must be an object");
    check("{'minProperties':-1}", "$.minProperties must be at least 0");
    check("{'exclusiveMinimum':true}", "$.exclusiveMinimum must be a number");
    check("{'allOf':[]}", "$.allOf must have at least 1 element");
    check("1", "$ must be an object or a boolean");
}

static void it_is_found_at_any_depth(void **state)
{
    (void)state;
    check("{'properties':{'a':{'items':[{},{'anyOf':[{'not':{'enum':1}}]}]}}}",
          "$.properties.a.items[1].anyOf[0].not.enum must be an array");
    check("{'definitions':{'a':{'pattern':1}}}", "$.definitions.a.pattern must be a string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_schemas_are_accepted),
        cmocka_unit_test(schemas_of_other_dialects_are_not_judged),
        cmocka_unit_test(a_keyword_with_a_wrong_value_is_found),
        cmocka_unit_test(it_is_found_at_any_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

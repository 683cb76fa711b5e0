#include "json/schema.h"

#include "terse.h"
#include "test.h"

static struct json schema_json, value_json;
static struct arena texts;

static struct json_val scan(struct json *j, const char *terse)
{
    struct json_fault fault;

    if (!json_scan(j, terse_json(&texts, terse), &fault))
        fail_msg("%s: %s", terse, fault.what);
    return json_root(j);
}

static bool note(void *arg, const struct json_schema_violation *v)
{
    struct buf *to = arg;

    if (to->len)
        buf_add(to, STR("; "));
    json_location_write(v->location, to);
    buf_add_ch(to, ' ');
    buf_add(to, v->message);
    return true;
}

/* The violations, or else the verdict. */
static void write_result(const struct json_schema_result *r, struct buf *to)
{
    if (r->verdict == JSON_SCHEMA_VALID)
        buf_add(to, STR("valid"));
    if (to->len && r->verdict == JSON_SCHEMA_INVALID && r->unchecked)
        buf_add(to, STR("; "));
    json_schema_write_unchecked(r, to);
}

static void check(const char *schema, const char *value, const char *want)
{
    struct json_val root = scan(&schema_json, schema), v = scan(&value_json, value);
    struct json_schema *s = json_schema_new(root);
    struct json_schema_result result, quick;
    struct buf out;

    buf_init(&out, 10000);
    result = json_schema_check(s, v, note, &out);
    assert_int_equal(result.verdict == JSON_SCHEMA_INVALID, out.len > 0);
    write_result(&result, &out);
    if (!str_eq(buf_str(&out), str_z(want)))
        fail_msg("%s on %s:\ngot  %s\nwant %s", value, schema, buf_z(&out), want);
    quick = json_schema_check(s, v, NULL, NULL);
    assert_int_equal(quick.verdict, result.verdict);
    buf_release(&out);
    json_schema_free(s);
    arena_clear(&texts);
}

struct row {
    const char *schema, *value, *want;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(rows[i].schema, rows[i].value, rows[i].want);
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

static void types_are_checked(void **state)
{
    static const struct row rows[] = {
        { "{'type':'string'}", "'a'", "valid" },
        { "{'type':'string'}", "1", "$ must be a string" },
        { "{'type':'integer'}", "2", "valid" },
        { "{'type':'integer'}", "2.0", "valid" },
        { "{'type':'integer'}", "1e400", "valid" },
        { "{'type':'integer'}", "2.5", "$ must be an integer" },
        { "{'type':'number'}", "2", "valid" },
        { "{'type':'number'}", "'2'", "$ must be a number" },
        { "{'type':'boolean'}", "false", "valid" },
        { "{'type':'boolean'}", "0", "$ must be a boolean" },
        { "{'type':'null'}", "null", "valid" },
        { "{'type':'null'}", "false", "$ must be null" },
        { "{'type':'array'}", "[]", "valid" },
        { "{'type':'array'}", "{}", "$ must be an array" },
        { "{'type':'object'}", "{}", "valid" },
        { "{'type':'object'}", "[]", "$ must be an object" },
        { "{'type':['integer','null']}", "null", "valid" },
        { "{'type':['integer','null']}", "true", "$ must be an integer or null" },
        { "{'type':['null','array','string','integer','number']}", "true",
          "$ must be an array, a string, a number or null" },
        { "{'type':'any'}", "1", "not checked: type" },
        { "{'type':7}", "1", "not checked: type" },
        { "{'type':[]}", "1", "not checked: type" },
        { "{'type':['string',7]}", "'a'", "not checked: type" },
        { "{'type':'string','type':'null'}", "null", "valid" },
        { "{'`u0074ype':'string'}", "null", "$ must be a string" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void constants_are_compared_by_value(void **state)
{
    static const struct row rows[] = {
        { "{'enum':['a',2,null]}", "2.0", "valid" },
        { "{'enum':['a',2,null]}", "'b'", "$ is not one of \"a\", 2, null" },
        { "{'enum':[1,0]}", "true", "$ is not one of 1, 0" },
        { "{'enum':[{'a':[1]}]}", "{'a':[1.0]}", "valid" },
        { "{'enum':[1,2,3,4,5,6,7,8,9]}", "0", "$ is not one of 1, 2, 3, 4, 5, 6, 7, 8, …" },
        { "{'enum':[]}", "0", "$ is not one of " },
        { "{'enum':1}", "0", "not checked: enum" },
        { "{'const':'a'}", "'`u0061'", "valid" },
        { "{'const':{'a':1,'b':2}}", "{'b':2,'a':1e0}", "valid" },
        { "{'const':{'a':1}}", "{'a':2}", "$ must be {\"a\":1}" },
        { "{'const':null}", "0", "$ must be null" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void numbers_have_limits(void **state)
{
    static const struct row rows[] = {
        { "{'minimum':3}", "3.0", "valid" },
        { "{'minimum':3}", "2.99", "$ must be at least 3" },
        { "{'minimum':3}", "'a'", "valid" },
        { "{'minimum':'3'}", "1", "not checked: minimum" },
        { "{'maximum':9007199254740992}", "9007199254740992", "valid" },
        { "{'maximum':9007199254740992}", "9007199254740993",
          "$ must be at most 9007199254740992" },
        { "{'exclusiveMinimum':0}", "1e-400", "valid" },
        { "{'exclusiveMinimum':0}", "-0.0", "$ must be greater than 0" },
        { "{'exclusiveMaximum':1e1}", "9.999", "valid" },
        { "{'exclusiveMaximum':1e1}", "10", "$ must be less than 1e1" },
        { "{'minimum':3,'exclusiveMinimum':true}", "4", "not checked: exclusiveMinimum" },
        { "{'minimum':3,'exclusiveMinimum':false}", "3", "valid" },
        { "{'minimum':1}", "1e99999999999999999999", "not checked: minimum" },
        { "{'multipleOf':0.1}", "0.3", "valid" },
        { "{'multipleOf':0.1}", "0.35", "$ must be a multiple of 0.1" },
        { "{'multipleOf':5}", "'a'", "valid" },
        { "{'multipleOf':0}", "5", "not checked: multipleOf" },
        { "{'multipleOf':1234567890123456789}", "5", "not checked: multipleOf" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void strings_have_a_length_and_a_pattern(void **state)
{
    static const struct row rows[] = {
        { "{'minLength':2}", "'ab'", "valid" },
        { "{'minLength':2}", "'a'", "$ must have at least 2 characters" },
        { "{'minLength':2}", "'\xf0\x9f\x9a\x80'", "$ must have at least 2 characters" },
        { "{'maxLength':1}", "'\xf0\x9f\x9a\x80'", "valid" },
        { "{'maxLength':1}", "'`ud83d`ude80'", "valid" },
        { "{'maxLength':1}", "'`u0061`n'", "$ must have at most 1 character" },
        { "{'maxLength':2.0}", "'ab'", "valid" },
        { "{'maxLength':2}", "['abc']", "valid" },
        { "{'maxLength':'2'}", "'a'", "not checked: maxLength" },
        { "{'maxLength':2.5}", "'a'", "not checked: maxLength" },
        { "{'pattern':'^a+$'}", "'aa'", "valid" },
        { "{'pattern':'^a+$'}", "'`u0061'", "valid" },
        { "{'pattern':'^a+$'}", "'ab'", "$ must match the pattern \"^a+$\"" },
        { "{'pattern':'^.$'}", "'`r'", "$ must match the pattern \"^.$\"" },
        { "{'pattern':'^a+$'}", "7", "valid" },
        { "{'pattern':'(?=a)'}", "'b'", "not checked: pattern" },
        { "{'pattern':'(a'}", "'b'", "not checked: pattern" },
        { "{'pattern':7}", "'b'", "not checked: pattern" },
        { "{'pattern':'a'}", "'`ud83d'", "not checked: pattern" },
        { "{'format':'email'}", "'a'", "not checked: format" },
        { "{'format':'int32'}", "5", "not checked: format" },
        { "{'format':'email'}", "[]", "valid" },
        { "{'format':'email','maxLength':1}", "'ab'",
          "$ must have at most 1 character; not checked: format" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void arrays_are_checked(void **state)
{
    static const struct row rows[] = {
        { "{'minItems':1}", "[0]", "valid" },
        { "{'minItems':1}", "[]", "$ must have at least 1 element" },
        { "{'maxItems':1}", "[0]", "valid" },
        { "{'maxItems':1}", "[0,0]", "$ must have at most 1 element" },
        { "{'maxItems':1}", "{'a':1,'b':1}", "valid" },
        { "{'uniqueItems':true}", "[1,true,'1',[1],{'a':1}]", "valid" },
        { "{'uniqueItems':true}", "[0,{'a':1,'b':[2]},{'b':[2.0],'a':1}]",
          "$ has equal elements [1] and [2]" },
        { "{'uniqueItems':false}", "[1,1]", "valid" },
        { "{'uniqueItems':1}", "[1,1]", "not checked: uniqueItems" },
        { "{'items':{'type':'string'}}", "['a','b']", "valid" },
        { "{'items':{'type':'string'}}", "['a',1,null]",
          "$[1] must be a string; $[2] must be a string" },
        { "{'items':false}", "[]", "valid" },
        { "{'items':false}", "[1]", "$[0] is not allowed" },
        { "{'items':{'type':'string'}}", "{'a':1}", "valid" },
        { "{'items':7}", "[1]", "not checked: invalid schema" },
        { "{'items':[{'type':'string'},{'type':'null'}]}", "['a',null,3]", "valid" },
        { "{'items':[{'type':'string'},{'type':'null'}]}", "['a',1]", "$[1] must be null" },
        { "{'items':[true],'additionalItems':false}", "[1]", "valid" },
        { "{'items':[true],'additionalItems':false}", "[1,2]", "$[1] is not allowed" },
        { "{'items':{},'additionalItems':false}", "[1,2]", "valid" },
        { "{'prefixItems':[{'type':'string'}],'items':{'type':'null'}}", "['a',null]",
          "valid" },
        { "{'prefixItems':[{'type':'string'}],'items':{'type':'null'}}", "[1,1]",
          "$[0] must be a string; $[1] must be null" },
        { "{'prefixItems':[true],'items':false}", "[1,2]", "$[1] is not allowed" },
        { "{'prefixItems':{}}", "[1]", "not checked: prefixItems" },
        { "{'prefixItems':[false]}", "'a'", "valid" },
        { "{'contains':{'type':'null'}}", "[1,null]", "valid" },
        { "{'contains':{'type':'null'}}", "[1]",
          "$ must have at least 1 element matching the schema of contains" },
        { "{'contains':{'type':'null'}}", "{}", "valid" },
        { "{'contains':{'type':'null'},'minContains':0}", "[1]", "valid" },
        { "{'contains':{'type':'null'},'minContains':2}", "[null]",
          "$ must have at least 2 elements matching the schema of contains" },
        { "{'contains':{'type':'null'},'maxContains':1}", "[null,1]", "valid" },
        { "{'contains':{'type':'null'},'maxContains':1}", "[null,null]",
          "$ must have at most 1 element matching the schema of contains" },
        { "{'contains':{'format':'x'}}", "[1]", "not checked: format" },
        { "{'contains':{'format':'x'},'minContains':2}", "[1,[]]", "not checked: format" },
        { "{'contains':{'format':'x'}}", "[1,[]]", "valid" },
        { "{'contains':{'format':'x'},'minContains':3}", "[1,[]]",
          "$ must have at least 3 elements matching the schema of contains" },
        { "{'contains':{'format':'x'},'maxContains':1}", "[1,[]]", "not checked: format" },
        { "{'contains':true,'minContains':'1'}", "[]", "not checked: minContains" },
        { "{'contains':true,'maxContains':'1'}", "[]", "not checked: maxContains" },
        { "{'unevaluatedItems':false}", "[1]", "not checked: unevaluatedItems" },
        { "{'unevaluatedItems':false}", "[]", "valid" },
        { "{'unevaluatedItems':false}", "{'a':1}", "valid" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void objects_are_checked(void **state)
{
    static const struct row rows[] = {
        { "{'required':['a','b']}", "{'a':1,'b':null}", "valid" },
        { "{'required':['a','b c']}", "{}", "$.a is missing; $['b c'] is missing" },
        { "{'required':['a']}", "[]", "valid" },
        { "{'required':true}", "{}", "not checked: required" },
        { "{'required':[1]}", "{}", "not checked: required" },
        { "{'properties':{'a':{'type':'string'}}}", "{'a':'x','b':1}", "valid" },
        { "{'properties':{'a':{'properties':{'b':{'type':'string'}}}}}", "{'a':{'b':[]}}",
          "$.a.b must be a string" },
        { "{'properties':{'a':{'type':'string'}}}", "{'a':'x','`u0061':1}",
          "$.a must be a string" },
        { "{'properties':{'a':false,'a':true}}", "{'a':1}", "valid" },
        { "{'properties':[]}", "{'a':1}", "not checked: properties" },
        { "{'properties':{'a':{},'b':{}},'additionalProperties':false}", "{'a':1}", "valid" },
        { "{'properties':{'a':{}},'additionalProperties':false}", "{'a':1,'b':1,'c':2}",
          "$.b is not allowed; $.c is not allowed" },
        { "{'additionalProperties':{'type':'null'}}", "{'a':null}", "valid" },
        { "{'additionalProperties':{'type':'null'}}", "{'a':1}", "$.a must be null" },
        { "{'additionalProperties':false}", "['a']", "valid" },
        { "{'patternProperties':{'^x-':{'type':'null'}}}", "{'x-a':null,'b':1}", "valid" },
        { "{'patternProperties':{'^x-':{'type':'null'}}}", "{'x-a':1}", "$.x-a must be null" },
        { "{'patternProperties':{'^x':{}},'additionalProperties':false}", "{'x1':1}", "valid" },
        { "{'patternProperties':{'^x':{}},'additionalProperties':false}", "{'y':1}",
          "$.y is not allowed" },
        { "{'patternProperties':{'(?!x)':{'type':'null'}}}", "{'a':null}", "valid" },
        { "{'patternProperties':{'(?!x)':{'type':'null'}}}", "{'a':1}",
          "not checked: patternProperties" },
        { "{'patternProperties':{'(?!x)':{}},'additionalProperties':false}", "{'a':1}",
          "not checked: patternProperties" },
        { "{'patternProperties':1}", "{'a':1}", "not checked: patternProperties" },
        { "{'minProperties':1}", "{'a':1}", "valid" },
        { "{'minProperties':2}", "{'a':1,'a':2}", "$ must have at least 2 members" },
        { "{'maxProperties':1}", "{'a':1,'a':2}", "valid" },
        { "{'maxProperties':1}", "{'a':1,'b':2}", "$ must have at most 1 member" },
        { "{'maxProperties':0}", "[1]", "valid" },
        { "{'propertyNames':{'maxLength':1}}", "{'a':1}", "valid" },
        { "{'propertyNames':{'maxLength':1}}", "{'ab':1}",
          "$.ab has a name that does not match the schema of propertyNames" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void members_require_other_members(void **state)
{
    static const struct row rows[] = {
        { "{'dependentRequired':{'a':['b']}}", "{'c':1}", "valid" },
        { "{'dependentRequired':{'a':['b']}}", "{'a':1,'b':1}", "valid" },
        { "{'dependentRequired':{'a':['b']}}", "{'a':1}",
          "$.b is missing: it is required beside 'a'" },
        { "{'dependentRequired':{'a':{}}}", "{'a':1}", "not checked: dependentRequired" },
        { "{'dependentRequired':[]}", "{'a':1}", "not checked: dependentRequired" },
        { "{'dependentRequired':{'a':['b']}}", "['a']", "valid" },
        { "{'dependentSchemas':{'a':{'minProperties':2}}}", "{'a':1,'b':1}", "valid" },
        { "{'dependentSchemas':{'a':{'minProperties':2}}}", "{'a':1}",
          "$ must have at least 2 members" },
        { "{'dependencies':{'a':['b'],'c':{'minProperties':2}}}", "{'a':1,'b':1}", "valid" },
        { "{'dependencies':{'a':['b'],'c':{'minProperties':2}}}", "{'a':1}",
          "$.b is missing: it is required beside 'a'" },
        { "{'dependencies':{'a':['b'],'c':{'minProperties':2}}}", "{'c':1}",
          "$ must have at least 2 members" },
        { "{'unevaluatedProperties':false}", "{'a':1}", "not checked: unevaluatedProperties" },
        { "{'unevaluatedProperties':true}", "{'a':1}", "valid" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void schemas_are_combined(void **state)
{
    static const struct row rows[] = {
        { "true", "1", "valid" },
        { "false", "1", "$ is not allowed" },
        { "{}", "1", "valid" },
        { "null", "1", "not checked: invalid schema" },
        { "{'allOf':[{'minimum':1},{'maximum':3}]}", "2", "valid" },
        { "{'allOf':[{'minimum':5},{'maximum':3}]}", "4",
          "$ must be at least 5; $ must be at most 3" },
        { "{'allOf':{}}", "4", "not checked: allOf" },
        { "{'anyOf':[{'type':'null'},{'minimum':1}]}", "1", "valid" },
        { "{'anyOf':[{'minimum':5},{'minimum':6}]}", "1",
          "$ matches none of the 2 schemas of anyOf" },
        { "{'anyOf':[]}", "1", "$ matches none of the 0 schemas of anyOf" },
        { "{'anyOf':1}", "1", "not checked: anyOf" },
        { "{'oneOf':[{'type':'integer'},{'minimum':2}]}", "1", "valid" },
        { "{'oneOf':[{'type':'integer'},{'minimum':2}]}", "3",
          "$ matches 2 schemas of oneOf, not exactly one" },
        { "{'oneOf':[{'minimum':2},{'minimum':3}]}", "1",
          "$ matches none of the 2 schemas of oneOf" },
        { "{'oneOf':1}", "1", "not checked: oneOf" },
        { "{'not':{'type':'null'}}", "1", "valid" },
        { "{'not':{'type':'null'}}", "null", "$ must not match the schema of not" },
        { "{'not':{'not':{'type':'null'}}}", "null", "valid" },
        { "{'if':{'type':'string'},'then':{'maxLength':1},'else':{'minimum':1}}", "'a'",
          "valid" },
        { "{'if':{'type':'string'},'then':{'maxLength':1},'else':{'minimum':1}}", "'ab'",
          "$ must have at most 1 character" },
        { "{'if':{'type':'string'},'then':{'maxLength':1},'else':{'minimum':1}}", "1",
          "valid" },
        { "{'if':{'type':'string'},'then':{'maxLength':1},'else':{'minimum':1}}", "0",
          "$ must be at least 1" },
        { "{'if':true}", "0", "valid" },
        { "{'then':false,'else':false,'minContains':5,'additionalItems':false}", "0", "valid" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

/* The alternative that the value is meant to be is explained, if that can be seen. */
static void a_failure_of_alternatives_is_explained(void **state)
{
    static const char *const shapes =
        "{'oneOf':[{'$ref':'#/$defs/circle'},{'type':'object','properties':"
        "{'kind':{'const':'box'},'side':{'type':'number'}}},{'type':'null'}],'$defs':{'circle':"
        "{'type':'object','required':['radius'],'properties':{'kind':{'const':'circle'}}}}}";
    static const struct row rows[] = {
        { "{'anyOf':[{'type':'integer'},{'type':'null'}]}", "'5'",
          "$ must be an integer or null" },
        { "{'anyOf':[{'type':'integer','minimum':9},{'type':'null'}]}", "5",
          "$ must be at least 9" },
        { "{'anyOf':[false,{'properties':{'a':{'anyOf':[{'type':'null'},{'type':'array',"
          "'items':{'type':'string'}}]}}}]}",
          "{'a':['x',1]}", "$.a[1] must be a string" },
        { "{'anyOf':[{'type':'null'},false]}", "5",
          "$ matches none of the 2 schemas of anyOf" },
    };

    (void)state;
    CHECK_ROWS(rows);
    check(shapes, "{'kind':'circle'}", "$.radius is missing");
    check(shapes, "{'kind':'box','side':'1'}", "$.side must be a number");
    check(shapes, "{'kind':'line'}", "$ matches none of the 3 schemas of oneOf");
    check(shapes, "[]", "$ must be an object or null");
}

static void unchecked_parts_never_decide(void **state)
{
    static const struct row rows[] = {
        { "{'not':{'format':'x'}}", "'a'", "not checked: format" },
        { "{'not':{'format':'x','type':'null'}}", "'a'", "valid" },
        { "{'anyOf':[{'format':'x'},{'type':'string'}]}", "'a'", "valid" },
        { "{'anyOf':[{'format':'x'},{'type':'null'}]}", "'a'", "not checked: format" },
        { "{'oneOf':[{'format':'x'},{'type':'string'}]}", "'a'", "not checked: format" },
        { "{'oneOf':[{'format':'x'},{'type':'null'}]}", "'a'", "not checked: format" },
        { "{'oneOf':[{'format':'x'},{'type':'string'},{'minLength':1}]}", "'a'",
          "$ matches 2 schemas of oneOf, not exactly one" },
        { "{'if':{'format':'x'},'then':{'type':'null'},'else':{'type':'string'}}", "'a'",
          "not checked: format" },
        { "{'if':{'format':'x'},'then':{'minLength':1},'else':{'type':'string'}}", "'a'",
          "valid" },
        { "{'properties':{'a':{'format':'x'},'b':{'pattern':'(?=a)'}},'$dynamicRef':'#a'}",
          "{'a':'1','b':'2'}", "not checked: $dynamicRef, pattern, format" },
        { "{'$recursiveRef':'#'}", "1", "not checked: $recursiveRef" },
        { "{'type':'string','$ref':'other.json'}", "1",
          "$ must be a string; not checked: $ref" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void references_are_followed(void **state)
{
    static const char *const tree =
        "{'type':'object','properties':{'next':{'$ref':'#'},'v':{'type':'integer'}},"
        "'required':['v']}";
    static const struct row rows[] = {
        { "{'$ref':'#/$defs/a','$defs':{'a':{'type':'string'}}}", "'x'", "valid" },
        { "{'$ref':'#/$defs/a','$defs':{'a':{'type':'string'}}}", "1", "$ must be a string" },
        { "{'$ref':'#/definitions/a~1b~0c%25d/items/1','definitions':{'a/b~c%d':"
          "{'items':[true,{'type':'null'}]}}}",
          "1", "$ must be null" },
        { "{'$ref':'#/$defs/a','maximum':0,'$defs':{'a':{'type':'integer'}}}", "1",
          "$ must be at most 0" },
        { "{'$schema':'http://json-schema.org/draft-07/schema#','$ref':'#/$defs/a',"
          "'maximum':0,'$defs':{'a':{'type':'integer'}}}",
          "1", "valid" },
        { "{'$ref':'#/$defs/b','$defs':{}}", "1", "not checked: $ref" },
        { "{'$ref':'#name'}", "1", "not checked: $ref" },
        { "{'$ref':7}", "1", "not checked: $ref" },
    };

    (void)state;
    CHECK_ROWS(rows);
    check(tree, "{'v':1,'next':{'v':2,'next':{'v':3}}}", "valid");
    check(tree, "{'v':1,'next':{'v':2,'next':{}}}", "$.next.next.v is missing");
}

static void the_path_of_a_rule_is_reported(void **state)
{
    struct json_val root = scan(&schema_json, "{'a':{'properties':{'x y':{'$ref':'#/$defs/s'},"
                                              "'z':false}},'$defs':{'s':{'anyOf':[{'type':"
                                              "'string'}]}}}");
    struct json_schema *s = json_schema_new(root);
    const struct json_schema_violation v = {
        .rule = json_get(
            json_item(json_get(json_get(json_get(root, STR("$defs")), STR("s")), STR("anyOf")),
                      0),
            STR("type")),
    };
    struct buf out;

    (void)state;
    buf_init(&out, 1000);
    json_schema_write_rule(s, &v, &out);
    assert_str(buf_str(&out), STR("$.$defs.s.anyOf[0].type"));
    buf_release(&out);
    json_schema_free(s);
}

static bool note_keyword(void *arg, const struct json_schema_violation *v)
{
    struct buf *to = arg;

    buf_printf(to, "%.*s=%.*s/%.*s;", STR_ARG(v->keyword), STR_ARG(json_raw(v->rule)),
               STR_ARG(json_raw(v->value)));
    return to->len < 100;
}

static void a_violation_has_keyword_and_values(void **state)
{
    struct json_schema *s = json_schema_new(
        scan(&schema_json, "{'properties':{'a':{'minimum':3},'b':false},'required':['c'],"
                           "'additionalProperties':false}"));
    struct json_schema_result r;
    struct buf out;

    (void)state;
    buf_init(&out, 1000);
    r = json_schema_check(s, scan(&value_json, "{'a':1,'b':'x','d':null}"), note_keyword, &out);
    assert_int_equal(r.verdict, JSON_SCHEMA_INVALID);
    assert_str(buf_str(&out), STR("required=[\"c\"]/;minimum=3/1;properties=false/\"x\";"
                                  "additionalProperties=false/null;"));
    buf_release(&out);
    json_schema_free(s);
}

static bool stop_at_second(void *arg, const struct json_schema_violation *v)
{
    (void)v;
    return ++*(int *)arg < 2;
}

static void the_validation_ends_when_the_callback_returns_false(void **state)
{
    struct json_schema *s = json_schema_new(
        scan(&schema_json, "{'items':{'type':'null','format':'x'},'allOf':[{'maxItems':1}]}"));
    struct json_schema_result r;
    int n = 0;

    (void)state;
    r = json_schema_check(s, scan(&value_json, "[1,2,3,4]"), stop_at_second, &n);
    assert_int_equal(r.verdict, JSON_SCHEMA_INVALID);
    assert_int_equal(n, 2);
    json_schema_free(s);
}

static void absent_values_and_schemas_are_defined(void **state)
{
    struct json_schema *none = json_schema_new(JSON_VAL_NONE);
    struct json_schema *any = json_schema_new(scan(&schema_json, "true"));
    struct buf out;

    (void)state;
    buf_init(&out, 1000);
    assert_int_equal(json_schema_check(none, JSON_VAL_NONE, NULL, NULL).verdict,
                     JSON_SCHEMA_VALID);
    assert_int_equal(json_schema_check(any, JSON_VAL_NONE, note, &out).verdict,
                     JSON_SCHEMA_INVALID);
    assert_str(buf_str(&out), STR("$ is missing"));
    buf_release(&out);
    json_schema_free(none);
    json_schema_free(any);
    json_schema_free(NULL);
}

static void an_endless_schema_is_too_complex(void **state)
{
    static const struct row rows[] = {
        { "{'$ref':'#'}", "1", "schema too complex" },
        { "{'not':{'$ref':'#'}}", "1", "schema too complex" },
        { "{'anyOf':[{'$ref':'#'},{'$ref':'#'}]}", "1", "schema too complex" },
        { "{'contains':true,'allOf':[{'$ref':'#/$defs/a'}],'$defs':{'a':{'$ref':'#/$defs/a'}}}",
          "[]",
          "$ must have at least 1 element matching the schema of contains; schema too "
          "complex" },
    };

    (void)state;
    CHECK_ROWS(rows);
}

/* Sixty levels of two alternatives each, none of which fits. */
static void exponential_work_is_limited(void **state)
{
    struct json_schema_result r;
    struct json_fault fault;
    struct json_schema *s;
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 20);
    buf_add(&b, STR("{\"$ref\":\"#/$defs/0\",\"$defs\":{"));
    for (int i = 0; i < 60; i++)
        buf_printf(&b,
                   "\"%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]},",
                   i, i + 1, i + 1);
    buf_add(&b, STR("\"60\":false}}"));
    assert_true(json_scan(&schema_json, buf_str(&b), &fault));
    s = json_schema_new(json_root(&schema_json));
    r = json_schema_check(s, scan(&value_json, "1"), NULL, NULL);
    assert_int_equal(r.verdict, JSON_SCHEMA_TOO_COMPLEX);
    json_schema_free(s);
    buf_release(&b);
}

/* As deep as a value may be, with three schemas for each level; and a schema that refers to
 * itself through alternatives, whose failure is at the bottom. */
static void deep_values_are_checked(void **state)
{
    static const struct row rows[] = {
        { "{'items':{'allOf':[{'$ref':'#'}]},'type':'array'}", "[", "valid" },
        { "{'anyOf':[{'type':'null'},{'type':'array','minItems':1,'items':{'$ref':'#'}}]}", "[",
          "must have at least 1 element" },
    };
    struct json_fault fault;
    struct buf text, out;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&out, 1 << 20);
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        buf_add_ch(&text, '[');
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        buf_add_ch(&text, ']');
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json_schema *s = json_schema_new(scan(&schema_json, rows[i].schema));
        struct json_schema_result r;
        assert_true(json_scan(&value_json, buf_str(&text), &fault));
        buf_clear(&out);
        r = json_schema_check(s, json_root(&value_json), note, &out);
        write_result(&r, &out);
        assert_true(str_ends(buf_str(&out), str_z(rows[i].want)));
        json_schema_free(s);
    }
    buf_release(&text);
    buf_release(&out);
}

static void scan_repeated(struct json *j, struct buf *b, const char *before, const char *each,
                          int count, const char *behind)
{
    struct json_fault fault;

    buf_init(b, 64 << 20);
    buf_add(b, str_z(before));
    for (int i = 0; i < count; i++) {
        buf_add(b, i ? STR(",") : STR(""));
        for (const char *p = each; *p; p++)
            if (*p == '#')
                buf_add_int(b, i);
            else
                buf_add_ch(b, *p);
    }
    buf_add(b, str_z(behind));
    assert_true(json_scan(j, buf_str(b), &fault));
}

/* Quadratic work on these would take minutes. */
static void large_values_are_checked_in_linear_time(void **state)
{
    enum { MANY = 100000 };
    struct json_schema *s;
    struct buf schema, value;

    (void)state;
    scan_repeated(&schema_json, &schema, "{\"additionalProperties\":false,\"properties\":{",
                  "\"k#\":{\"const\":#}", MANY, "}}");
    s = json_schema_new(json_root(&schema_json));
    scan_repeated(&value_json, &value, "{", "\"k#\":#", MANY, "}");
    assert_int_equal(json_schema_check(s, json_root(&value_json), NULL, NULL).verdict,
                     JSON_SCHEMA_VALID);
    buf_release(&value);
    scan_repeated(&value_json, &value, "{", "\"k#\":#", MANY, ",\"k\":1}");
    assert_int_equal(json_schema_check(s, json_root(&value_json), NULL, NULL).verdict,
                     JSON_SCHEMA_INVALID);
    buf_release(&value);
    json_schema_free(s);
    buf_release(&schema);

    s = json_schema_new(
        scan(&schema_json, "{'uniqueItems':true,'items':{'enum':[[1],[2],3]}}"));
    scan_repeated(&value_json, &value, "[", "[#]", MANY, "]");
    assert_int_equal(json_schema_check(s, json_root(&value_json), NULL, NULL).verdict,
                     JSON_SCHEMA_INVALID);
    buf_release(&value);
    json_schema_free(s);
}

static int release(void **state)
{
    (void)state;
    json_release(&schema_json);
    json_release(&value_json);
    arena_release(&texts);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_checked),
        cmocka_unit_test(constants_are_compared_by_value),
        cmocka_unit_test(numbers_have_limits),
        cmocka_unit_test(strings_have_a_length_and_a_pattern),
        cmocka_unit_test(arrays_are_checked),
        cmocka_unit_test(objects_are_checked),
        cmocka_unit_test(members_require_other_members),
        cmocka_unit_test(schemas_are_combined),
        cmocka_unit_test(a_failure_of_alternatives_is_explained),
        cmocka_unit_test(unchecked_parts_never_decide),
        cmocka_unit_test(references_are_followed),
        cmocka_unit_test(the_path_of_a_rule_is_reported),
        cmocka_unit_test(a_violation_has_keyword_and_values),
        cmocka_unit_test(the_validation_ends_when_the_callback_returns_false),
        cmocka_unit_test(absent_values_and_schemas_are_defined),
        cmocka_unit_test(an_endless_schema_is_too_complex),
        cmocka_unit_test(exponential_work_is_limited),
        cmocka_unit_test(deep_values_are_checked),
        cmocka_unit_test(large_values_are_checked_in_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}

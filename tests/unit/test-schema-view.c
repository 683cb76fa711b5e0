#include "diff/schema-view.h"

#include "terse.h"
#include "test.h"

struct rig {
    struct terse_scanned text;
    struct json_schema_rules rules;
    struct schema_view view;
    struct arena arena;
    uint64_t work;
};

static void view_schema(struct rig *r, const char *schema)
{
    struct json_val root = terse_scan(&r->text, schema);

    r->arena = (struct arena){ 0 };
    r->work = 0;
    json_schema_rules_init(&r->rules, root);
    schema_view_init(&r->view, &r->rules, root, SCHEMA_VIEW_JOINED, &r->arena, &r->work);
}

static void end(struct rig *r)
{
    json_schema_rules_release(&r->rules);
    terse_scanned_release(&r->text);
    arena_release(&r->arena);
}

static void check_nullable_string(const char *schema, bool nullable)
{
    struct rig r;

    view_schema(&r, schema);
    assert_true(r.view.typed && r.view.complete);
    assert_int_equal(r.view.types, JSON_SCHEMA_STRING);
    assert_int_equal(r.view.nullable, nullable);
    assert_int_equal(r.view.branch_count, 0);
    end(&r);
}

static void the_spellings_of_nullable_are_one(void **state)
{
    (void)state;
    check_nullable_string("{'type':'string'}", false);
    check_nullable_string("{'type':['string','null']}", true);
    check_nullable_string("{'type':'string','nullable':true}", true);
    check_nullable_string("{'anyOf':[{'type':'string'},{'type':'null'}]}", true);
    check_nullable_string("{'oneOf':[{'const':null},{'type':'string'}]}", true);
    check_nullable_string("{'oneOf':[{'enum':[null]},{'$ref':'#/$defs/s'}],"
                          "'$defs':{'s':{'type':'string'}}}",
                          true);
    check_nullable_string("{'anyOf':[{'type':'string'}]}", false);
}

static void values_of_const_enum_and_constants_are_one(void **state)
{
    static const char *const schemas[] = { "{'const':1}", "{'enum':[1]}",
                                           "{'oneOf':[{'const':1,'title':'one'}]}",
                                           "{'allOf':[{'enum':[1]}]}" };
    struct rig r;

    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        view_schema(&r, schemas[i]);
        assert_true(r.view.has_values);
        assert_int_equal(r.view.value_count, 1);
        assert_false(r.view.nullable);
        end(&r);
    }
    view_schema(&r, "{'enum':['a',null]}");
    assert_int_equal(r.view.value_count, 1);
    assert_true(r.view.nullable);
    end(&r);
}

static void a_union_of_plain_types_is_a_set(void **state)
{
    struct rig r;

    (void)state;
    view_schema(&r, "{'anyOf':[{'type':'number'},{'type':'string','title':'s'}]}");
    assert_int_equal(r.view.types,
                     JSON_SCHEMA_NUMBER | JSON_SCHEMA_INTEGER | JSON_SCHEMA_STRING);
    assert_int_equal(r.view.branch_count, 0);
    end(&r);
    view_schema(
        &r, "{'anyOf':[{'type':'string','minLength':1},{'$ref':'#/$defs/o'},{'type':'null'}],"
            "'$defs':{'o':{'type':'object'}}}");
    assert_int_equal(r.view.branch_count, 2);
    assert_int_equal(r.view.types, JSON_SCHEMA_STRING | JSON_SCHEMA_OBJECT);
    assert_true(r.view.nullable);
    end(&r);
}

static void a_ref_to_itself_or_elsewhere_ends(void **state)
{
    struct rig r;

    (void)state;
    view_schema(&r, "{'$ref':'#'}");
    assert_int_equal(r.view.part_count, 1);
    assert_true(r.view.complete);
    end(&r);
    view_schema(&r, "{'$ref':'https://example.com/x'}");
    assert_false(r.view.complete);
    end(&r);
}

static void own_keywords_come_before_those_of_a_ref(void **state)
{
    struct rig r;

    (void)state;
    view_schema(&r, "{'$ref':'#/$defs/a','description':'own',"
                    "'$defs':{'a':{'description':'other','maxLength':3}}}");
    assert_true(json_is(schema_view_member(&r.view, STR("description")), STR("own")));
    assert_str(json_raw(schema_view_get(&r.view, KEYWORD_MAX_LENGTH)), STR("3"));
    assert_false(json_exists(schema_view_get(&r.view, KEYWORD_MINIMUM)));
    end(&r);
}

static void true_accepts_everything_and_false_nothing(void **state)
{
    struct rig r;

    (void)state;
    view_schema(&r, "true");
    assert_false(r.view.typed || r.view.never);
    assert_true(r.view.nullable);
    end(&r);
    view_schema(&r, "false");
    assert_true(r.view.never);
    end(&r);
}

static void a_union_in_a_union_has_its_branches_there(void **state)
{
    static const char *const schemas[] = {
        "{'anyOf':[{'anyOf':[{'$ref':'#/$defs/a'},{'$ref':'#/$defs/b'}]},{'type':'null'}],",
        "{'oneOf':[{'$ref':'#/$defs/u'},{'const':null}],",
        "{'anyOf':[{'allOf':[{'$ref':'#/$defs/u'}]},{'$ref':'#'},{'type':['null']}],",
    };
    struct rig r;
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        view_schema(&r, arena_printf(&a,
                                     "%s'$defs':{'a':{'type':'string','minLength':1},"
                                     "'b':{'type':'number','minimum':1},"
                                     "'u':{'anyOf':[{'$ref':'#/$defs/a'},"
                                     "{'$ref':'#/$defs/b'}]}}}",
                                     schemas[i])
                            .at);
        assert_int_equal(r.view.branch_count, 2);
        assert_true(r.view.nullable);
        assert_true(schema_view_is_union(&r.view));
        end(&r);
    }
    arena_release(&a);
}

/* Each union has the next one twice: without a memory, 2^40 branches. */
static void many_ways_to_a_union_add_its_branches_once(void **state)
{
    struct buf text;
    struct rig r;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_add(&text, STR("{'$ref':'#/$defs/d0','$defs':{"));
    for (int i = 0; i < 40; i++)
        buf_printf(&text,
                   "'d%d':{'anyOf':[{'$ref':'#/$defs/d%d'},{'minLength':%d},"
                   "{'$ref':'#/$defs/d%d'}]},",
                   i, i + 1, i, i + 1);
    buf_add(&text, STR("'d40':{'minimum':1}}}"));
    view_schema(&r, buf_z(&text));
    assert_int_equal(r.view.branch_count, 40 + 2);
    end(&r);
    buf_release(&text);
}

static void add_unions(struct buf *to, const char *keyword, const char *branches, int count)
{
    buf_printf(to, "'%s':[", keyword);
    for (int i = 0; i < count; i++)
        buf_printf(to, "%s{'anyOf':[%s]}", i ? "," : "", branches);
    buf_add_ch(to, ']');
}

static void values_and_subschemas_count_as_work(void **state)
{
    struct buf text;
    struct rig r;
    uint64_t one;

    (void)state;
    buf_init(&text, 1 << 20);
    for (int branches = 1; branches <= 30; branches += 29) {
        buf_clear(&text);
        buf_add(&text, STR("{'$defs':{'e':{'enum':["));
        for (int i = 0; i < 1000; i++)
            buf_printf(&text, "%s%d", i ? "," : "", i);
        buf_add(&text,
                STR("]},'u':{'minLength':1,'anyOf':[{'$ref':'#/$defs/e'},{'enum':['a']}]}},"
                    "'anyOf':[{'type':'string'}"));
        for (int i = 0; i < branches; i++)
            buf_add(&text, STR(",{'$ref':'#/$defs/u'}"));
        buf_add(&text, STR("]}"));
        view_schema(&r, buf_z(&text));
        one = r.work;
        assert_true(one >= (uint64_t)branches * 1000);
        assert_true(schema_view_is_union(&r.view));
        assert_true(r.work >= one + (uint64_t)branches * 1000);
        one = r.work;
        assert_int_equal(schema_view_plain_types(&r.view), JSON_SCHEMA_STRING);
        assert_true(r.work >= one + (uint64_t)branches * 1000);
        end(&r);
    }
    buf_release(&text);
}

static void without_work_that_is_left_nothing_is_searched(void **state)
{
    struct rig r;
    uint64_t work = SCHEMA_VIEW_WORK + 1;

    (void)state;
    assert_false(schema_view_is_used_up(SCHEMA_VIEW_WORK));
    assert_true(schema_view_is_used_up(work));
    view_schema(&r, "{'type':'string'}");
    assert_int_equal(schema_view_types(&r.rules, r.rules.root, &work),
                     SCHEMA_VIEW_ANY_TYPE | JSON_SCHEMA_NULL);
    assert_int_equal(work, SCHEMA_VIEW_WORK + 1);
    end(&r);
}

/* The unions of anyOf become types, so oneOf beside it is not yet a second list of branches. */
static void more_unions_than_a_view_has_room_for_are_left_out(void **state)
{
    struct buf text;
    struct rig r;

    (void)state;
    for (int inner = 62; inner <= 64; inner++) {
        buf_init(&text, 1 << 20);
        buf_add_ch(&text, '{');
        add_unions(&text, "anyOf", "{'type':'string'},{'type':'number'}", inner);
        buf_add_ch(&text, ',');
        add_unions(&text, "oneOf", "{'type':'string'},{'type':'boolean'}", 50);
        buf_add_ch(&text, '}');
        view_schema(&r, buf_z(&text));
        assert_int_equal(r.view.complete, inner < 63); /* 64 with the outer one */
        end(&r);
        buf_release(&text);
    }
}

static void keywords_of_allof_join_unless_they_collide(void **state)
{
    static const struct {
        const char *schema;
        size_t conjuncts;
    } rows[] = {
        { "{'allOf':[{'type':'string'},{'minLength':1}]}", 0 },
        { "{'allOf':[{'minLength':1},{'minLength':1}]}", 0 },
        { "{'allOf':[{'minLength':1},{'minLength':2}]}", 1 },
        { "{'minLength':1,'$ref':'#/$defs/a','$defs':{'a':{'minLength':2}}}", 1 },
        { "{'allOf':[{'enum':[1]},{'const':1}]}", 1 },
        { "{'properties':{'a':{}},'allOf':[{'properties':{'b':{}}}]}", 0 },
        { "{'properties':{'a':{}},'allOf':[{'properties':{'a':{}}}]}", 1 },
        { "{'properties':{'a':{}},'allOf':[{'additionalProperties':false}]}", 1 },
        { "{'items':{},'allOf':[{'prefixItems':[{}]}]}", 1 },
        { "{'if':{},'allOf':[{'then':{}}]}", 1 },
        { "{'anyOf':[{'minimum':1},{'maximum':1}],'allOf':[{'oneOf':[{'minLength':1},"
          "{'maxLength':1}]}]}",
          1 },
    };
    struct rig r;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        view_schema(&r, rows[i].schema);
        assert_int_equal(r.view.conjunct_count, rows[i].conjuncts);
        end(&r);
    }
}

static void types_follow_every_keyword_that_excludes_some(void **state)
{
    static const struct {
        const char *schema;
        unsigned types;
    } rows[] = {
        { "{'enum':['a',1,null]}",
          JSON_SCHEMA_STRING | JSON_SCHEMA_INTEGER | JSON_SCHEMA_NULL },
        { "{'allOf':[{'type':['string','null']},{'type':['string','object']}]}",
          JSON_SCHEMA_STRING },
        { "{'anyOf':[{'const':true},{'allOf':[{'type':'array'}]}]}",
          JSON_SCHEMA_BOOLEAN | JSON_SCHEMA_ARRAY },
        { "{'type':'number'}", JSON_SCHEMA_NUMBER | JSON_SCHEMA_INTEGER },
        { "{'oneOf':[{'type':['string','null']},{'type':'boolean'}]}",
          JSON_SCHEMA_STRING | JSON_SCHEMA_BOOLEAN | JSON_SCHEMA_NULL },
        { "{'oneOf':[{'type':['string','null']},{'const':null}]}", JSON_SCHEMA_STRING },
        { "{'$ref':'#'}", SCHEMA_VIEW_ANY_TYPE | JSON_SCHEMA_NULL },
        { "false", 0 },
    };
    struct rig r;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        view_schema(&r, rows[i].schema);
        assert_int_equal(schema_view_types(&r.rules, r.rules.root, &r.work), rows[i].types);
        end(&r);
    }
}

#define KIND(name, values)                                                                     \
    "{'properties':{'" name "':" values "},'required':['" name "'],'type':'object'}"

/* {"oneOf":[…]}: how many branches the view has, and for which types they overlap. */
static void branches_of_oneof_overlap_unless_they_exclude_each_other(void **state)
{
    static const struct {
        const char *branches;
        size_t count;
        unsigned overlap;
    } rows[] = {
        { "{'type':'string'},{'type':'number'}", 0, 0 },
        { "{'type':'string'},{'type':['number','string']}", 2, JSON_SCHEMA_STRING },
        { "{'type':'integer'},{'type':'number'}", 2, JSON_SCHEMA_INTEGER },
        { "{'const':1},{'const':'a'},{'const':2}", 0, 0 },
        { "{'const':1},{'const':'a'},{'const':1.0}", 3, JSON_SCHEMA_INTEGER },
        { "{'enum':[1,2]},{'enum':[3]}", 2, 0 },
        { "{'enum':[1,2]},{'const':2}", 2, JSON_SCHEMA_INTEGER },
        { "{'enum':[1,2]},{'type':'integer'}", 2, JSON_SCHEMA_INTEGER },
        { "{'type':'string','minLength':1},{'type':'null'},{'type':['number','null']}", 2, 0 },
        { KIND("k", "{'const':1}") "," KIND("k", "{'enum':[2,3]}"), 2, 0 },
        { KIND("k", "{'const':1}") "," KIND("k", "{'enum':[2,1]}"), 2, JSON_SCHEMA_OBJECT },
        { KIND("k", "{'const':1}") "," KIND("l", "{'const':2}"), 2, JSON_SCHEMA_OBJECT },
        { KIND("k", "{'const':1}") ",{'type':'object','properties':{'k':{'const':2}}}", 2, 0 },
        { "{'type':'object','properties':{'k':{'const':1}}},"
          "{'type':'object','properties':{'k':{'const':2}}}",
          2, JSON_SCHEMA_OBJECT },
        { "{'oneOf':[" KIND("k", "{'const':1}") "," KIND("k",
                                                         "{'const':2}") "]},"
                                                                        "{'type':'string'}",
          3, 0 },
        { "{'anyOf':[{'minLength':1,'type':'string'},{'type':'string'}]},{'type':'number'}", 2,
          0 },
        { "{'$ref':'#/$defs/u'},{'$ref':'#/$defs/u'}", 2,
          JSON_SCHEMA_STRING | JSON_SCHEMA_BOOLEAN },
    };
    struct arena a = { 0 };
    struct rig r;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        view_schema(&r, arena_printf(&a,
                                     "{'oneOf':[%s],'$defs':{'u':{'anyOf':[{'type':'string'},"
                                     "{'type':'boolean'}]}}}",
                                     rows[i].branches)
                            .at);
        assert_int_equal(r.view.branch_count, rows[i].count);
        assert_int_equal(r.view.overlap, rows[i].overlap);
        end(&r);
    }
    arena_release(&a);
}

/* Each property of a branch is looked for in the other one. */
static void names_of_branches_of_oneof_count_as_work(void **state)
{
    struct buf text;
    struct rig r;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_add(&text, STR("{'oneOf':[{'$ref':'#/$defs/a','title':'1'},{'$ref':'#/$defs/a'}],"
                       "'$defs':{'a':{'type':'object','required':["));
    for (int i = 0; i < 500; i++)
        buf_printf(&text, "%s'r%d'", i ? "," : "", i);
    buf_add(&text, STR("],'properties':{"));
    for (int i = 0; i < 500; i++)
        buf_printf(&text, "%s'p%d':{'const':%d}", i ? "," : "", i, i);
    buf_add(&text, STR("}}}}"));
    view_schema(&r, buf_z(&text));
    assert_int_equal(r.view.overlap, JSON_SCHEMA_OBJECT);
    assert_true(r.work >= 500 * (500 + 2 * 500));
    end(&r);
    buf_release(&text);
}

/* More branches than are compared with each other exclude each other only as constants. */
static void many_constants_of_oneof_are_an_enum(void **state)
{
    struct buf text;
    struct rig r;

    (void)state;
    buf_init(&text, 1 << 20);
    for (int repeated = 0; repeated <= 1; repeated++) {
        buf_clear(&text);
        buf_add(&text, STR("{'oneOf':["));
        for (int i = 0; i < 2000; i++)
            buf_printf(&text, "{'const':%d,'title':'t'},", i);
        buf_printf(&text, "{'const':%d}]}", repeated ? 1000 : 2000);
        view_schema(&r, buf_z(&text));
        assert_int_equal(r.view.has_values, !repeated);
        assert_int_equal(r.view.overlap, repeated ? JSON_SCHEMA_INTEGER : 0);
        end(&r);
    }
    buf_release(&text);
}

static void a_value_of_another_type_does_not_count(void **state)
{
    struct rig r;

    (void)state;
    view_schema(&r, "{'enum':['a',1],'type':'string'}");
    assert_int_equal(r.view.value_count, 1);
    assert_false(schema_view_is_plain(&r.view));
    end(&r);
    view_schema(&r, "{'type':['string','integer'],'title':'t'}");
    assert_true(schema_view_is_plain(&r.view));
    end(&r);
    view_schema(&r,
                "{'anyOf':[{'type':'string'},{'type':'array','items':{}},{'type':'null'}]}");
    assert_int_equal(schema_view_plain_types(&r.view), JSON_SCHEMA_STRING);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_spellings_of_nullable_are_one),
        cmocka_unit_test(values_of_const_enum_and_constants_are_one),
        cmocka_unit_test(a_union_of_plain_types_is_a_set),
        cmocka_unit_test(a_ref_to_itself_or_elsewhere_ends),
        cmocka_unit_test(own_keywords_come_before_those_of_a_ref),
        cmocka_unit_test(true_accepts_everything_and_false_nothing),
        cmocka_unit_test(a_union_in_a_union_has_its_branches_there),
        cmocka_unit_test(many_ways_to_a_union_add_its_branches_once),
        cmocka_unit_test(values_and_subschemas_count_as_work),
        cmocka_unit_test(without_work_that_is_left_nothing_is_searched),
        cmocka_unit_test(more_unions_than_a_view_has_room_for_are_left_out),
        cmocka_unit_test(keywords_of_allof_join_unless_they_collide),
        cmocka_unit_test(types_follow_every_keyword_that_excludes_some),
        cmocka_unit_test(branches_of_oneof_overlap_unless_they_exclude_each_other),
        cmocka_unit_test(names_of_branches_of_oneof_count_as_work),
        cmocka_unit_test(many_constants_of_oneof_are_an_enum),
        cmocka_unit_test(a_value_of_another_type_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "mcp/params-hash.h"

#include "terse.h"
#include "test.h"

static const struct params_rules plain = { .detect_volatile = true };
static const struct params_mask nothing = { NULL, 0 };

/* A letter for each leaf: plain, volatile, redacted. */
static void check(const char *params, const char *want)
{
    static const char letters[] = "pvr";
    size_t seen[3] = { 0 };
    struct terse_scanned s;
    struct params_leaves l;
    char got[64] = "";

    params_leaves_init(&l);
    params_leaves_read(&l, terse_scan(&s, params), &plain, nothing);
    for (size_t i = 0; i < l.count; i++)
        seen[l.at[i].kind]++;
    for (size_t k = 0; k < 3; k++)
        for (size_t n = 0; n < seen[k]; n++)
            got[strlen(got)] = letters[k];
    assert_string_equal(got, want);
    params_leaves_release(&l);
    terse_scanned_release(&s);
}

static void a_leaf_is_a_value_without_children(void **state)
{
    (void)state;
    check("{}", "");
    check("{'a':1,'b':{'c':[true,null,'x']},'d':{},'e':[]}", "pppppp");
    check("[1,2]", "pp");
    check("7", "p");
}

static void uncompared_values_have_no_leaf(void **state)
{
    (void)state;
    check("{'_meta':{'a':1}}", "");
    check("{'name':'t','arguments':{}}", "p");
    check("{'arguments':{'arguments':{}}}", "p");
    check("{'a':{'_meta':1}}", "p");
    check("{'a':1,'a':[1,2,3]}", "ppp");
}

static void value_kinds_are_detected_by_value_and_name(void **state)
{
    (void)state;
    check("{'t':'2025-02-04T10:00:00Z','n':1738663200,'requestId':5,'x':'y'}", "pvvv");
    check("{'nonce':{'deep':[1,2]}}", "vv");
    check("{'a':'[REDACTED:X]','b':'see [REDACTED]'}", "rr");
}

static void responses_to_input_requests_are_hashed_by_name(void **state)
{
    (void)state;
    check("{'inputResponses':{'k':{'a':1,'b':2},'l':{}}}", "pp");
    check("{'inputResponses':{}}", "p");
}

static uint64_t key_of(const char *params, const struct params_rules *rules,
                       struct params_mask mask)
{
    struct terse_scanned s;
    struct params_leaves l;
    uint64_t key;

    params_leaves_init(&l);
    params_leaves_read(&l, terse_scan(&s, params), rules, mask);
    key = params_leaves_hash(&l);
    params_leaves_release(&l);
    terse_scanned_release(&s);
    return key;
}

static void a_key_does_not_depend_on_order_or_spelling(void **state)
{
    static const struct params_rules text = { .numbers_as_text = true };

    (void)state;
    assert_int_equal(key_of("{'a':1,'b':'x'}", &plain, nothing),
                     key_of("{'b':'`u0078','a':10e-1}", &plain, nothing));
    assert_int_not_equal(key_of("{'a':1}", &text, nothing),
                         key_of("{'a':1.0}", &text, nothing));
    assert_int_not_equal(key_of("{'a':[1,2]}", &plain, nothing),
                         key_of("{'a':[2,1]}", &plain, nothing));
    assert_int_not_equal(key_of("{'a':{'b':1}}", &plain, nothing),
                         key_of("{'b':{'a':1}}", &plain, nothing));
    assert_int_not_equal(key_of("{'a':['x']}", &plain, nothing),
                         key_of("{'a':{'0':'x'}}", &plain, nothing));
}

static void redacted_and_masked_values_do_not_change_the_key(void **state)
{
    struct json_step way[] = { { .name = STR("a") } };
    uint64_t path = params_path_hash((struct json_location){ way, 1 });
    struct params_mask mask = { &path, 1 };

    (void)state;
    assert_int_equal(key_of("{'a':'[REDACTED]','b':1}", &plain, nothing),
                     key_of("{'b':1}", &plain, nothing));
    assert_int_equal(key_of("{'a':{'x':[1,2]},'b':1}", &plain, mask),
                     key_of("{'a':'other','b':1}", &plain, mask));
}

static void pointers_are_resolved_to_paths(void **state)
{
    static const struct {
        const char *pointer;
        bool leads;
    } rows[] = {
        { "/params/arguments/a~1b", true },
        { "/params/arguments/list/1", true },
        { "/params/arguments/~0", true },
        { "/params/arguments/none", false },
        { "/params/arguments/list/7", false },
        { "/id", false },
        { "/result/a", false },
        { "", false },
    };
    struct json_step way[] = { { .name = STR("arguments") }, { .name = STR("a/b") } };
    struct json_step item[] = { { .name = STR("arguments") },
                                { .name = STR("list") },
                                { .is_index = true, .index = 1 } };
    struct terse_scanned s;
    struct json_val message =
        terse_scan(&s, "{'id':1,'params':{'arguments':{'a/b':1,'~':2,'list':[1,2]}}}");
    uint64_t path;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (params_pointer_hash(message, str_z(rows[i].pointer), &path) != rows[i].leads)
            fail_msg("%s", rows[i].pointer);
    assert_true(params_pointer_hash(message, STR("/params/arguments/a~1b"), &path));
    assert_int_equal(path, params_path_hash((struct json_location){ way, 2 }));
    assert_true(params_pointer_hash(message, STR("/params/arguments/list/1"), &path));
    assert_int_equal(path, params_path_hash((struct json_location){ item, 3 }));
    terse_scanned_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leaf_is_a_value_without_children),
        cmocka_unit_test(uncompared_values_have_no_leaf),
        cmocka_unit_test(value_kinds_are_detected_by_value_and_name),
        cmocka_unit_test(responses_to_input_requests_are_hashed_by_name),
        cmocka_unit_test(a_key_does_not_depend_on_order_or_spelling),
        cmocka_unit_test(redacted_and_masked_values_do_not_change_the_key),
        cmocka_unit_test(pointers_are_resolved_to_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

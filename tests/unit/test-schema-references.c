#include "diff/schema-references.h"

#include "terse.h"
#include "test.h"

/* Compares what the member "not" of two schemas refers to. */
static bool compare(const char *before, const char *after)
{
    struct terse_scanned t[2];
    struct json_val roots[2] = { terse_scan(&t[0], before), terse_scan(&t[1], after) };
    struct json_schema_rules rules[2];
    uint64_t work = 0;
    bool result;

    for (int i = 0; i < 2; i++)
        json_schema_rules_init(&rules[i], roots[i]);
    result = schema_references_differ(rules, json_get(roots[0], STR("not")),
                                      json_get(roots[1], STR("not")), &work);
    assert_true(work > 0);
    for (int i = 0; i < 2; i++) {
        json_schema_rules_release(&rules[i]);
        terse_scanned_release(&t[i]);
    }
    return result;
}

#define SCHEMA(not, defs) "{'not':" not ",'$defs':{" defs "}}"
#define REF(name) "{'$ref':'#/$defs/" name "'}"

static void a_definition_takes_part_if_it_is_referred_to(void **state)
{
    const char *a = SCHEMA(REF("a"), "'a':{'type':'string'},'b':{'type':'string'}");

    (void)state;
    assert_false(compare(a, a));
    assert_true(compare(a, SCHEMA(REF("a"), "'a':{'type':'null'},'b':{'type':'string'}")));
    assert_false(compare(a, SCHEMA(REF("a"), "'b':{'type':'null'},'a':{'type':'string'}")));
}

static void definitions_are_followed(void **state)
{
    (void)state;
    assert_true(compare(SCHEMA("{'a':[" REF("a") "]}", "'a':{'x':" REF("b") "},'b':1"),
                        SCHEMA("{'a':[" REF("a") "]}", "'a':{'x':" REF("b") "},'b':2")));
    assert_false(compare(SCHEMA(REF("a"), "'a':" REF("a")), SCHEMA(REF("a"), "'a':" REF("a"))));
    /* definitions that changed their names */
    assert_true(compare(SCHEMA("[" REF("a") "," REF("b") "]", "'a':1,'b':2"),
                        SCHEMA("[" REF("a") "," REF("b") "]", "'a':2,'b':1")));
}

static void an_unknown_target_may_be_any_definition(void **state)
{
    (void)state;
    assert_true(compare(SCHEMA("{'$ref':'#x'}", "'a':1"), SCHEMA("{'$ref':'#x'}", "'a':2")));
    assert_true(compare(SCHEMA("{'$dynamicRef':'#x'}", "'a':1"),
                        SCHEMA("{'$dynamicRef':'#x'}", "'a':2")));
    assert_false(compare(SCHEMA("{'$ref':'#x'}", "'a':1"), SCHEMA("{'$ref':'#x'}", "'a':1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition_takes_part_if_it_is_referred_to),
        cmocka_unit_test(definitions_are_followed),
        cmocka_unit_test(an_unknown_target_may_be_any_definition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"
#include "json/splice.h"

static struct json doc;
static struct json_splice splice;

static struct json_val given(const char *text)
{
    struct json_fault fault;

    assert_true(json_scan(&doc, str_z(text), &fault));
    json_splice_init(&splice, json_root(&doc));
    return json_root(&doc);
}

static void expect(const char *want)
{
    struct buf b;

    buf_init(&b, 10000);
    json_splice_apply(&splice, &b);
    assert_str(buf_str(&b), str_z(want));
    buf_release(&b);
}

static void without_changes_the_bytes_are_the_same(void **state)
{
    (void)state;
    given(" {\"a\" : 1.0,\t\"a\":\"\\u0041\" } ");
    expect("{\"a\" : 1.0,\t\"a\":\"\\u0041\" }");
}

static void a_replaced_value_keeps_all_other_bytes(void **state)
{
    struct json_val root;

    (void)state;
    root = given("{ \"id\" : 1 , \"x\":[1e5, {\"y\":null}]}");
    json_splice_replace(&splice, json_get(root, STR("id")), STR("\"abc\""));
    json_splice_replace(&splice, json_get(json_item(json_get(root, STR("x")), 1), STR("y")),
                        STR("{}"));
    json_splice_replace(&splice, json_get(root, STR("none")), STR("9"));
    expect("{ \"id\" : \"abc\" , \"x\":[1e5, {\"y\":{}}]}");
}

static void changes_may_come_in_any_order(void **state)
{
    struct json_val root;

    (void)state;
    root = given("[1,2,3]");
    json_splice_replace(&splice, json_item(root, 2), STR("c"));
    json_splice_replace(&splice, json_item(root, 0), STR("a"));
    json_splice_replace(&splice, json_item(root, 1), STR("b"));
    expect("[a,b,c]");
}

static void the_last_of_duplicate_members_is_set(void **state)
{
    struct json_val root;

    (void)state;
    root = given("{\"a\":1,\"\\u0061\":2,\"b\":3}");
    json_splice_set(&splice, root, STR("a"), STR("9"));
    expect("{\"a\":1,\"\\u0061\":9,\"b\":3}");
}

static void new_members_are_added_at_the_end(void **state)
{
    struct json_val root;

    (void)state;
    root = given("{\n  \"a\": {},\n  \"b\": { \"c\": 1 }\n}");
    json_splice_set(&splice, root, STR("x\n"), STR("1"));
    json_splice_set(&splice, json_get(root, STR("b")), STR("d"), STR("2"));
    json_splice_set(&splice, json_get(root, STR("a")), STR("p"), STR("3"));
    json_splice_set(&splice, json_get(root, STR("a")), STR("q"), STR("4"));
    json_splice_set(&splice, root, STR(""), STR("5"));
    expect(
        "{\n  \"a\": {\"p\":3,\"q\":4},\n  \"b\": { \"c\": 1,\"d\":2 },\"x\\n\":1,\"\":5\n}");
}

static void a_member_can_follow_one_that_is_replaced(void **state)
{
    struct json_val root;

    (void)state;
    root = given("{\"a\":1}");
    json_splice_set(&splice, root, STR("b"), STR("2"));
    json_splice_set(&splice, root, STR("a"), STR("9"));
    expect("{\"a\":9,\"b\":2}");
}

static void a_part_of_a_text_can_be_the_root(void **state)
{
    struct json_val part;

    (void)state;
    part = json_get(given("{\"msg\":{\"id\":1},\"t\":0}"), STR("msg"));
    json_splice_init(&splice, part);
    json_splice_set(&splice, part, STR("id"), STR("2"));
    expect("{\"id\":2}");
}

static void a_value_that_is_not_an_object_gets_no_member(void **state)
{
    struct json_val root;

    (void)state;
    root = given("[1]");
    json_splice_set(&splice, root, STR("a"), STR("1"));
    json_splice_set(&splice, JSON_VAL_NONE, STR("a"), STR("1"));
    expect("[1]");
}

static int release(void **state)
{
    (void)state;
    json_release(&doc);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_changes_the_bytes_are_the_same),
        cmocka_unit_test(a_replaced_value_keeps_all_other_bytes),
        cmocka_unit_test(changes_may_come_in_any_order),
        cmocka_unit_test(the_last_of_duplicate_members_is_set),
        cmocka_unit_test(new_members_are_added_at_the_end),
        cmocka_unit_test(a_member_can_follow_one_that_is_replaced),
        cmocka_unit_test(a_part_of_a_text_can_be_the_root),
        cmocka_unit_test(a_value_that_is_not_an_object_gets_no_member),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}

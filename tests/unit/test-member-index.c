#include "json/member-index.h"

#include "base/buf.h"
#include "test.h"

static struct json doc;
static struct json_member_index stack;

static struct json_val given(struct str text)
{
    struct json_fault fault;

    assert_true(json_scan(&doc, text, &fault));
    return json_root(&doc);
}

static struct str found(struct json_member_list list, struct str name)
{
    return json_raw(json_member_index_find(&stack, list, name, json_member_hash(name)));
}

static void a_member_is_found_in_any_spelling_of_its_name(void **state)
{
    struct json_member_list list;

    (void)state;
    list = json_member_index_add(&stack, given(STR("{\"b\":1,\"\\u0061\":2,\"\":3}")), NULL, 0);
    assert_int_equal(list.count, 3);
    assert_str(found(list, STR("a")), STR("2"));
    assert_str(found(list, STR("b")), STR("1"));
    assert_str(found(list, STR("")), STR("3"));
    assert_str(found(list, STR("c")), STR_NONE);
    json_member_index_drop(&stack, list);
}

static void the_last_of_duplicate_members_is_kept(void **state)
{
    struct json_member_list list;

    (void)state;
    list = json_member_index_add(&stack, given(STR("{\"a\":1,\"b\":0,\"a\":2,\"\\u0061\":3}")),
                                 NULL, 0);
    assert_int_equal(list.count, 2);
    assert_str(found(list, STR("a")), STR("3"));
    json_member_index_drop(&stack, list);
}

static void skipped_names_are_not_indexed(void **state)
{
    const struct str skip[] = { STR("a"), STR("c") };
    struct json_member_list list;

    (void)state;
    list =
        json_member_index_add(&stack, given(STR("{\"\\u0061\":1,\"b\":2,\"c\":3}")), skip, 2);
    assert_int_equal(list.count, 1);
    assert_str(found(list, STR("b")), STR("2"));
    assert_str(found(list, STR("a")), STR_NONE);
    json_member_index_drop(&stack, list);
}

static void an_index_stays_valid_while_another_is_used(void **state)
{
    struct json_val root;
    struct json_member_list outer, inner;

    (void)state;
    root = given(STR("{\"x\":{\"p\":1,\"q\":2},\"y\":0}"));
    outer = json_member_index_add(&stack, root, NULL, 0);
    inner = json_member_index_add(&stack, json_get(root, STR("x")), NULL, 0);
    assert_str(found(inner, STR("q")), STR("2"));
    assert_str(found(outer, STR("q")), STR_NONE);
    json_member_index_drop(&stack, inner);
    assert_str(found(outer, STR("y")), STR("0"));
    json_member_index_drop(&stack, outer);
    assert_int_equal(stack.count, 0);
}

static void many_members_and_duplicates_are_indexed(void **state)
{
    struct json_member_list list;
    struct buf b;

    (void)state;
    buf_init(&b, 16 << 20);
    buf_add_ch(&b, '{');
    for (int i = 0; i < 200000; i++)
        buf_printf(&b, "\"k%d\":%d,", i % 50000, i);
    buf_add(&b, STR("\"\":0}"));
    list = json_member_index_add(&stack, given(buf_str(&b)), NULL, 0);
    assert_int_equal(list.count, 50001);
    assert_str(found(list, STR("k0")), STR("150000"));
    assert_str(found(list, STR("k49999")), STR("199999"));
    json_member_index_drop(&stack, list);
    buf_release(&b);
}

static int release(void **state)
{
    (void)state;
    json_member_index_release(&stack);
    json_release(&doc);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_found_in_any_spelling_of_its_name),
        cmocka_unit_test(the_last_of_duplicate_members_is_kept),
        cmocka_unit_test(skipped_names_are_not_indexed),
        cmocka_unit_test(an_index_stays_valid_while_another_is_used),
        cmocka_unit_test(many_members_and_duplicates_are_indexed),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}

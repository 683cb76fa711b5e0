#include "test.h"
#include "json/json.h"

static struct json doc;
static struct arena arena;

static struct json_val given(const char *text)
{
    struct json_fault fault;

    assert_true(json_scan(&doc, str_z(text), &fault));
    return json_root(&doc);
}

static void accessors_accept_the_absent_value(void **state)
{
    struct json_val none = JSON_VAL_NONE;
    struct json_iter it = json_each(none);
    struct json fresh;
    int64_t n = 5;

    (void)state;
    assert_false(json_exists(none));
    assert_int_equal(json_type(none), JSON_ABSENT);
    assert_int_equal(json_raw(none).len, 0);
    assert_int_equal(json_offset(none), 0);
    assert_int_equal(json_count(none), 0);
    assert_false(json_exists(json_get(none, STR("a"))));
    assert_false(json_exists(json_item(none, 0)));
    assert_int_equal(json_occurrences(none, STR("a")), 0);
    assert_false(json_next(&it));
    assert_int_equal(json_unquoted(none).len, 0);
    assert_false(json_has_escapes(none));
    assert_int_equal(json_text(none, &arena).len, 0);
    assert_false(json_is(none, STR("")));
    assert_false(json_int(none, &n));
    assert_int_equal(n, 5);
    json_init(&fresh);
    assert_false(json_exists(json_root(&fresh)));
}

static void raw_bytes_and_offsets_are_those_of_the_text(void **state)
{
    struct json_val root, a;

    (void)state;
    root = given("  { \"a\" : [ 1.50 , {} , \"x\" ] , \"b\":null}\n");
    assert_str(json_raw(root), STR("{ \"a\" : [ 1.50 , {} , \"x\" ] , \"b\":null}"));
    assert_int_equal(json_offset(root), 2);
    assert_int_equal(json_count(root), 2);
    a = json_get(root, STR("a"));
    assert_int_equal(json_type(a), JSON_ARRAY);
    assert_int_equal(json_offset(a), 10);
    assert_int_equal(json_count(a), 3);
    assert_str(json_raw(json_item(a, 0)), STR("1.50"));
    assert_str(json_raw(json_item(a, 1)), STR("{}"));
    assert_int_equal(json_count(json_item(a, 1)), 0);
    assert_str(json_raw(json_item(a, 2)), STR("\"x\""));
    assert_int_equal(json_count(json_item(a, 2)), 0);
    assert_false(json_exists(json_item(a, 3)));
    assert_false(json_exists(json_item(root, 0)));
    assert_int_equal(json_type(json_get(root, STR("b"))), JSON_NULL);
}

static void every_type_is_returned(void **state)
{
    static const enum json_type types[] = { JSON_NULL,   JSON_FALSE, JSON_TRUE,  JSON_NUMBER,
                                            JSON_STRING, JSON_ARRAY, JSON_OBJECT };
    struct json_iter it;
    size_t i = 0;

    (void)state;
    it = json_each(given("[null,false,true,-1,\"\",[],{}]"));
    while (json_next(&it)) {
        assert_int_equal(json_type(it.value), types[i++]);
        assert_false(json_exists(it.key));
    }
    assert_int_equal(i, 7);
}

static void members_come_in_order_with_their_duplicates(void **state)
{
    static const char *const keys[] = { "\"b\"", "\"a\"", "\"\\u0062\"", "\"\"" };
    static const char *const values[] = { "[1,[2]]", "{\"b\":0}", "3", "4" };
    struct json_val root;
    struct json_iter it;
    size_t i = 0;

    (void)state;
    root = given("{\"b\":[1,[2]],\"a\":{\"b\":0},\"\\u0062\":3,\"\":4}");
    it = json_each(root);
    for (; json_next(&it); i++) {
        assert_str(json_raw(it.key), str_z(keys[i]));
        assert_str(json_raw(it.value), str_z(values[i]));
    }
    assert_int_equal(i, 4);
    assert_int_equal(json_count(root), 4);
    assert_str(json_raw(json_get(root, STR("b"))), STR("3"));
    assert_int_equal(json_occurrences(root, STR("b")), 2);
    assert_int_equal(json_occurrences(root, STR("a")), 1);
    assert_int_equal(json_occurrences(root, STR("c")), 0);
    assert_str(json_raw(json_get(root, STR(""))), STR("4"));
    assert_false(json_exists(json_get(json_get(root, STR("b")), STR("x"))));
}

static void counts_are_right_in_nested_values(void **state)
{
    struct json_val root;

    (void)state;
    root = given("[1,[2,3,[4],[[]]],{\"a\":[],\"b\":{\"c\":1}},5]");
    assert_int_equal(json_count(root), 4);
    assert_int_equal(json_count(json_item(root, 1)), 4);
    assert_int_equal(json_count(json_item(json_item(root, 1), 3)), 1);
    assert_int_equal(json_count(json_item(root, 2)), 2);
    assert_int_equal(json_count(json_get(json_item(root, 2), STR("b"))), 1);
}

static void strings_are_decoded(void **state)
{
    static const struct {
        const char *json;
        struct str text;
        bool escapes;
    } rows[] = {
        { "\"\"", { "", 0 }, false },
        { "\"plain \xC3\xA9\"", STR("plain \xC3\xA9"), false },
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", STR("\"\\/\b\f\n\r\t"), true },
        { "\"a\\u0000b\"", STR("a\0b"), true },
        { "\"\\u00e9\\u00E9 \\u20aC\"", STR("\xC3\xA9\xC3\xA9 \xE2\x82\xAC"), true },
        { "\"\\ud83d\\ude80\"", STR("\xF0\x9F\x9A\x80"), true },
        { "\"\\uD800\\uDC00\\udbff\\udfff\"", STR("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"), true },
        { "\"\\ud83d\"", STR("\xED\xA0\xBD"), true },
        { "\"\\ud83dx\\ude80\"", STR("\xED\xA0\xBDx\xED\xBA\x80"), true },
        { "\"\\ud83d\\n\"", STR("\xED\xA0\xBD\n"), true },
        { "\"\\ude80\\ude80\"", STR("\xED\xBA\x80\xED\xBA\x80"), true },
        { "\"\\ude80\\ud83d\"", STR("\xED\xBA\x80\xED\xA0\xBD"), true },
        { "\"\\ud83d\\ud83d\\ude80\"", STR("\xED\xA0\xBD\xF0\x9F\x9A\x80"), true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json_val v = given(rows[i].json);
        assert_str(json_text(v, &arena), rows[i].text);
        assert_int_equal(json_has_escapes(v), rows[i].escapes);
        assert_true(json_is(v, rows[i].text));
        assert_false(json_is(v, STR("other")));
        if (rows[i].text.len)
            assert_false(json_is(v, str_n(rows[i].text.at, rows[i].text.len - 1)));
    }
    assert_false(json_is(given("\"\\u0061\""), STR("ab")));
    assert_false(json_is(given("\"\\u0061b\""), STR("ac")));
    assert_false(json_is(given("5"), STR("5")));
    assert_int_equal(json_unquoted(given("[\"x\"]")).len, 0);
}

static void escapes_are_noticed_at_any_position(void **state)
{
    char text[300];

    (void)state;
    for (size_t at = 0; at < 200; at++) {
        struct json_fault fault;
        memset(text, 'x', sizeof text);
        text[0] = text[299] = '"';
        memcpy(text + 1 + at, "\\n", 2);
        assert_true(json_scan(&doc, str_n(text, sizeof text), &fault));
        assert_true(json_has_escapes(json_root(&doc)));
        memcpy(text + 1 + at, "\"\\", 2); /* after the end of the string: none of its own */
        assert_true(json_scan_first(&doc, str_n(text, sizeof text), &(size_t){ 0 }, &fault));
        assert_false(json_has_escapes(json_root(&doc)));
    }
}

static void integers_are_read_and_other_numbers_rejected(void **state)
{
    int64_t n;

    (void)state;
    assert_true(json_int(given("-12.0"), &n));
    assert_int_equal(n, -12);
    assert_false(json_int(given("1.5"), &n));
    assert_false(json_int(given("\"1\""), &n));
    assert_false(json_int(given("true"), &n));
}

static int release(void **state)
{
    (void)state;
    json_release(&doc);
    arena_release(&arena);
    return 0;
}

static void a_value_contains_its_inner_values(void **state)
{
    struct json_val root = given("[{\"a\":[1]},2]");
    struct json_val first = json_item(root, 0), one = json_item(json_get(first, STR("a")), 0);
    struct json other;
    struct json_fault fault;

    (void)state;
    json_init(&other);
    assert_true(json_scan(&other, STR("[]"), &fault));
    assert_true(json_contains(root, root) && json_contains(root, one));
    assert_true(json_contains(first, one));
    assert_false(json_contains(one, first) || json_contains(first, json_item(root, 1)));
    assert_false(json_contains(root, json_root(&other)));
    assert_false(json_contains(root, JSON_VAL_NONE) || json_contains(JSON_VAL_NONE, root));
    json_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accessors_accept_the_absent_value),
        cmocka_unit_test(raw_bytes_and_offsets_are_those_of_the_text),
        cmocka_unit_test(every_type_is_returned),
        cmocka_unit_test(a_value_contains_its_inner_values),
        cmocka_unit_test(members_come_in_order_with_their_duplicates),
        cmocka_unit_test(counts_are_right_in_nested_values),
        cmocka_unit_test(strings_are_decoded),
        cmocka_unit_test(escapes_are_noticed_at_any_position),
        cmocka_unit_test(integers_are_read_and_other_numbers_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}

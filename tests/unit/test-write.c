#include "test.h"
#include "json/write.h"

static void commas_are_written_between_values(void **state)
{
    struct buf b;
    struct json_out o;

    (void)state;
    buf_init(&b, 1000);
    o = json_out_to(&b);
    json_out_object(&o);
    json_out_key_str(&o, STR("a"), STR("x"));
    json_out_key_int(&o, STR("b"), INT64_MIN);
    json_out_key_bool(&o, STR("c"), true);
    json_out_key(&o, STR("d"));
    json_out_array(&o);
    json_out_array(&o);
    json_out_end_array(&o);
    json_out_null(&o);
    json_out_bool(&o, false);
    json_out_object(&o);
    json_out_end_object(&o);
    json_out_int(&o, 7);
    json_out_end_array(&o);
    json_out_key_raw(&o, STR("e"), STR("[1.0]"));
    json_out_key_str_or_null(&o, STR("f"), STR("y"));
    json_out_key_str_or_null(&o, STR("g"), STR_NONE);
    json_out_end_object(&o);
    assert_str(buf_str(&b),
               STR("{\"a\":\"x\",\"b\":-9223372036854775808,\"c\":true,"
                   "\"d\":[[],null,false,{},7],\"e\":[1.0],\"f\":\"y\",\"g\":null}"));
    buf_release(&b);
}

static void strings_are_escaped_where_needed(void **state)
{
    static const struct {
        struct str text, json;
    } rows[] = {
        { { "", 0 }, { "\"\"", 2 } },
        { STR("plain ASCII / ~"), STR("\"plain ASCII / ~\"") },
        { STR("\"\\\b\f\n\r\t"), STR("\"\\\"\\\\\\b\\f\\n\\r\\t\"") },
        { STR("\0\x01\x1f\x7f"), STR("\"\\u0000\\u0001\\u001f\\u007f\"") },
        { STR("caf\xC3\xA9 \xF0\x9F\x9A\x80"), STR("\"caf\xC3\xA9 \xF0\x9F\x9A\x80\"") },
        { STR("\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA"), STR("\"\\u2028\\u2029\xE2\x80\xAA\"") },
        { STR("\xED\xA0\x80|\xED\xA0\xBD|\xED\xBF\xBF"), STR("\"\\ud800|\\ud83d|\\udfff\"") },
        { STR("\xED\x9F\xBF"), STR("\"\xED\x9F\xBF\"") },
        { STR("\xFF\xC3"), STR("\"\xEF\xBF\xBD\xEF\xBF\xBD\"") },
        { STR("\xED\xA0"), STR("\"\xEF\xBF\xBD\xEF\xBF\xBD\"") },
    };
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_clear(&b);
        json_write_str(&b, rows[i].text);
        assert_str(buf_str(&b), rows[i].json);
    }
    buf_release(&b);
}

static void a_string_in_an_arena_is_complete(void **state)
{
    struct arena a = { 0 };
    char control[1000];
    struct str json;

    (void)state;
    memset(control, 1, sizeof control);
    json = json_write_str_in(&a, str_n(control, sizeof control));
    assert_int_equal(json.len, sizeof control * 6 + 2);
    assert_str(json_write_str_in(&a, STR("a\"b")), STR("\"a\\\"b\""));
    arena_release(&a);
}

static void the_limit_of_the_buffer_is_detected(void **state)
{
    struct err e = ERR_NONE;
    struct buf b;

    (void)state;
    buf_init(&b, 5);
    json_write_str(&b, STR("abc"));
    assert_true(buf_ok(&b, &e));
    json_write_str(&b, STR(""));
    assert_false(buf_ok(&b, &e));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_are_written_between_values),
        cmocka_unit_test(strings_are_escaped_where_needed),
        cmocka_unit_test(a_string_in_an_arena_is_complete),
        cmocka_unit_test(the_limit_of_the_buffer_is_detected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

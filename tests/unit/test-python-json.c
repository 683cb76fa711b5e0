#include "format/python-json.h"
#include "test.h"
#include "json/json.h"

/* Each `want` is what Python 3.11 printed for json.dumps(json.loads(json), indent=2,
 * ensure_ascii=False). */
static const struct {
    const char *json, *want;
} as_python[] = {
    { "null", "null" },
    { " -12.5 ", "-12.5" },
    { "\"a\"", "\"a\"" },
    { "{}", "{}" },
    { "{ \n }", "{}" },
    { "[\t]", "[]" },
    { "[1,2 , true]", "[\n  1,\n  2,\n  true\n]" },
    { "{\"a\":1,\"b\":[]}", "{\n  \"a\": 1,\n  \"b\": []\n}" },
    { "{\"a\":{\"b\":[{}, {\"c\":null}]},\"d\":\"\"}",
      "{\n  \"a\": {\n    \"b\": [\n      {},\n      {\n        \"c\": null\n      }\n    ]\n"
      "  },\n  \"d\": \"\"\n}" },
    { "{\"{[,:]}\":\"{[,:]}\"}", "{\n  \"{[,:]}\": \"{[,:]}\"\n}" },
    /* The shortest escape, and none that is not needed. */
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
    { "\"\\u0022\\u005c\\u002F\\u0008\\u000C\\u000a\\u000D\\u0009\"",
      "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
    { "\"\\u0000\\u001F\\u0020\\u007f\"", "\"\\u0000\\u001f \x7f\"" },
    { "\"\\u00e9 \\u20AC \\u2028 \\ud83d\\ude00\"", "\"é € \xe2\x80\xa8 😀\"" },
    { "\"é € \xe2\x80\xa8 😀\"", "\"é € \xe2\x80\xa8 😀\"" },
    { "{\"\\u0061\":\"\\\\u0061\"}", "{\n  \"a\": \"\\\\u0061\"\n}" },
};

static void values_are_formatted_as_by_python(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof as_python / sizeof as_python[0]; i++) {
        struct buf b;

        buf_init(&b, 4096);
        python_json_write(&b, str_z(as_python[i].json), 0);
        assert_str(buf_str(&b), str_z(as_python[i].want));
        buf_release(&b);
    }
}

static void a_level_moves_all_but_the_first_line(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    python_json_write(&b, STR("{\"a\":[1]}"), 3);
    assert_str(buf_str(&b), STR("{\n        \"a\": [\n          1\n        ]\n      }"));
    buf_release(&b);
}

/* Python would write 100000.0, Infinity and one member; it cannot write the last. */
static void values_that_python_would_change_stay(void **state)
{
    static const struct {
        const char *json, *want;
    } cases[] = {
        { "[1e5,1E999,1.10,-0]", "[\n  1e5,\n  1E999,\n  1.10,\n  -0\n]" },
        { "{\"a\":1,\"a\":2}", "{\n  \"a\": 1,\n  \"a\": 2\n}" },
        { "\"\\uD83D x \\ude00\\ud83d\"", "\"\\ud83d x \\ude00\\ud83d\"" },
        { "\"\\ud83d\\u0041\"", "\"\\ud83dA\"" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b;

        buf_init(&b, 4096);
        python_json_write(&b, str_z(cases[i].json), 0);
        assert_str(buf_str(&b), str_z(cases[i].want));
        buf_release(&b);
    }
}

static void flattening_removes_only_blanks(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    python_json_write_compact(
        &b, STR(" { \"a b\\\" \" : [ 1.0 ,\r\n\ttrue , \"\\u0061\" , { } ] } "));
    assert_str(buf_str(&b), STR("{\"a b\\\" \":[1.0,true,\"\\u0061\",{}]}"));
    buf_release(&b);
}

static void flattened_and_formatted_again_a_text_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof as_python / sizeof as_python[0]; i++) {
        struct buf flat, back;

        buf_init(&flat, 4096);
        buf_init(&back, 4096);
        python_json_write_compact(&flat, str_z(as_python[i].want));
        python_json_write(&back, buf_str(&flat), 0);
        assert_str(buf_str(&back), str_z(as_python[i].want));
        buf_release(&flat);
        buf_release(&back);
    }
}

/* Each `want` is what Python 3.11 printed for json.dumps(json.loads(json)). */
static void ascii_is_written_as_python_does_it(void **state)
{
    static const struct {
        const char *json, *want;
    } cases[] = {
        { "null", "null" },
        { "true", "true" },
        { "-12", "-12" },
        { "-0", "0" },
        { "5.0", "5.0" },
        { "5.00", "5.0" },
        { "-0.0", "-0.0" },
        { "1E5", "100000.0" },
        { "1e15", "1000000000000000.0" },
        { "1e16", "1e+16" },
        { "123456789012345678", "123456789012345678" },
        { "1234567890123456.0", "1234567890123456.0" },
        { "12345678901234567.0", "1.2345678901234568e+16" },
        { "0.0001", "0.0001" },
        { "0.00001", "1e-05" },
        { "1.5e-7", "1.5e-07" },
        { "1e999", "Infinity" },
        { "-1e999", "-Infinity" },
        { "0.1", "0.1" },
        { "100.125", "100.125" },
        { "2.5e+20", "2.5e+20" },
        { "1e-324", "0.0" },
        { "5e-324", "5e-324" },
        { "1.7976931348623157e308", "1.7976931348623157e+308" },
        { "3.14159", "3.14159" },
        { "[ ]", "[]" },
        { "{\"a\":[1,2.50],\"b\":{}}", "{\"a\": [1, 2.5], \"b\": {}}" },
        { "\"\\u00e9 € \\ud83d\\ude00 😀 \\ud800 \\u007f \\/ \\\" \\\\ \\n\\t\\u0001\"",
          "\"\\u00e9 \\u20ac \\ud83d\\ude00 \\ud83d\\ude00 \\ud800 \\u007f / \\\" \\\\ "
          "\\n\\t\\u0001\"" },
        { "{\"ké\":null}", "{\"k\\u00e9\": null}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b;

        buf_init(&b, 4096);
        python_json_write_ascii(&b, str_z(cases[i].json));
        assert_str(buf_str(&b), str_z(cases[i].want));
        buf_release(&b);
    }
}

static void a_text_is_quoted_as_python_does_it(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    python_json_write_string(&b, STR("a\"\\/\n\x01\x7f é\xe2\x80\xa8"));
    python_json_write_string(&b, STR_NONE);
    assert_str(buf_str(&b), STR("\"a\\\"\\\\/\\n\\u0001\x7f é\xe2\x80\xa8\"\"\""));
    buf_clear(&b);
    python_json_write_string(&b, STR("\xed\xa0\xbd")); /* a lone surrogate, decoded */
    assert_str(buf_str(&b), STR("\"\\ud83d\""));
    buf_release(&b);
}

static void a_too_long_text_is_detected(void **state)
{
    struct err e = ERR_NONE;
    struct buf b;

    (void)state;
    buf_init(&b, 8);
    python_json_write_string(&b, STR("longer than that"));
    assert_false(buf_ok(&b, &e));
    buf_release(&b);
}

/* The deepest that the scanner takes. */
static void depth_needs_no_stack(void **state)
{
    char text[2 * JSON_MAX_DEPTH + 1];
    struct json_fault fault;
    struct buf b, flat;
    struct json j;

    (void)state;
    memset(text, '[', JSON_MAX_DEPTH);
    memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    buf_init(&b, 1 << 20);
    buf_init(&flat, 1 << 20);
    json_init(&j);
    python_json_write(&b, str_n(text, 2 * JSON_MAX_DEPTH), 0);
    assert_true(json_scan(&j, buf_str(&b), &fault));
    python_json_write_compact(&flat, buf_str(&b));
    assert_str(buf_str(&flat), str_n(text, 2 * JSON_MAX_DEPTH));
    json_release(&j);
    buf_release(&b);
    buf_release(&flat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_formatted_as_by_python),
        cmocka_unit_test(a_level_moves_all_but_the_first_line),
        cmocka_unit_test(values_that_python_would_change_stay),
        cmocka_unit_test(flattening_removes_only_blanks),
        cmocka_unit_test(flattened_and_formatted_again_a_text_is_the_same),
        cmocka_unit_test(ascii_is_written_as_python_does_it),
        cmocka_unit_test(a_text_is_quoted_as_python_does_it),
        cmocka_unit_test(a_too_long_text_is_detected),
        cmocka_unit_test(depth_needs_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "yaml/yaml-scalar.h"

#include "test.h"

static void check(const char *text, const char *want)
{
    static const char *const names[] = { "null", "bool", "int", "float", "string" };
    enum yaml_type type = yaml_scalar_type(str_z(text));
    const char *why;
    struct buf seen;

    buf_init(&seen, 4096);
    buf_printf(&seen, "%s ", names[type]);
    why = yaml_scalar_write_json(&seen, type, str_z(text));
    if (why)
        buf_printf(&seen, "error: %.12s", why);
    if (!str_eq(buf_str(&seen), str_z(want)))
        fail_msg("'%s': got '%s', want '%s'", text, buf_z(&seen), want);
    buf_release(&seen);
}

static void words_have_types(void **state)
{
    (void)state;
    check("", "null null");
    check("~", "null null");
    check("NULL", "null null");
    check("nULL", "string \"nULL\"");
    check("true", "bool true");
    check("Yes", "bool true");
    check("on", "bool true");
    check("OFF", "bool false");
    check("y", "string \"y\"");
    check("hello world", "string \"hello world\"");
    check("2026-11-18", "string \"2026-11-18\"");
    check("file:///a", "string \"file:///a\"");
}

static void integers_become_decimal(void **state)
{
    (void)state;
    check("0", "int 0");
    check("-12", "int -12");
    check("+12", "int 12");
    check("1_000_000", "int 1000000");
    check("123456789012345678901234567890", "int 123456789012345678901234567890");
    check("017", "int 15");
    check("0x1F", "int 31");
    check("-0b101", "int -5");
    check("0xffffffffffffffff", "int 18446744073709551615");
    check("0x10000000000000000", "int error: it is too la");
    check("08", "string \"08\"");
    check("_1", "string \"_1\"");
    check("0xyz", "string \"0xyz\"");
    check("12:30", "int error: it is a base");
    check("12:30:45.5", "int error: it is a base");
    check("12:60", "string \"12:60\"");
    check("3000:3000", "string \"3000:3000\"");
    check("-", "string \"-\"");
    check("1-2", "string \"1-2\"");
}

static void floats_become_json_numbers(void **state)
{
    (void)state;
    check("1.0", "float 1.0");
    check("1.50", "float 1.50");
    check("1.", "float 1.0");
    check(".5", "float 0.5");
    check("-.5", "float -0.5");
    check("+1_0.2_5", "float 10.25");
    check("01.5", "float 1.5");
    check("00.5", "float 0.5");
    check("0__.5", "float 0.5");
    check("1e5", "float 1e5");
    check("1.0E-3", "float 1.0E-3");
    check("6.02e+23", "float 6.02e+23");
    check("1._", "float 1.0");
    check(".", "string \".\"");
    check("._5", "string \"._5\"");
    check("e5", "string \"e5\"");
    check("1e", "string \"1e\"");
    check("1.2.3", "string \"1.2.3\"");
    check(".inf", "float error: JSON has no ");
    check("-.INF", "float error: JSON has no ");
    check(".NaN", "float error: JSON has no ");
}

static void strings_are_escaped(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 64);
    assert_null(yaml_scalar_write_json(&b, YAML_TYPE_STRING, STR("1\"\n")));
    assert_str(buf_str(&b), STR("\"1\\\"\\n\""));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_types),
        cmocka_unit_test(integers_become_decimal),
        cmocka_unit_test(floats_become_json_numbers),
        cmocka_unit_test(strings_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

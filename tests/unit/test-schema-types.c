#include "json/schema-types.h"

#include "terse.h"
#include "test.h"

static struct json json;
static struct arena texts;

static struct json_val scan(const char *terse)
{
    struct json_fault fault;

    assert_true(json_scan(&json, terse_json(&texts, terse), &fault));
    return json_root(&json);
}

/* The value has one of the types. */
static bool accepts(const char *type, const char *value)
{
    unsigned types;

    assert_true(json_schema_types_parse(scan(type), &types));
    return types & json_schema_types_of(scan(value));
}

static void a_value_has_its_types(void **state)
{
    static const char *const names[] = { "'object'", "'array'",   "'string'", "'integer'",
                                         "'number'", "'boolean'", "'null'" };
    static const struct {
        const char *value, *accepted; /* one letter for each name */
    } rows[] = {
        { "{}", "y------" },   { "[]", "-y-----" },    { "'a'", "--y----" },
        { "1", "---yy--" },    { "1.0", "---yy--" },   { "0.5", "----y--" },
        { "true", "-----y-" }, { "false", "-----y-" }, { "null", "------y" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (accepts(names[k], rows[i].value) != (rows[i].accepted[k] == 'y'))
                fail_msg("%s on %s", names[k], rows[i].value);
}

static void several_types_are_one_set(void **state)
{
    (void)state;
    assert_true(accepts("['string','null']", "null"));
    assert_false(accepts("['string','null']", "1"));
}

static void other_values_are_rejected(void **state)
{
    static const char *const rows[] = { "'any'", "1", "[]", "['string',1]", "{'string':1}" };
    unsigned types;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_false(json_schema_types_parse(scan(rows[i]), &types));
}

static void a_set_is_written_as_a_phrase(void **state)
{
    static const struct {
        const char *types, *want;
    } rows[] = {
        { "'integer'", "must be an integer" },
        { "['null','boolean']", "must be a boolean or null" },
        { "['integer','number']", "must be a number" },
        { "['null','string','array','object']",
          "must be an object, an array, a string or null" },
    };
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned types;
        assert_true(json_schema_types_parse(scan(rows[i].types), &types));
        buf_clear(&b);
        json_schema_types_write(types, &b);
        assert_str(buf_str(&b), str_z(rows[i].want));
    }
    buf_release(&b);
}

static int release(void **state)
{
    (void)state;
    json_release(&json);
    arena_release(&texts);
    return 0;
}

static void check_json(unsigned types, const char *want)
{
    struct buf b;

    buf_init(&b, 1 << 10);
    json_schema_types_write_json(types, &b);
    assert_str(buf_str(&b), str_z(want));
    buf_release(&b);
}

static void a_set_is_written_as_json(void **state)
{
    (void)state;
    check_json(JSON_SCHEMA_STRING, "\"string\"");
    check_json(JSON_SCHEMA_STRING | JSON_SCHEMA_NULL, "[\"string\",\"null\"]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_has_its_types),
        cmocka_unit_test(several_types_are_one_set),
        cmocka_unit_test(other_values_are_rejected),
        cmocka_unit_test(a_set_is_written_as_a_phrase),
        cmocka_unit_test(a_set_is_written_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}

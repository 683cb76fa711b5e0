#include "scenario/scenario-values.h"

#include "terse.h"
#include "test.h"

enum { TEXT_MAX = 4096, FILE_MAX = 4 << 20 };

static void check(const char *json, const char *want)
{
    struct scenario_values v;
    struct buf to;

    scenario_values_init(&v);
    scenario_values_set(&v, STR("id"), STR("7"));
    scenario_values_set(&v, STR("id"), STR("42"));
    scenario_values_set(&v, STR("name"), STR("\"a\\\"b\""));
    scenario_values_set(&v, STR("map"), STR("{\"k\":\"v\"}"));
    buf_init(&to, TEXT_MAX);
    scenario_values_fill(&v, str_z(json), &to);
    assert_str(buf_str(&to), str_z(want));
    buf_release(&to);
    scenario_values_release(&v);
}

static void a_whole_string_becomes_the_value(void **state)
{
    (void)state;
    check("{\"x\":\"{{id}}\"}", "{\"x\":42}");
    check("\"{{ name }}\"", "\"a\\\"b\"");
    check("[\"{{map}}\",\"{{id}}\"]", "[{\"k\":\"v\"},42]");
    check("[\"\\\\\",\"{{id}}\"]", "[\"\\\\\",42]");
}

static void a_part_of_a_string_becomes_text(void **state)
{
    (void)state;
    check("\"n {{id}} {{name}}\"", "\"n 42 a\\\"b\"");
    check("\"{{map}}!\"", "\"{\\\"k\\\":\\\"v\\\"}!\"");
    check("\"\\\"{{id}}\"", "\"\\\"42\"");
    check("\"{{id}}{{id}}\"", "\"4242\"");
    check("{\"{{id}}\":1}", "{\"42\":1}");
}

static void other_text_stays(void **state)
{
    (void)state;
    check("\"{{other}} {{}} {{id} {id}} {{a b}}\"", "\"{{other}} {{}} {{id} {id}} {{a b}}\"");
    check("{\"a\":{\"b\":{}}}", "{\"a\":{\"b\":{}}}");
    check("\"{{{id}}}\"", "\"{42}\"");
    check("\"{{id", "\"{{id");
    check("\"{{id}", "\"{{id}");
    check("\"{{id {{id}}\"", "\"{{id 42\"");
}

static void references_are_found(void **state)
{
    struct str text = STR("a {{x}} {{ y_1 }} {{-}} {{z"), name;

    (void)state;
    assert_true(scenario_values_next_reference(&text, &name));
    assert_str(name, STR("x"));
    assert_true(scenario_values_next_reference(&text, &name));
    assert_str(name, STR("y_1"));
    assert_false(scenario_values_next_reference(&text, &name));
    assert_true(scenario_values_is_name(STR("a_1")));
    assert_false(scenario_values_is_name(STR("")));
    assert_false(scenario_values_is_name(STR("a-b")));
}

/* If the end of the text were searched for from each "{{", this would take minutes. */
static void unclosed_references_are_read_once(void **state)
{
    static const struct str parts[] = { STR_INIT("{{"), STR_INIT("{{ a "), STR_INIT("{{a}") };
    struct scenario_values v;
    struct str rest, name;
    struct buf text, to;

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        scenario_values_init(&v);
        buf_init(&text, FILE_MAX);
        buf_init(&to, FILE_MAX);
        while (text.len + parts[i].len < FILE_MAX)
            buf_add(&text, parts[i]);
        rest = buf_str(&text);
        assert_false(scenario_values_next_reference(&rest, &name));
        scenario_values_fill(&v, buf_str(&text), &to);
        assert_str(buf_str(&to), buf_str(&text));
        buf_release(&to);
        buf_release(&text);
        scenario_values_release(&v);
    }
}

/* A value that does not fit makes the buffer full, and nothing is left half. */
static void the_size_is_that_of_the_buffer(void **state)
{
    struct scenario_values v;
    struct buf to;

    (void)state;
    scenario_values_init(&v);
    scenario_values_set(&v, STR("map"), STR("{\"k\":\"0123456789\"}"));
    buf_init(&to, 16);
    scenario_values_fill(&v, STR("\"{{map}}!\""), &to);
    assert_true(to.full);
    buf_release(&to);
    scenario_values_release(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_string_becomes_the_value),
        cmocka_unit_test(a_part_of_a_string_becomes_text),
        cmocka_unit_test(other_text_stays),
        cmocka_unit_test(references_are_found),
        cmocka_unit_test(unclosed_references_are_read_once),
        cmocka_unit_test(the_size_is_that_of_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

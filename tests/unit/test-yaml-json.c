#include "yaml/yaml-json.h"

#include "test.h"

static void check(const char *text, size_t max, const char *want)
{
    struct err e = ERR_NONE;
    struct yaml_tree t;
    struct buf seen;
    const char *got;

    buf_init(&seen, max);
    assert_true(yaml_tree_parse(&t, str_z(text), "f.yml", &e));
    got = yaml_json_write(&seen, &t, t.root, &e) ? buf_z(&seen) : e.msg;
    assert_string_equal(got, want);
    buf_release(&seen);
    yaml_tree_release(&t);
}

static void a_tree_becomes_json(void **state)
{
    (void)state;
    check("a: [1, x, ~, yes, 1.5, {}, []]\n\"b\\n\": {1: \"1\"}\n", 4096,
          "{\"a\":[1,\"x\",null,true,1.5,{},[]],\"b\\n\":{\"1\":\"1\"}}");
    check("- &x {a: b}\n- *x\n", 4096, "[{\"a\":\"b\"},{\"a\":\"b\"}]");
    check("Grüße 🎞", 4096, "\"Grüße 🎞\"");
}

static void values_that_json_lacks_are_rejected(void **state)
{
    (void)state;
    check("a:\n  - .inf\n", 4096,
          "f.yml:2:5: '.inf': JSON has no such number; write it in quotes if it is text");
    check("at: 12:30\n", 4096,
          "f.yml:1:5: '12:30': it is a base-60 number of YAML 1.1; write it in quotes if it is "
          "text");
}

static void the_size_is_that_of_the_buffer(void **state)
{
    struct err e = ERR_NONE;
    struct yaml_tree t;
    struct buf small;

    (void)state;
    buf_init(&small, 8);
    assert_true(yaml_tree_parse(&t, STR("a: 0123456789"), "f.yml", &e));
    assert_false(yaml_json_write(&small, &t, t.root, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_memory_equal(e.msg, "f.yml:1:1: ", 11);
    buf_release(&small);
    yaml_tree_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_becomes_json),
        cmocka_unit_test(values_that_json_lacks_are_rejected),
        cmocka_unit_test(the_size_is_that_of_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "cmd/rules-options.h"

#include "temp-dir.h"
#include "test.h"

static bool read_rules(struct compare_rules *rules, const struct rules_args *args,
                       struct err *e)
{
    const struct app app = { .sys = &sys_real };

    compare_rules_init(rules);
    return rules_options_read(rules, &app, args, e);
}

static void files_come_before_options(void **state)
{
    const char *fields[] = { "b" }, *paths[] = { "$.y" }, *files[] = { "rules.json" };
    const struct rules_args args = { .ignore_fields = { fields, 1 },
                                     .ignore_paths = { paths, 1 },
                                     .rules = { files, 1 } };
    struct compare_rules rules;
    struct err e = ERR_NONE;
    struct str value;

    (void)state;
    temp_dir_put_terse("rules.json",
                       "{'ignore_fields':['a'],'ignore_paths':['$.x'],'rebind':['$.z']}");
    assert_true(read_rules(&rules, &args, &e));
    assert_int_equal(compare_rules_count(&rules), 5);
    assert_string_equal(compare_rules_describe(&rules, 0, &value), "ignore_paths");
    assert_str(value, STR("$.x"));
    assert_string_equal(compare_rules_describe(&rules, 1, &value), "rebind");
    assert_string_equal(compare_rules_describe(&rules, 2, &value), "ignore_paths");
    assert_str(value, STR("$.y"));
    assert_string_equal(compare_rules_describe(&rules, 4, &value), "ignore_fields");
    assert_str(value, STR("b"));
    compare_rules_release(&rules);
}

static void a_bad_rule_is_named_with_its_option_or_file(void **state)
{
    const char *fields[] = { "" }, *paths[] = { "x" }, *files[] = { "rules.json" };
    const struct {
        struct rules_args args;
        const char *msg;
    } rows[] = {
        { { .ignore_fields = { fields, 1 } },
          "option '--ignore-fields': bad ignored field: the name is empty" },
        { { .ignore_paths = { paths, 1 } },
          "option '--ignore-paths': bad path 'x': expected '$' at byte 1" },
        { { .rules = { files, 1 } },
          "'rules.json' has no valid rules: bad rules at line 1, column 1: expected an "
          "object" },
    };

    (void)state;
    temp_dir_put_terse("rules.json", "[]");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct compare_rules rules;
        struct err e = ERR_NONE;

        assert_false(read_rules(&rules, &rows[i].args, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_string_equal(e.msg, rows[i].msg);
        compare_rules_release(&rules);
    }
}

static void a_missing_file_is_an_error(void **state)
{
    const char *files[] = { "none.json" };
    const struct rules_args args = { .rules = { files, 1 } };
    struct compare_rules rules;
    struct err e = ERR_NONE;

    (void)state;
    assert_false(read_rules(&rules, &args, &e));
    assert_non_null(strstr(e.msg, "none.json"));
    compare_rules_release(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(files_come_before_options),
        IN_TEMP_DIR(a_bad_rule_is_named_with_its_option_or_file),
        IN_TEMP_DIR(a_missing_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

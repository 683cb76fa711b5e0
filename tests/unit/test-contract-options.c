#include "cmd/contract-options.h"

#include "temp-dir.h"
#include "test.h"

static void count_line(void *to, struct str line)
{
    (void)line;
    ++*(int *)to;
}

static void a_lock_file_is_known_by_its_version(void **state)
{
    const struct app app = { .sys = &sys_real };
    struct err e = ERR_NONE;
    struct surface s;

    (void)state;
    temp_dir_put_terse("lock.json", "{'mcpreelLock':1,'tools':[{'name':'a'}]}");
    temp_dir_put_terse("other.json", "{'tools':[]}");
    temp_dir_put_terse("text", "a text about 'mcpreelLock'");
    assert_true(contract_options_is_lock(&app, "lock.json"));
    assert_false(contract_options_is_lock(&app, "other.json"));
    assert_false(contract_options_is_lock(&app, "text"));
    assert_false(contract_options_is_lock(&app, "missing"));
    surface_init(&s);
    assert_true(contract_options_read_lock(&app, "lock.json", &s, &e));
    assert_non_null(surface_find(&s, SURFACE_TOOL, STR("a")));
    assert_false(contract_options_read_lock(&app, "other.json", &s, &e));
    assert_non_null(strstr(e.msg, "cannot use 'other.json'"));
    surface_release(&s);
}

static void entries_that_have_ended_are_a_warning(void **state)
{
    struct compare_rules rules;
    struct contract_changes changes;
    const struct contract_subject tool = { .kind = SURFACE_TOOL, .name = STR("a") };
    int lines = 0;
    const struct log log = { .level = LOG_WARN, .write = count_line, .arg = &lines };
    const struct app app = { .sys = &sys_real, .log = &log };
    struct err e = ERR_NONE;

    (void)state;
    compare_rules_init(&rules);
    assert_true(compare_rules_parse(&rules,
                                    STR("{\"allow\":[{\"rule\":\"tool.removed\",\"until\":"
                                        "\"2020-01-01\",\"reason\":\"r\"}]}"),
                                    &e));
    contract_changes_init(&changes, CONTRACT_PROFILE_CONTRACT, STR_NONE);
    contract_changes_add(&changes, RULE_TOOL_REMOVED, &tool, STR("$"), STR("{}"), STR_NONE);
    contract_options_allow(&app, &changes, &rules);
    assert_null(changes.at[0].allowed);
    assert_int_equal(lines, 1);
    contract_changes_release(&changes);
    compare_rules_release(&rules);
}

static void lists_of_choices_have_an_end(void **state)
{
    (void)state;
    assert_string_equal(contract_options_fail_on[FAIL_ON_NEVER].name, "never");
    assert_null(contract_options_fail_on[FAIL_ON_NEVER + 1].name);
    assert_null(contract_options_profiles[CONTRACT_PROFILE_SURFACE + 1].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_lock_file_is_known_by_its_version),
        cmocka_unit_test(entries_that_have_ended_are_a_warning),
        cmocka_unit_test(lists_of_choices_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

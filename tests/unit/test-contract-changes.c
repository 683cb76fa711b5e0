#include "diff/contract-changes.h"

#include "test.h"

static void a_change_is_a_finding(void **state)
{
    struct contract_subject tool = { SURFACE_TOOL, STR("search"), 7 };
    struct contract_changes c;
    struct contract_change *x;

    (void)state;
    contract_changes_init(&c, CONTRACT_PROFILE_CONTRACT, STR("a.lock.json"));
    x = contract_changes_add(&c, RULE_TOOL_TITLE, &tool, STR("$.title"), STR("\"a\""),
                             STR("\"b\""));
    assert_str(x->finding.message, STR("tool 'search': the title changed"));
    assert_str(x->finding.rule, STR("tool.title.changed"));
    assert_str(x->finding.file, STR("a.lock.json"));
    assert_int_equal(x->finding.line, 7);
    assert_str(x->finding.recorded, STR("\"a\""));
    assert_str(x->finding.live, STR("\"b\""));
    x = contract_changes_add(&c, RULE_TOOL_REMOVED, &tool, STR("$"), STR("{}"), STR_NONE);
    assert_str(x->finding.message, STR("tool 'search' was removed"));
    contract_changes_release(&c);
}

static void wire_has_only_breaking_and_risky_changes(void **state)
{
    struct contract_subject server = { SURFACE_SERVER, STR_NONE, 1 };
    struct contract_changes c;

    (void)state;
    contract_changes_init(&c, CONTRACT_PROFILE_WIRE, STR_NONE);
    assert_null(
        contract_changes_add(&c, RULE_INSTRUCTIONS, &server, STR("$"), STR_NONE, STR_NONE));
    assert_non_null(
        contract_changes_add(&c, RULE_PROTOCOL_LOWERED, &server, STR("$"), STR_NONE, STR_NONE));
    assert_int_equal(c.count, 1);
    assert_int_equal(c.at[0].finding.line, 0); /* there is no file */
    contract_changes_release(&c);
}

static void the_most_severe_come_first(void **state)
{
    struct contract_subject a = { SURFACE_TOOL, STR("a"), 0 },
                            b = { SURFACE_TOOL, STR("b"), 0 };
    struct contract_changes c;

    (void)state;
    contract_changes_init(&c, CONTRACT_PROFILE_CONTRACT, STR_NONE);
    contract_changes_add(&c, RULE_TOOL_ADDED, &a, STR("$"), STR_NONE, STR_NONE);
    contract_changes_add(&c, RULE_TOOL_REMOVED, &b, STR("$"), STR_NONE, STR_NONE);
    contract_changes_add(&c, RULE_TOOL_REMOVED, &a, STR("$"), STR_NONE, STR_NONE);
    contract_changes_sort(&c);
    assert_str(c.at[0].name, STR("a"));
    assert_str(c.at[1].name, STR("b"));
    assert_int_equal(c.at[2].severity, CONTRACT_SAFE);
    contract_changes_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_a_finding),
        cmocka_unit_test(wire_has_only_breaking_and_risky_changes),
        cmocka_unit_test(the_most_severe_come_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "diff/contract-rules.h"

#include "test.h"

static struct str subject_of(struct str id)
{
    while (id.len && id.at[id.len - 1] != '.')
        id.len--;
    return id;
}

/* Returns whether there is a rule about the same thing with another action. */
static bool has_rule(struct str thing, enum contract_action action)
{
    for (enum contract_rule_number n = 0; n < RULE_COUNT; n++)
        if (contract_rule(n)->id.len && contract_rule(n)->action == action &&
            str_eq(subject_of(contract_rule(n)->id), thing))
            return true;
    return false;
}

static void rules_of_additions_and_removals_are_paired(void **state)
{
    (void)state;
    for (enum contract_rule_number n = 0; n < RULE_COUNT; n++) {
        const struct contract_rule *r = contract_rule(n);

        if (!r->id.len || r->action == CONTRACT_CHANGED)
            continue;
        if (!has_rule(subject_of(r->id),
                      r->action == CONTRACT_ADDED ? CONTRACT_REMOVED : CONTRACT_ADDED))
            fail_msg("%.*s has no opposite", STR_ARG(r->id));
    }
}

static void ids_are_unique_and_rules_have_text(void **state)
{
    (void)state;
    for (enum contract_rule_number n = 0; n < RULE_COUNT; n++) {
        const struct contract_rule *r = contract_rule(n);

        if (!r->id.len)
            continue;
        assert_ptr_equal(contract_rules_find(r->id), r);
        assert_true(r->text.len > 0);
        assert_true(r->surface_severity <= r->severity); /* never less severe */
    }
    assert_null(contract_rules_find(STR("tool")));
    assert_null(contract_rules_find(STR_NONE));
}

static void the_direction_decides_the_severity(void **state)
{
    (void)state;
    assert_int_equal(contract_rules_find(STR("tool.input.type.narrowed"))->severity,
                     CONTRACT_BREAKING);
    assert_int_equal(contract_rules_find(STR("tool.output.type.narrowed"))->severity,
                     CONTRACT_SAFE);
    assert_str(contract_rules_severity(CONTRACT_ROUTING), STR("routing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_of_additions_and_removals_are_paired),
        cmocka_unit_test(ids_are_unique_and_rules_have_text),
        cmocka_unit_test(the_direction_decides_the_severity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

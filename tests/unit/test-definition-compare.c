#include "diff/definition-compare.h"

#include "terse.h"
#include "test.h"

/* tests/contract/ has the cases of each rule. */

static void a_kind_has_its_own_rules(void **state)
{
    static const struct {
        enum surface_kind kind;
        const char *rule;
    } rows[] = {
        { SURFACE_TOOL, "tool.member.changed" },
        { SURFACE_PROMPT, "prompt.member.changed" },
        { SURFACE_RESOURCE, "resource.member.changed" },
        { SURFACE_TEMPLATE, "template.member.changed" },
    };
    struct terse_scanned before, after;
    struct contract_changes c;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct contract_subject subject = { rows[i].kind, STR("a"), 0 };

        contract_changes_init(&c, CONTRACT_PROFILE_CONTRACT, STR_NONE);
        definition_compare(&c, &subject, terse_scan(&before, "{'x y':1}"),
                           terse_scan(&after, "{'x y':2}"));
        assert_int_equal(c.count, 1);
        assert_str(c.at[0].rule->id, str_z(rows[i].rule));
        assert_str(c.at[0].finding.path, STR("$['x y']"));
        contract_changes_release(&c);
        terse_scanned_release(&before);
        terse_scanned_release(&after);
    }
}

static void a_schema_change_knows_its_values(void **state)
{
    struct contract_subject subject = { SURFACE_TOOL, STR("a"), 0 };
    struct terse_scanned before, after;
    struct contract_changes c;

    (void)state;
    contract_changes_init(&c, CONTRACT_PROFILE_CONTRACT, STR_NONE);
    definition_compare(
        &c, &subject,
        terse_scan(&before, "{'inputSchema':{'properties':{'n':{'type':'integer'}}}}"),
        terse_scan(&after, "{'inputSchema':{'properties':{'n':{'type':'string'}}}}"));
    assert_int_equal(c.count, 1);
    assert_str(c.at[0].finding.path, STR("$.inputSchema.properties.n.type"));
    assert_str(c.at[0].instance, STR("$[\"n\"]"));
    assert_str(c.at[0].finding.recorded, STR("\"integer\""));
    contract_changes_release(&c);
    terse_scanned_release(&before);
    terse_scanned_release(&after);
}

static void urls_of_a_new_definition_do_not_count(void **state)
{
    struct contract_subject subject = { SURFACE_TOOL, STR("a"), 0 };
    struct terse_scanned after;
    struct contract_changes c;

    (void)state;
    contract_changes_init(&c, CONTRACT_PROFILE_CONTRACT, STR_NONE);
    definition_compare_text(&c, &subject, JSON_VAL_NONE,
                            terse_scan(&after, "{'description':'https://a.example`u200b'}"));
    assert_int_equal(c.count, 1);
    assert_str(c.at[0].rule->id, STR("text.hidden-characters.added"));
    contract_changes_release(&c);
    terse_scanned_release(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_has_its_own_rules),
        cmocka_unit_test(a_schema_change_knows_its_values),
        cmocka_unit_test(urls_of_a_new_definition_do_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

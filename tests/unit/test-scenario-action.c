#include "scenario/scenario-action.h"

#include "test.h"

static void the_actions_of_mcp_recorder_are_there(void **state)
{
    static const char *const names[] = { "list_tools", "call_tool",      "list_prompts",
                                         "get_prompt", "list_resources", "read_resource" };
    static const char *const methods[] = { "tools/list",  "tools/call",     "prompts/list",
                                           "prompts/get", "resources/list", "resources/read" };
    (void)state;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct scenario_action_kind *kind = scenario_action_find(str_z(names[i]));

        assert_non_null(kind);
        assert_str(kind->method, str_z(methods[i]));
        assert_int_equal(scenario_action_is_simple(kind), kind->list != NULL);
    }
    assert_null(scenario_action_find(STR("list_tool")));
}

static void only_raw_names_its_method(void **state)
{
    (void)state;
    for (const struct scenario_action_kind *k = scenario_action_kinds; k->name; k++)
        assert_int_equal(k->method.len == 0, k->params == ACTION_PARAMS_RAW);
    assert_true(scenario_action_is_simple(scenario_action_find(STR("ping"))));
    assert_false(scenario_action_is_simple(scenario_action_find(STR("raw"))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_actions_of_mcp_recorder_are_there),
        cmocka_unit_test(only_raw_names_its_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

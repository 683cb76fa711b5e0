#include "scenario/scenario-answers.h"

#include "test.h"

static void each_result_of_a_list_is_used_once_and_the_last_one_again(void **state)
{
    struct str sampling[] = { STR_INIT("1"), STR_INIT("2") }, elicitation[] = { STR_INIT("3") };
    const struct scenario_answers a = { sampling, elicitation, 2, 1, STR_INIT("4") };
    struct scenario_answers_used used = { 0 };

    (void)state;
    assert_str(scenario_answers_take(&a, &used, STR("sampling/createMessage")), STR("1"));
    assert_str(scenario_answers_take(&a, &used, STR("elicitation/create")), STR("3"));
    assert_str(scenario_answers_take(&a, &used, STR("sampling/createMessage")), STR("2"));
    assert_str(scenario_answers_take(&a, &used, STR("sampling/createMessage")), STR("2"));
    assert_str(scenario_answers_take(&a, &used, STR("elicitation/create")), STR("3"));
    assert_str(scenario_answers_take(&a, &used, STR("roots/list")), STR("4"));
    assert_str(scenario_answers_take(&a, &used, STR("roots/list")), STR("4"));
}

static void other_requests_have_no_result(void **state)
{
    const struct scenario_answers none = { .roots = { 0 } };
    struct scenario_answers_used used = { 0 };

    (void)state;
    assert_int_equal(scenario_answers_take(&none, &used, STR("sampling/createMessage")).len, 0);
    assert_int_equal(scenario_answers_take(&none, &used, STR("elicitation/create")).len, 0);
    assert_int_equal(scenario_answers_take(&none, &used, STR("roots/list")).len, 0);
    assert_int_equal(scenario_answers_take(&none, &used, STR("x")).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_result_of_a_list_is_used_once_and_the_last_one_again),
        cmocka_unit_test(other_requests_have_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "mcp/context-cost.h"

#include "test.h"

static void tokens_are_rounded_up(void **state)
{
    (void)state;
    assert_int_equal(mcp_context_tokens(0), 0);
    assert_int_equal(mcp_context_tokens(1), 1);
    assert_int_equal(mcp_context_tokens(4), 1);
    assert_int_equal(mcp_context_tokens(5), 2);
    assert_int_equal(mcp_context_tokens(4000), 1000);
}

static void the_largest_number_does_not_overflow(void **state)
{
    (void)state;
    assert_true(mcp_context_tokens(UINT64_MAX) == UINT64_MAX / 4 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_rounded_up),
        cmocka_unit_test(the_largest_number_does_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/big-array.h"

#include <stdint.h>

#include "test.h"

static void elements_keep_their_values_while_the_array_grows(void **state)
{
    uint32_t *at = NULL;
    size_t cap = 0;

    (void)state;
    for (size_t i = 0; i < 1000000; i++) {
        at = big_array_reserve(at, &cap, i + 1, sizeof *at);
        assert_true(cap > i);
        at[i] = (uint32_t)(i * 7);
    }
    for (size_t i = 0; i < 1000000; i++)
        assert_int_equal(at[i], (uint32_t)(i * 7));
    big_array_release(at, cap, sizeof *at);
}

static void reserving_existing_room_moves_nothing(void **state)
{
    struct odd {
        char bytes[13];
    } *at = NULL, *before;
    size_t cap = 0;

    (void)state;
    at = big_array_reserve(at, &cap, 1, sizeof *at);
    before = at;
    assert_ptr_equal(big_array_reserve(at, &cap, cap, sizeof *at), before);
    at = big_array_reserve(at, &cap, cap + 1, sizeof *at);
    at[cap - 1].bytes[12] = 'x';
    big_array_release(at, cap, sizeof *at);
}

static void an_empty_array_can_be_released(void **state)
{
    (void)state;
    big_array_release(NULL, 0, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_keep_their_values_while_the_array_grows),
        cmocka_unit_test(reserving_existing_room_moves_nothing),
        cmocka_unit_test(an_empty_array_can_be_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

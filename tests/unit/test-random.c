#include "base/random.h"

#include "test.h"

static void two_results_differ_in_every_part(void **state)
{
    unsigned char a[1000], b[1000];

    (void)state;
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    random_bytes(a, sizeof a);
    random_bytes(b, sizeof b);
    for (size_t i = 0; i + 16 <= sizeof a; i += 8)
        assert_memory_not_equal(a + i, b + i, 16);
}

static void bytes_after_the_buffer_are_not_written(void **state)
{
    char room[4] = { 7, 7, 7, 7 };

    (void)state;
    random_bytes(room + 1, 0);
    assert_int_equal(room[1], 7);
    random_bytes(room + 1, 2);
    assert_int_equal(room[0], 7);
    assert_int_equal(room[3], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_results_differ_in_every_part),
        cmocka_unit_test(bytes_after_the_buffer_are_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

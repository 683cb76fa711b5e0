#include "base/hash.h"

#include "test.h"

static void the_seed_and_every_byte_count(void **state)
{
    (void)state;
    assert_true(hash_bytes(STR("abc"), 1) == hash_bytes(STR("abc"), 1));
    assert_true(hash_bytes(STR("abc"), 1) != hash_bytes(STR("abc"), 2));
    assert_true(hash_bytes(STR("abc"), 1) != hash_bytes(STR("abd"), 1));
    assert_true(hash_bytes(STR_NONE, 1) == hash_bytes(STR(""), 1));
}

static void mixing_depends_on_the_order(void **state)
{
    (void)state;
    assert_true(hash_mix(1, 2) != hash_mix(2, 1));
    assert_true(hash_mix(1, 2) == hash_mix(1, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seed_and_every_byte_count),
        cmocka_unit_test(mixing_depends_on_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

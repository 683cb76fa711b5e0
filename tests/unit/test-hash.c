#include "base/hash.h"

#include "test.h"

/* Known results of XXH3, so that the algorithm is not exchanged unnoticed. */
static void the_algorithm_is_xxh3(void **state)
{
    (void)state;
    assert_true(hash_bytes(STR(""), 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(hash_bytes(STR("abc"), 0) == UINT64_C(0x78af5f94892f3950));
}

static void the_hash_depends_on_seed_and_every_byte(void **state)
{
    char text[300];

    (void)state;
    memset(text, 'a', sizeof text);
    for (size_t len = 1; len <= sizeof text; len += 23) {
        uint64_t h = hash_bytes(str_n(text, len), 1);
        assert_true(h == hash_bytes(str_n(text, len), 1));
        assert_true(h != hash_bytes(str_n(text, len), 2));
        assert_true(h != hash_bytes(str_n(text, len - 1), 1));
        for (size_t i = 0; i < len; i++) {
            text[i] = 'b';
            assert_true(h != hash_bytes(str_n(text, len), 1));
            text[i] = 'a';
        }
    }
}

static void the_hash_depends_on_every_bit_of_the_seed(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++)
        assert_true(hash_bytes(STR("abc"), UINT64_C(1) << bit) != hash_bytes(STR("abc"), 0));
}

static void an_empty_text_has_one_hash_at_any_address(void **state)
{
    (void)state;
    assert_true(hash_bytes(STR_NONE, 7) == hash_bytes(STR(""), 7));
}

static void mixing_depends_on_both_values_and_their_order(void **state)
{
    (void)state;
    assert_true(hash_mix(1, 2) == hash_mix(1, 2));
    assert_true(hash_mix(1, 2) != hash_mix(2, 1));
    assert_true(hash_mix(1, 2) != hash_mix(1, 3));
    assert_true(hash_mix(1, 2) != hash_mix(3, 2));
    assert_true(hash_mix(0, 0) != 0);
}

/* Each input bit turns about half of the output bits. */
static void mixing_spreads_every_bit(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        uint64_t one = UINT64_C(1) << bit;
        int left = __builtin_popcountll(hash_mix(0, 0) ^ hash_mix(one, 0));
        int right = __builtin_popcountll(hash_mix(0, 0) ^ hash_mix(0, one));
        assert_in_range(left, 12, 52);
        assert_in_range(right, 12, 52);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_algorithm_is_xxh3),
        cmocka_unit_test(the_hash_depends_on_seed_and_every_byte),
        cmocka_unit_test(the_hash_depends_on_every_bit_of_the_seed),
        cmocka_unit_test(an_empty_text_has_one_hash_at_any_address),
        cmocka_unit_test(mixing_depends_on_both_values_and_their_order),
        cmocka_unit_test(mixing_spreads_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

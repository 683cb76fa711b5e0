#include "engine/wording.h"

#include "test.h"

static void words_that_were_kept_are_known_again(void **state)
{
    static struct wording w;
    uint64_t hash, other;

    (void)state;
    assert_int_equal(wording_find(&w, STR("{\"a\":1}"), &hash), 0);
    wording_keep(&w, hash, 7);
    assert_int_equal(wording_find(&w, STR("{\"a\":1}"), &hash), 7);
    assert_int_equal(wording_find(&w, STR("{\"a\":2}"), &other), 0);
    assert_true(hash != other);
    wording_keep(&w, hash, 9);
    assert_int_equal(wording_find(&w, STR("{\"a\":1}"), &hash), 9);
}

static void params_that_are_not_there_are_words_as_well(void **state)
{
    static struct wording w;
    uint64_t hash;

    (void)state;
    assert_int_equal(wording_find(&w, STR_NONE, &hash), 0);
    wording_keep(&w, hash, 3);
    assert_int_equal(wording_find(&w, STR_NONE, &hash), 3);
}

static void one_takes_the_place_of_another_and_never_its_name(void **state)
{
    static struct wording w;
    uint32_t known = 0;
    uint64_t hash;

    (void)state;
    for (uint32_t op = 1; op <= 10 * WORDING_SLOTS; op++) {
        wording_find(&w, str_n((const char *)&op, sizeof op), &hash);
        wording_keep(&w, hash, op);
    }
    for (uint32_t op = 1; op <= 10 * WORDING_SLOTS; op++) {
        uint32_t found = wording_find(&w, str_n((const char *)&op, sizeof op), &hash);

        assert_true(found == 0 || found == op);
        known += found != 0;
    }
    assert_true(known > WORDING_SLOTS / 2 && known <= WORDING_SLOTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_were_kept_are_known_again),
        cmocka_unit_test(params_that_are_not_there_are_words_as_well),
        cmocka_unit_test(one_takes_the_place_of_another_and_never_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

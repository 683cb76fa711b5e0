#include "filter/filter-keys.h"

#include "test.h"

static void every_example_is_a_valid_filter_of_its_key(void **state)
{
    (void)state;
    for (const struct filter_key *k = filter_keys; k->name; k++) {
        struct filter_fault fault;
        struct err e = ERR_NONE;
        struct filter *f;

        if (!filter_new(&f, str_z(k->example), &fault, &e))
            fail_msg("%s: %s", k->example, e.msg);
        filter_free(f);
        assert_true(str_starts(str_z(k->example), str_z(k->name)));
        assert_ptr_equal(filter_key_find(str_z(k->name)), k);
    }
}

static void every_word_is_found_and_has_bits(void **state)
{
    (void)state;
    for (const struct filter_key *k = filter_keys; k->name; k++)
        for (const struct filter_word *w = k->words; w && w->name; w++) {
            assert_ptr_equal(filter_key_word(k, str_z(w->name)), w);
            assert_true(w->bits != 0);
        }
}

static void aliases_give_the_same_key(void **state)
{
    (void)state;
    assert_string_equal(filter_key_find(STR("larger-than"))->name, "size");
    assert_string_equal(filter_key_find(STR("status-code"))->name, "status");
    assert_null(filter_key_find(STR("")));
    assert_null(filter_key_find(STR("Method")));
    assert_true(filter_key_means_greater(STR("larger-than")));
    assert_false(filter_key_means_greater(STR("size")));
}

static void a_misspelled_key_gets_a_suggestion(void **state)
{
    const struct filter_key *is = filter_key_find(STR("is"));

    (void)state;
    assert_string_equal(filter_key_nearest(STR("sever-dur")), "server-dur");
    assert_string_equal(filter_key_nearest_word(is, STR("canceled")), "cancelled");
    assert_null(filter_key_nearest(STR("zzzzzz")));
    assert_null(filter_key_nearest_word(is, STR("zzzzzz")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_is_a_valid_filter_of_its_key),
        cmocka_unit_test(every_word_is_found_and_has_bits),
        cmocka_unit_test(aliases_give_the_same_key),
        cmocka_unit_test(a_misspelled_key_gets_a_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

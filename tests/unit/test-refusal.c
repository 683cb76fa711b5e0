#include "dies.h"
#include "test.h"
#include "wire/refusal.h"

static void every_refusal_has_its_words_and_one_of_five_statuses(void **state)
{
    (void)state;
    for (enum refusal why = REFUSAL_NONE + 1; why < REFUSAL_COUNT; why++) {
        unsigned status = refusal_status(why);

        assert_non_null(refusal_text(why));
        assert_true(status == 400 || status == 414 || status == 431 || status == 501 ||
                    status == 505);
    }
}

static void no_two_refusals_are_told_in_the_same_words(void **state)
{
    (void)state;
    for (enum refusal a = REFUSAL_NONE + 1; a < REFUSAL_COUNT; a++) {
        for (enum refusal b = REFUSAL_NONE + 1; b < a; b++)
            assert_string_not_equal(refusal_text(a), refusal_text(b));
    }
}

static void ask_for_none(void)
{
    refusal_text(REFUSAL_NONE);
}

static void ask_for_one_too_many(void)
{
    refusal_status(REFUSAL_COUNT);
}

static void what_was_not_refused_has_no_words(void **state)
{
    (void)state;
    assert_dies(ask_for_none, "REFUSAL_NONE");
    assert_dies(ask_for_one_too_many, "REFUSAL_COUNT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refusal_has_its_words_and_one_of_five_statuses),
        cmocka_unit_test(no_two_refusals_are_told_in_the_same_words),
        cmocka_unit_test(what_was_not_refused_has_no_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

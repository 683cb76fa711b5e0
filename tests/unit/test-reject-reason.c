#include "assert-aborts.h"
#include "test.h"
#include "wire/reject-reason.h"

static void every_reason_has_a_text_and_one_of_five_statuses(void **state)
{
    (void)state;
    for (enum reject_reason why = REJECT_NONE + 1; why < REJECT_COUNT; why++) {
        unsigned status = reject_reason_status(why);

        assert_non_null(reject_reason_text(why));
        assert_true(status == 400 || status == 414 || status == 431 || status == 501 ||
                    status == 505);
    }
}

static void texts_are_unique(void **state)
{
    (void)state;
    for (enum reject_reason a = REJECT_NONE + 1; a < REJECT_COUNT; a++) {
        for (enum reject_reason b = REJECT_NONE + 1; b < a; b++)
            assert_string_not_equal(reject_reason_text(a), reject_reason_text(b));
    }
}

static void get_text_of_none(void)
{
    reject_reason_text(REJECT_NONE);
}

static void get_text_after_last(void)
{
    reject_reason_status(REJECT_COUNT);
}

static void other_values_are_bugs(void **state)
{
    (void)state;
    assert_aborts(get_text_of_none, "REJECT_NONE");
    assert_aborts(get_text_after_last, "REJECT_COUNT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reason_has_a_text_and_one_of_five_statuses),
        cmocka_unit_test(texts_are_unique),
        cmocka_unit_test(other_values_are_bugs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

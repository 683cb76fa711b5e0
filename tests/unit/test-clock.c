#include "base/clock.h"

#include "test.h"

static void a_date_is_read_and_written(void **state)
{
    char out[CLOCK_TEXT];
    int64_t us = 0;

    (void)state;
    assert_true(clock_parse(STR("2025-02-04T11:00:00.05+01:00"), &us));
    assert_str(clock_format(out, us), STR("2025-02-04T10:00:00.050Z"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_date_is_read_and_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

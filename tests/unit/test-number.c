#include "test.h"
#include "json/number.h"

static void every_spelling_of_a_value_has_one_normal_form(void **state)
{
    static const char *const same[][8] = {
        { "125e-1", "12.5", "12.50", "0.125e2", "1250e-2", "12500.0E-3" },
        { "-125e-1", "-12.5", "-0.0125e+3" },
        { "1e3", "1000", "1000.0", "10e2", "0.001e6", "1E+3", "1e0003" },
        { "1e-3", "0.001", "0.0010", "1000e-6", "0.1e-2" },
        { "123456789012345678901234567891e0", "123456789012345678901234567891.000",
          "1234567890123456789012345678.91e2" },
        { "1e400", "10e399", "0.1e401" },
        { "1e99999999999999999999", "10e99999999999999999998", "0.1e100000000000000000000" },
        { "1e-99999999999999999999", "0.1e-99999999999999999998", "10e-100000000000000000000" },
        { "1e1000000000000000000", "10e999999999999999999", "100e999999999999999998" },
        { "1e999999999999999999", "0.1e1000000000000000000" },
        { "-1e-1000000000000000000", "-0.1e-999999999999999999" },
    };
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        for (size_t k = 0; k < 8 && same[i][k]; k++) {
            buf_clear(&b);
            json_number_normalize(str_z(same[i][k]), &b);
            assert_str(buf_str(&b), str_z(same[i][0]));
        }
    }
    buf_release(&b);
}

static void all_zeros_are_the_same(void **state)
{
    static const char *const zeros[] = { "0",     "-0",   "0.0",     "0e5",
                                         "0E-99", "-0.0", "0.000e1", "0e99999999999999999999" };
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        int64_t n = 1;
        buf_clear(&b);
        json_number_normalize(str_z(zeros[i]), &b);
        assert_str(buf_str(&b), STR("0"));
        assert_true(json_number_int(str_z(zeros[i]), &n));
        assert_int_equal(n, 0);
    }
    buf_release(&b);
}

static void integers_are_found_in_every_spelling(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        { "5", 5 },
        { "5.0", 5 },
        { "50e-1", 5 },
        { "-7", -7 },
        { "0.12e2", 12 },
        { "1e18", 1000000000000000000 },
        { "9223372036854775807", INT64_MAX },
        { "-9223372036854775808", INT64_MIN },
        { "922337203685477580700e-2", INT64_MAX },
        { "100000000000000000000000000000e-28", 10 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t n = 0;
        assert_true(json_number_int(str_z(rows[i].text), &n));
        assert_int_equal(n, rows[i].value);
    }
}

static void what_is_no_integer_or_does_not_fit_is_refused(void **state)
{
    static const char *const rows[] = {
        "0.5",
        "1e-1",
        "9223372036854775808",
        "-9223372036854775809",
        "1e19",
        "1e20",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "12345678901234567890123",
    };
    int64_t n = 42;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_false(json_number_int(str_z(rows[i]), &n));
    assert_int_equal(n, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_a_value_has_one_normal_form),
        cmocka_unit_test(all_zeros_are_the_same),
        cmocka_unit_test(integers_are_found_in_every_spelling),
        cmocka_unit_test(what_is_no_integer_or_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

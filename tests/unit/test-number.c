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

static void all_spellings_of_zero_are_equal(void **state)
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

static void a_fraction_or_too_large_number_is_rejected(void **state)
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

static void integers_of_any_size_are_recognized(void **state)
{
    static const char *const integers[] = { "0",
                                            "-0.0",
                                            "5",
                                            "5.0",
                                            "50e-1",
                                            "1e400",
                                            "-12345678901234567890123.00",
                                            "1e99999999999999999999" };
    static const char *const others[] = { "0.5",   "-5.01",  "1e-1",
                                          "55e-1", "1e-400", "1e-99999999999999999999" };

    (void)state;
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        assert_true(json_number_is_integer(str_z(integers[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(json_number_is_integer(str_z(others[i])));
}

static int order_of(const char *a, const char *b)
{
    int order;

    assert_true(json_number_compare(str_z(a), str_z(b), &order));
    return order < 0 ? -1 : order > 0;
}

static void numbers_are_compared_exactly(void **state)
{
    /* Ascending; every pair is compared both ways. */
    static const char *const rows[] = {
        "-1e400",
        "-1e399",
        "-10",
        "-9.5",
        "-1",
        "-0.1",
        "-1e-400",
        "0",
        "1e-999999999999999999",
        "1e-400",
        "0.1",
        "0.10000000000000000000000000000001",
        "0.9",
        "1",
        "1.5",
        "9",
        "10",
        "10.00000000000000000000000001",
        "99",
        "9007199254740992",
        "9007199254740993",
        "1e399",
        "1.1e399",
        "1e400",
        "1e999999999999999999",
    };
    static const char *const same[][2] = {
        { "0", "-0.0" },     { "1", "1.0" },      { "100", "1e2" },
        { "-0.5", "-5e-1" }, { "1200", "1.2e3" },
    };
    size_t count = sizeof rows / sizeof *rows;
    int order;

    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            assert_int_equal(order_of(rows[i], rows[k]), (i > k) - (i < k));
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_int_equal(order_of(same[i][0], same[i][1]), 0);
    assert_int_equal(order_of("-1", "1e99999999999999999999"), -1);
    assert_false(json_number_compare(STR("1"), STR("1e99999999999999999999"), &order));
}

static void multiples_are_exact_in_decimal(void **state)
{
    static const struct {
        const char *number, *of;
        bool want;
    } rows[] = {
        { "0", "7", true },
        { "14", "7", true },
        { "15", "7", false },
        { "-14", "7", true },
        { "14", "-7", true },
        { "0.3", "0.1", true },
        { "0.35", "0.1", false },
        { "4.5", "1.5", true },
        { "19.99", "0.01", true },
        { "19.995", "0.01", false },
        { "1e300", "3", false },
        { "3e300", "3", true },
        { "1e300", "0.125", true },
        { "10", "1e1", true },
        { "10", "1e2", false },
        { "1e2", "40", false },
        { "1e3", "40", true },
        { "2.0", "1", true },
        { "1e400", "1024", true },
        { "1e9", "1024", false },
        { "1e10", "1024", true },
        { "9007199254740993", "2", false },
        { "123456789012345678901234567890", "10", true },
        { "0.1", "0.25", false },
        { "1e999999999999999999", "7", false },
    };
    bool multiple;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(json_number_multiple(str_z(rows[i].number), str_z(rows[i].of), &multiple));
        if (multiple != rows[i].want)
            fail_msg("%s of %s", rows[i].number, rows[i].of);
    }
    assert_false(json_number_multiple(STR("1"), STR("0"), &multiple));
    assert_false(json_number_multiple(STR("1"), STR("1234567890123456789"), &multiple));
    assert_false(json_number_multiple(STR("1e99999999999999999999"), STR("3"), &multiple));
    assert_false(json_number_multiple(STR("1"), STR("1e99999999999999999999"), &multiple));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_a_value_has_one_normal_form),
        cmocka_unit_test(all_spellings_of_zero_are_equal),
        cmocka_unit_test(integers_are_found_in_every_spelling),
        cmocka_unit_test(a_fraction_or_too_large_number_is_rejected),
        cmocka_unit_test(integers_of_any_size_are_recognized),
        cmocka_unit_test(numbers_are_compared_exactly),
        cmocka_unit_test(multiples_are_exact_in_decimal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

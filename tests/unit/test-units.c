#include "base/units.h"

#include "test.h"

static void sizes_are_rounded_to_the_shown_digits(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *want;
    } cases[] = {
        { 0, "0 bytes" },
        { 1, "1 byte" },
        { 999, "999 bytes" },
        { 1000, "1.0 kB" },
        { 4149, "4.1 kB" },
        { 4150, "4.2 kB" },
        { 9949, "9.9 kB" },
        { 9950, "10 kB" },
        { 154499, "154 kB" },
        { 154500, "155 kB" },
        { 999499, "999 kB" },
        { 999500, "1.0 MB" },
        { 1073741824, "1.1 GB" },
        { UINT64_C(999499999999999999), "999 PB" },
        { UINT64_C(999500000000000000), "1.0 EB" },
        { UINT64_MAX, "18 EB" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b;
        buf_init(&b, 64);
        units_write_bytes(&b, cases[i].bytes);
        assert_str(buf_str(&b), str_z(cases[i].want));
        buf_release(&b);
    }
}

static void only_the_number_one_is_singular(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 256);
    units_write_count(&b, 0, "line", "lines");
    buf_add_ch(&b, ' ');
    units_write_count(&b, 1, "line", "lines");
    buf_add_ch(&b, ' ');
    units_write_count(&b, UINT64_MAX, "line", "lines");
    assert_str(buf_str(&b), STR("0 lines 1 line 18446744073709551615 lines"));
    buf_release(&b);
}

/* The units themselves are tested with the options that take them. */
static void usual_spellings_are_parsed(void **state)
{
    static const struct {
        const char *text;
        int64_t us; /* -1: refused */
    } cases[] = {
        { "0", 0 },
        { "12us", 12 },
        { "1m30s", 90000000 },
        { "1h2m3.5s", 3723500000 },
        { "30d", INT64_C(30) * 86400 * 1000 * 1000 },
        { "1.5ms", 1500 },
        { "9223372036854775807us", INT64_MAX },
        { "", -1 },
        { "5", -1 },
        { "1m30", -1 },
        { "ms", -1 },
        { "1.ms", -1 },
        { "-1s", -1 },
        { "1 s", -1 },
        { "1sec", -1 },
        { "9223372036854775808us", -1 },
        { "9223372036854775807us1us", -1 },
    };
    uint64_t bytes = 7;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t us = -1;
        assert_int_equal(units_parse_duration(str_z(cases[i].text), &us), cases[i].us >= 0);
        assert_int_equal(us, cases[i].us);
    }
    assert_true(units_parse_bytes(STR("1.0"), &bytes));
    assert_int_equal(bytes, 1);
    assert_true(units_parse_bytes(STR("1.5kB"), &bytes));
    assert_int_equal(bytes, 1500);
    assert_false(units_parse_bytes(STR("1MB1"), &bytes));
    assert_false(units_parse_bytes(STR("0.5"), &bytes));
    assert_false(units_parse_bytes(STR("0.0009kB"), &bytes));
    assert_false(units_parse_bytes(STR("1MB\0"), &bytes));
    assert_int_equal(bytes, 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_rounded_to_the_shown_digits),
        cmocka_unit_test(only_the_number_one_is_singular),
        cmocka_unit_test(usual_spellings_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

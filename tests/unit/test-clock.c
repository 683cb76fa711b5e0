#include "base/clock.h"

#include <stdio.h>

#include "test.h"

enum { S = 1000000 };

static void the_monotonic_clock_never_goes_back(void **state)
{
    int64_t last = clock_mono_us();

    (void)state;
    for (int i = 0; i < 10000; i++) {
        int64_t now = clock_mono_us();
        assert_true(now >= last);
        last = now;
    }
}

static void the_wall_clock_has_a_plausible_date(void **state)
{
    char out[CLOCK_TEXT_SIZE];

    (void)state;
    assert_true(str_cmp(clock_format(out, clock_wall_us()), STR("2024")) > 0);
    assert_true(str_cmp(clock_format(out, clock_wall_us()), STR("2200")) < 0);
}

static void times_are_written_in_utc(void **state)
{
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        { 0, "1970-01-01T00:00:00.000Z" },
        { 1, "1970-01-01T00:00:00.000001Z" },
        { 999, "1970-01-01T00:00:00.000999Z" },
        { 1000, "1970-01-01T00:00:00.001Z" },
        { -1, "1969-12-31T23:59:59.999999Z" },
        { -1000, "1969-12-31T23:59:59.999Z" },
        { INT64_C(-1) * S, "1969-12-31T23:59:59.000Z" },
        { INT64_C(1738663200) * S + 50000, "2025-02-04T10:00:00.050Z" },
        { INT64_C(1738663200) * S + 50001, "2025-02-04T10:00:00.050001Z" },
        { INT64_C(951782400) * S, "2000-02-29T00:00:00.000Z" },
        { INT64_C(253402300799) * S + 999999, "9999-12-31T23:59:59.999999Z" },
        { INT64_C(-62167219200) * S, "0000-01-01T00:00:00.000Z" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[CLOCK_TEXT_SIZE];
        int64_t back = 0;
        assert_str(clock_format(out, rows[i].us), str_z(rows[i].text));
        assert_true(clock_parse(str_z(rows[i].text), &back));
        assert_true(back == rows[i].us);
    }
}

static void times_without_a_four_digit_year_are_clamped(void **state)
{
    char out[CLOCK_TEXT_SIZE];

    (void)state;
    assert_str(clock_format(out, INT64_MAX), STR("9999-12-31T23:59:59.999999Z"));
    assert_str(clock_format(out, INT64_C(253402300800) * S),
               STR("9999-12-31T23:59:59.999999Z"));
    assert_str(clock_format(out, INT64_MIN), STR("0000-01-01T00:00:00.000Z"));
    assert_str(clock_format(out, INT64_C(-62167219200) * S - 1),
               STR("0000-01-01T00:00:00.000Z"));
}

/* From year 0 to 9999 in steps that meet every kind of second, day and fraction. */
static void a_written_time_is_read_back(void **state)
{
    const int64_t first = INT64_C(-62167219200) * S, last = INT64_C(253402300800) * S;

    (void)state;
    for (int64_t us = first; us < last; us += INT64_C(1000003) * 3600 * 1013 + 1) {
        char out[CLOCK_TEXT_SIZE];
        int64_t back = 0;
        struct str text = clock_format(out, us);
        if (!clock_parse(text, &back) || back != us)
            fail_msg("%.*s", STR_ARG(text));
    }
}

static void every_day_of_two_leap_cycles_follows_the_one_before(void **state)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int64_t want = 0;

    (void)state;
    for (int year = 1970; year < 2470; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        for (int month = 1; month <= 12; month++) {
            int count = days[month - 1] + (month == 2 && leap);
            for (int day = 1; day <= 32; day++) {
                char text[64], out[CLOCK_TEXT_SIZE];
                int64_t us;
                int n = snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00.000Z", year, month,
                                 day);
                bool ok = clock_parse(str_n(text, (size_t)n), &us);
                assert_int_equal(ok, day <= count);
                if (!ok)
                    continue;
                assert_true(us == want);
                assert_str(clock_format(out, us), str_n(text, (size_t)n));
                want += INT64_C(86400) * S;
            }
        }
    }
}

static void offsets_are_subtracted(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        { "1970-01-01T01:00:00+01:00", 0 },
        { "1969-12-31T16:00:00-08:00", 0 },
        { "1970-01-01T05:45:00+05:45", 0 },
        { "1970-01-01T00:00:00+00:00", 0 },
        { "1970-01-01T00:00:00-00:00", 0 },
        { "1970-01-01T23:59:00+23:59", 0 },
        { "1970-01-01T00:00:00-23:59", (INT64_C(24) * 3600 - 60) * S },
        { "0000-01-01T00:00:00+00:01", (INT64_C(-62167219200) - 60) * S },
        { "9999-12-31T23:59:59-00:01", (INT64_C(253402300799) + 60) * S },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t us = 1;
        if (!clock_parse(str_z(rows[i].text), &us) || us != rows[i].us)
            fail_msg("%s", rows[i].text);
    }
}

static void all_standard_spellings_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        { "1970-01-01t00:00:01z", S },
        { "1970-01-01 00:00:01Z", S },
        { "1970-01-01T00:00:01.5Z", 1500000 },
        { "1970-01-01T00:00:01.000001Z", 1000001 },
        { "1970-01-01T00:00:01.0000019Z", 1000001 },
        { "1970-01-01T00:00:01.99999999999999999999999999Z", 1999999 },
        { "1969-12-31T23:59:59.9999999Z", -1 },
        { "1972-06-30T23:59:60Z", INT64_C(78796800) * S }, /* a leap second */
        { "1972-06-30T23:59:60.25Z", INT64_C(78796800) * S + 250000 },
        { "1972-06-30T15:59:60-08:00", INT64_C(78796800) * S },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t us = 0;
        if (!clock_parse(str_z(rows[i].text), &us) || us != rows[i].us)
            fail_msg("%s", rows[i].text);
    }
}

static void an_invalid_date_is_rejected_and_sets_nothing(void **state)
{
    static const char *const texts[] = {
        "",
        "now",
        "2025",
        "2025-02-04",
        "2025-02-04T10:00Z",
        "2025-02-04T10:00:00",   /* no offset */
        "2025-02-04T10:00:00.Z", /* no digits */
        "2025-02-04T10:00:00,5Z",
        "2025-02-04T10:00:00Zx",
        "2025-02-04T10:00:00Z ",
        " 2025-02-04T10:00:00Z",
        "2025-02-04X10:00:00Z",
        "2025-02-04T10:00:00+1:00",
        "2025-02-04T10:00:00+0100",
        "2025-02-04T10:00:00+01",
        "2025-02-04T10:00:00+24:00",
        "2025-02-04T10:00:00+01:60",
        "2025-02-04T10:00:00*01:00",
        "2025-00-04T10:00:00Z",
        "2025-13-04T10:00:00Z",
        "2025-02-00T10:00:00Z",
        "2025-02-29T10:00:00Z",
        "2100-02-29T10:00:00Z",
        "2025-04-31T10:00:00Z",
        "2025-02-04T24:00:00Z",
        "2025-02-04T10:60:00Z",
        "2025-02-04T10:00:61Z",
        "2025-02-04T10:00:60Z", /* no leap second comes at ten */
        "2025-02-04T23:59:60+01:00",
        "25-02-04T10:00:00Z",
        "02025-02-04T10:00:00Z",
        "+2025-02-04T10:00:00Z",
        "-025-02-04T10:00:00Z",
        "2025-2-4T10:00:00Z",
        "2025-02-04T1:00:00Z",
        "2025-02-04T 1:00:00Z",
        "2025-02-04T10:00:0xZ",
        "20250204T100000Z",
        "2025-02-04T10:00:00Z\xff",
    };
    int64_t us = 42;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (clock_parse(str_z(texts[i]), &us))
            fail_msg("'%s' was read", texts[i]);
    }
    assert_false(clock_parse(STR_NONE, &us));
    assert_false(clock_parse(STR("2025-02-04\0"
                                 "10:00:00Z"),
                             &us));
    assert_false(clock_parse(STR("2025-02-04T10:00:00Z\0"), &us));
    assert_true(us == 42);
}

/* No beginning of a date is one, and none is read beyond its end. */
static void a_truncated_date_is_invalid(void **state)
{
    const struct str whole = STR("2025-02-04T10:00:00.123456+01:00");
    int64_t us;

    (void)state;
    for (size_t len = 0; len < whole.len; len++)
        assert_false(clock_parse(str_n(whole.at, len), &us));
    assert_true(clock_parse(whole, &us));
}

static void the_date_of_http_is_read(void **state)
{
    int64_t want, us = 0;

    (void)state;
    assert_true(clock_parse(STR("2026-11-15T21:00:09Z"), &want));
    assert_true(clock_parse_http(STR("Sun, 15 Nov 2026 21:00:09 GMT"), &us));
    assert_int_equal(us, want);
    assert_false(clock_parse_http(STR("Sun, 15 Nov 2026 21:00:09 UTC"), &us));
    assert_false(clock_parse_http(STR("Sun, 31 Nov 2026 21:00:09 GMT"), &us));
    assert_false(clock_parse_http(STR("Sun, 15 ovD 2026 21:00:09 GMT"), &us));
    assert_false(clock_parse_http(STR("Sun, 15 Nov 2026 25:00:09 GMT"), &us));
    assert_false(clock_parse_http(STR("soon"), &us));
    assert_false(clock_parse_http(STR_NONE, &us));
}

static void durations_are_formatted_with_units(void **state)
{
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        { 0, "0 us" },
        { 1, "1 us" },
        { 840, "840 us" },
        { 999, "999 us" },
        { 1000, "1.0 ms" },
        { 1049, "1.0 ms" },
        { 1050, "1.1 ms" },
        { 9949, "9.9 ms" },
        { 9950, "10 ms" },
        { 12000, "12 ms" },
        { 12499, "12 ms" },
        { 12500, "13 ms" },
        { 999499, "999 ms" },
        { 999500, "1.0 s" },
        { 3400000, "3.4 s" },
        { 59949999, "59.9 s" },
        { 59950000, "1 min 0 s" },
        { 125000000, "2 min 5 s" },
        { INT64_C(3599) * S, "59 min 59 s" },
        { INT64_C(3599) * S + 500000, "1 h 0 min" },
        { INT64_C(12000) * S, "3 h 20 min" },
        { INT64_C(86400) * S * 30, "720 h 0 min" },
        { INT64_MAX, "2562047788 h 1 min" },
        { -840, "-840 us" },
        { -3400000, "-3.4 s" },
        { INT64_MIN, "-2562047788 h 1 min" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[CLOCK_TEXT_SIZE];
        assert_str(clock_format_duration(out, rows[i].us), str_z(rows[i].text));
    }
}

static void extreme_times_do_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(clock_add(5, -7), -2);
    assert_int_equal(clock_add(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(clock_add(INT64_MIN, -1), INT64_MIN);
    assert_int_equal(clock_since(5, 7), -2);
    assert_int_equal(clock_since(INT64_MAX, -1), INT64_MAX);
    assert_int_equal(clock_since(-2, INT64_MAX), INT64_MIN);
    assert_int_equal(clock_ms_to_us(7), 7000);
    assert_int_equal(clock_ms_to_us(INT64_MAX / 1000), INT64_MAX / 1000 * 1000);
    assert_int_equal(clock_ms_to_us(INT64_MAX / 1000 + 1), INT64_MAX);
    assert_int_equal(clock_ms_to_us(UINT64_MAX), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
        cmocka_unit_test(the_wall_clock_has_a_plausible_date),
        cmocka_unit_test(times_are_written_in_utc),
        cmocka_unit_test(times_without_a_four_digit_year_are_clamped),
        cmocka_unit_test(a_written_time_is_read_back),
        cmocka_unit_test(every_day_of_two_leap_cycles_follows_the_one_before),
        cmocka_unit_test(offsets_are_subtracted),
        cmocka_unit_test(all_standard_spellings_are_read),
        cmocka_unit_test(an_invalid_date_is_rejected_and_sets_nothing),
        cmocka_unit_test(a_truncated_date_is_invalid),
        cmocka_unit_test(the_date_of_http_is_read),
        cmocka_unit_test(durations_are_formatted_with_units),
        cmocka_unit_test(extreme_times_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

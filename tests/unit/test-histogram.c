#include "base/histogram.h"

#include <stdlib.h>

#include "assert-aborts.h"
#include "test.h"

static void an_empty_histogram_has_no_quantiles(void **state)
{
    struct histogram h = { 0 };

    (void)state;
    assert_int_equal(histogram_quantile(&h, 50), 0);
    assert_int_equal(histogram_quantile(&h, 100), 0);
}

static void small_numbers_are_exact(void **state)
{
    struct histogram h = { 0 };

    (void)state;
    for (uint64_t n = 0; n < 16; n++)
        histogram_add(&h, n);
    assert_int_equal(histogram_quantile(&h, 50), 7);
    assert_int_equal(histogram_quantile(&h, 75), 11);
    assert_int_equal(histogram_quantile(&h, 1), 0);
    assert_int_equal(histogram_quantile(&h, 100), 15);
}

static void minimum_and_maximum_are_exact(void **state)
{
    struct histogram h = { 0 };

    (void)state;
    histogram_add(&h, 987654321);
    assert_int_equal(histogram_quantile(&h, 50), 987654321);
    histogram_add(&h, 123456789);
    assert_int_equal(histogram_quantile(&h, 50), 123456789);
    assert_int_equal(histogram_quantile(&h, 95), 987654321);
    assert_int_equal(h.max, 987654321);
    assert_int_equal(h.min, 123456789);
}

/* Between a lesser and a greater number the bucket decides alone. */
static uint64_t seen_as(uint64_t n)
{
    struct histogram h = { 0 };

    histogram_add(&h, 0);
    histogram_add(&h, n);
    histogram_add(&h, UINT64_MAX);
    return histogram_quantile(&h, 50);
}

static void the_relative_error_is_at_most_a_32nd(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < UINT64_C(1) << HISTOGRAM_TOP; n += 1 + n / 97) {
        uint64_t seen = seen_as(n), off = seen > n ? seen - n : n - seen;
        if (off * 32 > n)
            fail_msg("%llu is seen as %llu", (unsigned long long)n, (unsigned long long)seen);
    }
}

static void the_limits_of_buckets_are_in_their_bucket(void **state)
{
    (void)state;
    for (unsigned bit = 4; bit < HISTOGRAM_TOP; bit++) {
        uint64_t n = UINT64_C(1) << bit;
        assert_true(seen_as(n) >= n);
        assert_true(seen_as(n - 1) < n);
    }
}

static void values_over_the_maximum_share_a_bucket(void **state)
{
    (void)state;
    assert_int_equal(seen_as(UINT64_C(1) << HISTOGRAM_TOP), seen_as(UINT64_MAX));
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void quantiles_are_those_of_a_sorted_list(void **state)
{
    enum { MANY = 1234 };
    static const unsigned percents[] = { 1, 5, 50, 90, 95, 99, 100 };
    struct histogram h = { 0 };
    uint64_t all[MANY], random = 7;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        all[i] = (random >> 33) % 5000000;
        histogram_add(&h, all[i]);
    }
    qsort(all, MANY, sizeof *all, by_value);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        uint64_t want = all[(MANY * percents[i] + 99) / 100 - 1];
        uint64_t got = histogram_quantile(&h, percents[i]);
        assert_true((got > want ? got - want : want - got) * 32 <= want);
    }
}

static void merged_histograms_are_that_of_all_numbers(void **state)
{
    struct histogram all = { 0 }, a = { 0 }, b = { 0 }, none = { 0 };

    (void)state;
    for (uint64_t n = 1; n < 1000; n++) {
        histogram_add(&all, n * n);
        histogram_add(n % 3 ? &a : &b, n * n);
    }
    histogram_merge(&a, &none);
    histogram_merge(&none, &b);
    histogram_merge(&a, &none);
    assert_memory_equal(&a, &all, sizeof all);
}

static void get_quantile_of_none(void)
{
    const struct histogram h = { 0 };

    histogram_quantile(&h, 0);
}

static void get_quantile_over_all(void)
{
    const struct histogram h = { 0 };

    histogram_quantile(&h, 101);
}

static void an_invalid_percentage_is_a_bug(void **state)
{
    (void)state;
    assert_aborts(get_quantile_of_none, "bug at");
    assert_aborts(get_quantile_over_all, "bug at");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_histogram_has_no_quantiles),
        cmocka_unit_test(small_numbers_are_exact),
        cmocka_unit_test(minimum_and_maximum_are_exact),
        cmocka_unit_test(the_relative_error_is_at_most_a_32nd),
        cmocka_unit_test(the_limits_of_buckets_are_in_their_bucket),
        cmocka_unit_test(values_over_the_maximum_share_a_bucket),
        cmocka_unit_test(quantiles_are_those_of_a_sorted_list),
        cmocka_unit_test(merged_histograms_are_that_of_all_numbers),
        cmocka_unit_test(an_invalid_percentage_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

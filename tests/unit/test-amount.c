#include "base/amount.h"

#include "test.h"

static void sizes_are_rounded_to_what_is_shown(void **state)
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
        amount_bytes(&b, cases[i].bytes);
        assert_str(buf_str(&b), str_z(cases[i].want));
        buf_release(&b);
    }
}

static void only_one_is_singular(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 256);
    amount_of(&b, 0, "line", "lines");
    buf_add_ch(&b, ' ');
    amount_of(&b, 1, "line", "lines");
    buf_add_ch(&b, ' ');
    amount_of(&b, UINT64_MAX, "line", "lines");
    assert_str(buf_str(&b), STR("0 lines 1 line 18446744073709551615 lines"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_rounded_to_what_is_shown),
        cmocka_unit_test(only_one_is_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

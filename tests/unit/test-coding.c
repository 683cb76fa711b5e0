#include "wire/coding.h"

#include "test.h"

static void assert_narrowed(const char *from, const char *to)
{
    struct buf b;

    buf_init(&b, 1 << 10);
    coding_narrow(&b, str_z(from));
    assert_str(buf_str(&b), str_z(to));
    buf_release(&b);
}

static void what_can_be_read_stays_as_it_was_said(void **state)
{
    (void)state;
    assert_narrowed("gzip", "gzip");
    assert_narrowed("GZip;q=0.5 , zstd;q=1", "GZip;q=0.5, zstd;q=1");
    assert_narrowed("x-gzip, identity;q=0", "x-gzip, identity;q=0");
}

static void what_cannot_be_read_is_not_offered(void **state)
{
    (void)state;
    assert_narrowed("gzip, deflate, br, zstd", "gzip, zstd");
    assert_narrowed("br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip;q=0.8");
    assert_narrowed("gzipped", "identity");
}

static void if_nothing_is_left_it_is_not_to_be_packed(void **state)
{
    (void)state;
    assert_narrowed("br, deflate", "identity");
    assert_narrowed("*", "identity");
    assert_narrowed("", "identity");
    assert_narrowed(" , ", "identity");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_read_stays_as_it_was_said),
        cmocka_unit_test(what_cannot_be_read_is_not_offered),
        cmocka_unit_test(if_nothing_is_left_it_is_not_to_be_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

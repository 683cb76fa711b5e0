#include "format/span-ids.h"

#include <stdlib.h>

#include "test.h"

enum { MANY = 100000 };

static struct span_ids ids_of(const char *seed)
{
    struct span_ids s = { 0 };

    span_ids_add(&s, str_z(seed));
    return s;
}

static void assert_shape(struct uuid id)
{
    struct buf text;

    buf_init(&text, 64);
    span_ids_write_uuid(&text, id);
    assert_true(span_ids_is_uuid(buf_str(&text)));
    buf_release(&text);
}

static bool same(struct uuid a, struct uuid b)
{
    return a.high == b.high && a.low == b.low;
}

static void ids_depend_on_the_seed_only(void **state)
{
    struct span_ids a = ids_of("a"), again = ids_of("a"), b = ids_of("b");

    (void)state;
    assert_true(same(span_ids_trace(&a), span_ids_trace(&again)));
    assert_true(same(span_ids_span(&a, 7), span_ids_span(&again, 7)));
    assert_false(same(span_ids_trace(&a), span_ids_trace(&b)));
    assert_false(same(span_ids_span(&a, 7), span_ids_span(&b, 7)));
    span_ids_add(&a, STR("more"));
    assert_false(same(span_ids_trace(&a), span_ids_trace(&again)));
}

static void all_ids_have_the_shape_of_version_4(void **state)
{
    struct span_ids s = ids_of("a");

    (void)state;
    assert_shape(span_ids_trace(&s));
    assert_shape(span_ids_context(&s));
    assert_false(same(span_ids_trace(&s), span_ids_context(&s)));
    for (uint64_t n = 0; n < 100; n++) {
        assert_shape(span_ids_span(&s, n));
        assert_shape(span_ids_event(&s, n));
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void spans_of_a_trace_never_have_the_same_short_id(void **state)
{
    struct span_ids s = ids_of("a");
    uint64_t *short_ids = calloc(MANY, sizeof *short_ids);

    (void)state;
    for (uint64_t n = 0; n < MANY; n++)
        short_ids[n] = span_ids_span(&s, n).high;
    qsort(short_ids, MANY, sizeof *short_ids, compare);
    for (size_t n = 1; n < MANY; n++)
        assert_true(short_ids[n] != short_ids[n - 1]);
    free(short_ids);
}

static void a_uuid_is_written_and_recognized(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 64);
    span_ids_write_uuid(&text, (struct uuid){ 0x550e8400e29b41d4u, 0xa716446655440000u });
    assert_str(buf_str(&text), STR("550e8400-e29b-41d4-a716-446655440000"));
    assert_true(span_ids_is_uuid(buf_str(&text)));
    buf_clear(&text);
    span_ids_write_hex(&text, 0x0a1);
    assert_str(buf_str(&text), STR("00000000000000a1"));
    buf_release(&text);
    assert_false(span_ids_is_uuid(STR("550E8400-e29b-41d4-a716-446655440000")));
    assert_false(span_ids_is_uuid(STR("550e8400-e29b-51d4-a716-446655440000")));
    assert_false(span_ids_is_uuid(STR("550e8400-e29b-41d4-c716-446655440000")));
    assert_false(span_ids_is_uuid(STR("550e8400-e29b-41d4-a716-44665544000")));
    assert_false(span_ids_is_uuid(STR("550e8400+e29b-41d4-a716-446655440000")));
    assert_false(span_ids_is_uuid(STR_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_depend_on_the_seed_only),
        cmocka_unit_test(all_ids_have_the_shape_of_version_4),
        cmocka_unit_test(spans_of_a_trace_never_have_the_same_short_id),
        cmocka_unit_test(a_uuid_is_written_and_recognized),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

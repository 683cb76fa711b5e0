#include "base/mem.h"

#include <stdlib.h>

#include "assert-aborts.h"
#include "test.h"

static void new_memory_is_zeroed(void **state)
{
    (void)state;
    for (size_t size = 0; size < 300; size += 13) {
        unsigned char *at = mem_alloc(size);
        assert_non_null(at);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(at[i], 0);
        free(at);
    }
}

static void growing_keeps_the_content(void **state)
{
    char *at = mem_grow(NULL, 4);

    (void)state;
    memcpy(at, "abc", 4);
    at = mem_grow(at, 100000);
    assert_string_equal(at, "abc");
    at = mem_grow(at, 0); /* still an allocation */
    assert_non_null(at);
    free(at);
}

static void reserving_grows_by_doubling_and_never_shrinks(void **state)
{
    uint32_t *at = NULL;
    size_t cap = 0, grown = 0;

    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        size_t before = cap;
        at = mem_reserve(at, &cap, i + 1, sizeof *at);
        assert_true(cap > i);
        grown += cap != before;
        at[i] = i;
    }
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(at[i], i);
    assert_true(grown <= 14);
    assert_ptr_equal(mem_reserve(at, &cap, 1, sizeof *at), at);
    assert_true(cap >= 100000);
    free(at);
}

static void a_large_need_is_one_allocation(void **state)
{
    size_t cap = 0;
    char *at = mem_reserve(NULL, &cap, 1000001, 1);

    (void)state;
    assert_true(cap >= 1000001);
    memset(at, 'x', 1000001);
    free(at);
}

static void a_typed_allocation_has_the_size_of_its_type(void **state)
{
    uint64_t *n = mem_new(uint64_t);

    (void)state;
    assert_int_equal(*n, 0);
    *n = UINT64_MAX;
    free(n);
}

static void reserve_more_bytes_than_there_are_addresses(void)
{
    size_t cap = 0;

    mem_reserve(NULL, &cap, SIZE_MAX / 2, 8);
}

static void reserve_all_addresses(void)
{
    size_t cap = 0;

    mem_reserve(NULL, &cap, SIZE_MAX, 2);
}

static void eight_bytes_are_read_at_any_alignment(void **state)
{
    static const char bytes[] = "x\x01\x02\x03\x04\x05\x06\x07\xf8";

    (void)state;
    assert_true(mem_load64(bytes + 1) == UINT64_C(0xf807060504030201));
}

/* A sanitizer is to refuse it, too, and not to end the test. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void a_too_large_size_is_rejected_and_the_memory_stays(void **state)
{
    char *at = mem_try_grow(NULL, MEM_LARGE);

    (void)state;
    assert_non_null(at);
    at[0] = 'a';
    assert_null(mem_try_grow(at, SIZE_MAX / 4));
    assert_int_equal(at[0], 'a');
    free(at);
}

static void an_overflowing_product_is_out_of_memory(void **state)
{
    (void)state;
    assert_aborts(reserve_more_bytes_than_there_are_addresses, "mcpreel: out of memory\n");
    assert_aborts(reserve_all_addresses, "mcpreel: out of memory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_memory_is_zeroed),
        cmocka_unit_test(growing_keeps_the_content),
        cmocka_unit_test(reserving_grows_by_doubling_and_never_shrinks),
        cmocka_unit_test(a_large_need_is_one_allocation),
        cmocka_unit_test(a_typed_allocation_has_the_size_of_its_type),
        cmocka_unit_test(eight_bytes_are_read_at_any_alignment),
        cmocka_unit_test(a_too_large_size_is_rejected_and_the_memory_stays),
        cmocka_unit_test(an_overflowing_product_is_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

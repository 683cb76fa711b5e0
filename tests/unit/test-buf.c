#include "base/buf.h"

#include <stdio.h>

#include "assert-aborts.h"
#include "test.h"

static void added_text_is_stored_in_order(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 1000);
    assert_str(buf_str(&b), STR(""));
    buf_add(&b, STR("ab"));
    buf_add(&b, STR_NONE);
    buf_add_ch(&b, '\0');
    buf_printf(&b, "%d-%s", 42, "x");
    assert_str(buf_str(&b), STR("ab\0"
                                "42-x"));
    buf_release(&b);
}

static void printing_takes_any_length(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100000);
    for (int width = 250; width < 260; width++) { /* around the size of the quick way */
        buf_clear(&b);
        buf_add_ch(&b, '<');
        buf_printf(&b, "%*s>", width, "x");
        assert_int_equal(b.len, width + 2);
        assert_true(str_ends(buf_str(&b), STR(" x>")));
    }
    buf_clear(&b);
    buf_printf(&b, "%050000d", 7);
    assert_int_equal(b.len, 50000);
    buf_release(&b);
}

static void an_integer_is_added_in_decimal(void **state)
{
    static const int64_t numbers[] = { 0, 7, -7, 10, -10, 1234567890, INT64_MAX, INT64_MIN };
    struct buf b;

    (void)state;
    buf_init(&b, 20);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char want[32];
        snprintf(want, sizeof want, "%lld", (long long)numbers[i]);
        buf_clear(&b);
        buf_add_int(&b, numbers[i]);
        assert_str(buf_str(&b), str_z(want));
    }
    buf_add_int(&b, 1); /* the least of all filled it to the brim */
    assert_true(b.full);
    assert_int_equal(b.len, 20);
    buf_release(&b);
}

static void any_byte_can_be_percent_encoded(void **state)
{
    char all[256];
    struct str rest;
    struct buf b;

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    buf_init(&b, 1024);
    buf_add_percent(&b, str_n(all, sizeof all));
    rest = buf_str(&b);
    for (int i = 0; i < 256; i++) {
        char c = rest.at[0];

        rest = str_skip(rest, str_parse_percent(rest, &c) ? 3 : 1);
        assert_int_equal(c, all[i]);
    }
    assert_int_equal(rest.len, 0);
    buf_clear(&b);
    buf_add_percent(&b, STR("http://h:1/a b~c-d_e.f\xff"));
    assert_str(buf_str(&b), STR("http%3A%2F%2Fh%3A1%2Fa%20b~c-d_e.f%FF"));
    buf_release(&b);
}

static void a_buffer_can_be_filled_to_its_limit_exactly(void **state)
{
    struct err e = ERR_NONE;
    struct buf b;

    (void)state;
    buf_init(&b, 5);
    buf_add(&b, STR("12345"));
    assert_true(buf_ok(&b, &e));
    assert_int_equal(e.kind, ERR_OK);
    buf_add(&b, STR_NONE);
    assert_true(buf_ok(&b, &e));
    buf_add_ch(&b, '6');
    assert_str(buf_str(&b), STR("12345"));
    assert_false(buf_ok(&b, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.msg, "more than 5 bytes");
    buf_release(&b);
}

static void an_addition_over_the_limit_adds_nothing_and_is_remembered(void **state)
{
    struct err e = ERR_NONE;
    struct buf b;

    (void)state;
    buf_init(&b, 5);
    buf_add(&b, STR("123"));
    buf_add(&b, STR("456"));
    assert_true(b.full);
    buf_add_ch(&b, '4'); /* would fit, but then the text had a hole */
    buf_printf(&b, "%d", 5);
    buf_printf(&b, "%0300d", 5);
    assert_null(buf_reserve(&b, 0));
    assert_str(buf_str(&b), STR("123"));
    assert_false(buf_ok(&b, &e));
    buf_clear(&b);
    assert_true(buf_ok(&b, &e));
    buf_add(&b, STR("12345"));
    assert_str(buf_str(&b), STR("12345"));
    buf_release(&b);
}

static void printing_respects_the_limit(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 300);
    buf_printf(&b, "%0300d", 1);
    assert_false(b.full);
    assert_int_equal(b.len, 300);
    buf_clear(&b);
    buf_printf(&b, "%0301d", 1);
    assert_true(b.full);
    assert_int_equal(b.len, 0);
    buf_release(&b);
}

static void a_huge_addition_does_not_overflow(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    buf_add(&b, STR("12345"));
    assert_null(buf_reserve(&b, SIZE_MAX));
    assert_true(b.full);
    buf_release(&b);
}

static void a_caller_may_fill_space_itself(void **state)
{
    struct buf b;
    char *at;

    (void)state;
    buf_init(&b, 10);
    buf_add(&b, STR("ab"));
    at = buf_reserve(&b, 8);
    assert_non_null(at);
    memcpy(at, "cdef", 4);
    assert_str(buf_str(&b), STR("ab")); /* not before buf_commit() */
    buf_commit(&b, 4);
    assert_str(buf_str(&b), STR("abcdef"));
    assert_null(buf_reserve(&b, 5));
    buf_release(&b);
}

static void add_more_than_was_reserved(void)
{
    struct buf b;

    buf_init(&b, 1000);
    buf_reserve(&b, 4);
    buf_commit(&b, 1000);
}

static void growing_beyond_the_space_is_a_bug(void **state)
{
    (void)state;
    assert_aborts(add_more_than_was_reserved, "bug at");
}

static void bytes_can_be_dropped_from_the_front(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 10);
    buf_add(&b, STR("abcdef"));
    buf_drop_front(&b, 0);
    assert_str(buf_str(&b), STR("abcdef"));
    buf_drop_front(&b, 4);
    assert_str(buf_str(&b), STR("ef"));
    buf_add(&b, STR("12345678"));
    assert_str(buf_str(&b), STR("ef12345678"));
    buf_drop_front(&b, 10);
    assert_str(buf_str(&b), STR(""));
    buf_release(&b);
}

static void drop_more_than_there_is(void)
{
    struct buf b;

    buf_init(&b, 10);
    buf_add(&b, STR("abc"));
    buf_drop_front(&b, 4);
}

static void dropping_more_than_the_content_is_a_bug(void **state)
{
    (void)state;
    assert_aborts(drop_more_than_there_is, "n > b->len");
}

static void a_full_buffer_can_be_nul_terminated(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 3);
    assert_string_equal(buf_z(&b), "");
    buf_add(&b, STR("abc"));
    assert_string_equal(buf_z(&b), "abc");
    buf_add_ch(&b, 'd');
    assert_string_equal(buf_z(&b), "abc");
    assert_int_equal(b.len, 3);
    buf_release(&b);
}

static void a_released_buffer_keeps_its_limit(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 3);
    buf_add(&b, STR("abc"));
    buf_release(&b);
    buf_release(&b);
    assert_int_equal(b.len, 0);
    buf_add(&b, STR("abcd"));
    assert_true(b.full);
    buf_release(&b);
}

static void memory_is_moved_between_buffers(void **state)
{
    struct buf a, b, spare;
    const char *memory;

    (void)state;
    buf_init(&a, 5);
    buf_init(&b, 3);
    buf_init(&spare, 0);
    buf_take_spare(&a, &spare);
    buf_add(&a, STR("abcde"));
    memory = a.at;
    buf_return_spare(&a, &spare);
    assert_int_equal(a.len, 0);
    assert_null(a.at);
    buf_take_spare(&b, &spare);
    assert_null(spare.at);
    buf_add(&b, STR("xyz"));
    assert_ptr_equal(b.at, memory);
    buf_take_spare(&b, &spare);
    assert_string_equal(buf_z(&b), "xyz");
    buf_add(&b, STR("x"));
    assert_true(b.full); /* the ceiling is its own */
    buf_take_spare(&b, &spare);
    assert_true(b.full);
    buf_return_spare(&b, &spare);
    assert_false(b.full);
    buf_add(&a, STR("abcde"));
    assert_false(a.full);
    buf_release(&a);
    buf_release(&b);
    buf_release(&spare);
}

static void large_memory_and_a_second_block_are_not_kept(void **state)
{
    struct buf a, b, spare;
    const char *memory;

    (void)state;
    buf_init(&a, 1 << 20);
    buf_init(&b, 3);
    buf_init(&spare, 0);
    buf_reserve(&a, BUF_SPARE_MAX);
    buf_return_spare(&a, &spare);
    assert_null(spare.at);
    buf_add(&a, STR("abc"));
    buf_add(&b, STR("abc"));
    memory = a.at;
    buf_return_spare(&a, &spare);
    buf_return_spare(&b, &spare);
    assert_ptr_equal(spare.at, memory);
    assert_null(b.at);
    buf_release(&spare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_text_is_stored_in_order),
        cmocka_unit_test(printing_takes_any_length),
        cmocka_unit_test(an_integer_is_added_in_decimal),
        cmocka_unit_test(any_byte_can_be_percent_encoded),
        cmocka_unit_test(a_buffer_can_be_filled_to_its_limit_exactly),
        cmocka_unit_test(an_addition_over_the_limit_adds_nothing_and_is_remembered),
        cmocka_unit_test(printing_respects_the_limit),
        cmocka_unit_test(a_huge_addition_does_not_overflow),
        cmocka_unit_test(a_caller_may_fill_space_itself),
        cmocka_unit_test(growing_beyond_the_space_is_a_bug),
        cmocka_unit_test(bytes_can_be_dropped_from_the_front),
        cmocka_unit_test(dropping_more_than_the_content_is_a_bug),
        cmocka_unit_test(a_full_buffer_can_be_nul_terminated),
        cmocka_unit_test(a_released_buffer_keeps_its_limit),
        cmocka_unit_test(memory_is_moved_between_buffers),
        cmocka_unit_test(large_memory_and_a_second_block_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

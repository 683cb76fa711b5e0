#include "base/arena.h"

#include <stdalign.h>

#include "assert-aborts.h"
#include "test.h"

enum { BLOCK_BYTES = 16384 }; /* as the arena has it: the tests go around its edge */

static bool is_zero(const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (at[i])
            return false;
    }
    return true;
}

static void allocations_are_zeroed_aligned_and_separate(void **state)
{
    static const size_t sizes[] = {
        0, 1, 7, 15, 16, 17, 100, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3
    };
    enum { SIZES = sizeof sizes / sizeof *sizes, ROUNDS = 20 };
    struct arena a = { NULL, 0 };
    unsigned char *at[ROUNDS * SIZES];

    (void)state;
    for (size_t i = 0; i < ROUNDS * SIZES; i++) {
        at[i] = arena_alloc(&a, sizes[i % SIZES]);
        assert_non_null(at[i]);
        assert_int_equal((uintptr_t)at[i] % alignof(max_align_t), 0);
        assert_true(is_zero((const char *)at[i], sizes[i % SIZES]));
        memset(at[i], (int)i, sizes[i % SIZES]);
    }
    for (size_t i = 0; i < ROUNDS * SIZES; i++) {
        for (size_t n = 0; n < sizes[i % SIZES]; n++)
            assert_int_equal(at[i][n], (unsigned char)i);
    }
    arena_release(&a);
}

static void a_copy_is_separate_and_nul_terminated(void **state)
{
    struct arena a = { NULL, 0 };
    char original[] = "be\0fore";
    struct str s = arena_str(&a, str_n(original, 7));
    char *z = arena_z(&a, str_n(original, 2));

    (void)state;
    memset(original, 'x', sizeof original);
    assert_str(s, STR("be\0fore"));
    assert_int_equal(s.at[7], '\0');
    assert_string_equal(z, "be");
    assert_string_equal(arena_z(&a, STR_NONE), "");
    assert_int_equal(arena_str(&a, STR_NONE).len, 0);
    arena_release(&a);
}

static void printing_takes_any_length(void **state)
{
    static const int widths[] = { 1, 15, 16, 255, 256, BLOCK_BYTES, 3 * BLOCK_BYTES };
    struct arena a = { NULL, 0 };

    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct str s = arena_printf(&a, "%*s|%d", widths[i], "x", 7);
        assert_int_equal(s.len, widths[i] + 2);
        assert_true(str_ends(s, STR("x|7")));
        assert_int_equal(s.at[s.len], '\0');
    }
    arena_release(&a);
}

static void a_typed_allocation_has_the_size_of_its_type(void **state)
{
    struct arena a = { NULL, 0 };
    struct pair {
        uint64_t first, second;
    } *one = arena_new(&a, struct pair), *two = arena_new(&a, struct pair);

    (void)state;
    *one = (struct pair){ 1, 2 };
    *two = (struct pair){ 3, 4 };
    assert_int_equal(one->second, 2);
    arena_release(&a);
}

static void clearing_keeps_one_block_and_hands_it_out_zeroed(void **state)
{
    struct arena a = { NULL, 0 };
    void *first;

    (void)state;
    arena_clear(&a); /* nothing in it yet */
    for (int i = 0; i < 10; i++)
        memset(arena_alloc(&a, BLOCK_BYTES / 2), 'x', BLOCK_BYTES / 2);
    assert_int_equal(a.block_bytes,
                     BLOCK_BYTES / 2 + 5 * BLOCK_BYTES); /* the first as small as may be */
    arena_clear(&a);
    assert_int_equal(a.block_bytes, BLOCK_BYTES);
    first = arena_alloc(&a, BLOCK_BYTES);
    assert_true(is_zero(first, BLOCK_BYTES));
    assert_int_equal(a.block_bytes, BLOCK_BYTES);
    arena_clear(&a);
    assert_ptr_equal(arena_alloc(&a, 1), first);
    arena_release(&a);
}

static void clearing_frees_a_huge_block(void **state)
{
    struct arena a = { NULL, 0 };

    (void)state;
    arena_alloc(&a, 100 * BLOCK_BYTES);
    assert_int_equal(a.block_bytes, 100 * BLOCK_BYTES);
    arena_clear(&a);
    assert_int_equal(a.block_bytes, 0);
    assert_non_null(arena_alloc(&a, 1));
    arena_release(&a);
}

static void small_allocations_take_little_memory(void **state)
{
    struct arena a = { NULL, 0 };

    (void)state;
    for (int i = 0; i < 10; i++)
        arena_str(&a, STR("application/json"));
    assert_true(a.block_bytes <= 1024);
    arena_alloc(&a, 1024);
    assert_true(a.block_bytes > BLOCK_BYTES);
    arena_clear(&a);
    assert_int_equal(a.block_bytes, BLOCK_BYTES);
    arena_release(&a);
}

static void a_released_arena_can_be_used_again(void **state)
{
    struct arena a = { NULL, 0 };

    (void)state;
    arena_alloc(&a, 5);
    arena_release(&a);
    arena_release(&a);
    assert_int_equal(a.block_bytes, 0);
    assert_str(arena_str(&a, STR("again")), STR("again"));
    arena_release(&a);
}

static void a_clipped_copy_ends_between_characters(void **state)
{
    static const struct {
        const char *text;
        size_t max;
        const char *want;
    } cases[] = {
        { "", 3, "" },
        { "short", 5, "short" },
        { "longer", 5, "lo…" },
        { "äöü", 6, "äöü" },
        { "äöüß", 7, "äö…" },
        { "äöüß", 6, "ä…" },
        { "🎞🎞", 7, "🎞…" },
        { "🎞🎞", 6, "…" },
        { "long", 3, "…" },
        { "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 9, "\x80\x80\x80…" },
    };
    struct arena a = { NULL, 0 };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_str(arena_truncated(&a, str_z(cases[i].text), cases[i].max),
                   str_z(cases[i].want));
    assert_str(arena_truncated(&a, STR("a\0bcdef"), 5), STR("a\0…"));
    arena_release(&a);
}

static void clip_to_no_columns(void)
{
    struct arena a = { NULL, 0 };

    arena_truncated(&a, STR("long"), 2);
}

static void a_clip_without_room_for_the_dots_is_a_bug(void **state)
{
    (void)state;
    assert_aborts(clip_to_no_columns, "bug at");
}

static void alloc_too_much(void)
{
    struct arena a = { NULL, 0 };

    arena_alloc(&a, SIZE_MAX - 3);
}

static void a_size_that_would_wrap_around_is_a_bug(void **state)
{
    (void)state;
    assert_aborts(alloc_too_much, "bug at");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_aligned_and_separate),
        cmocka_unit_test(a_copy_is_separate_and_nul_terminated),
        cmocka_unit_test(printing_takes_any_length),
        cmocka_unit_test(a_typed_allocation_has_the_size_of_its_type),
        cmocka_unit_test(clearing_keeps_one_block_and_hands_it_out_zeroed),
        cmocka_unit_test(clearing_frees_a_huge_block),
        cmocka_unit_test(small_allocations_take_little_memory),
        cmocka_unit_test(a_released_arena_can_be_used_again),
        cmocka_unit_test(a_clipped_copy_ends_between_characters),
        cmocka_unit_test(a_clip_without_room_for_the_dots_is_a_bug),
        cmocka_unit_test(a_size_that_would_wrap_around_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

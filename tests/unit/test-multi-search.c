#include "redact/multi-search.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

/* Hits as "AT-END:ID " in the order of their places. */
struct found {
    struct buf text;
    size_t count, most;
};

static bool note(void *to, size_t at, size_t end, uint32_t id)
{
    struct found *f = to;

    buf_printf(&f->text, "%zu-%zu:%u ", at, end, id);
    return ++f->count != f->most;
}

static void assert_found(const struct multi_search *n, struct str text, const char *want)
{
    struct found f = { .count = 0 };

    buf_init(&f.text, 1 << 16);
    assert_true(multi_search_scan(n, text, note, &f));
    assert_string_equal(buf_z(&f.text), want);
    buf_release(&f.text);
}

static void without_patterns_nothing_is_found(void **state)
{
    struct multi_search n;

    (void)state;
    multi_search_init(&n);
    assert_found(&n, STR("anything at all"), "");
    multi_search_release(&n);
}

static void patterns_are_found_at_any_position(void **state)
{
    char text[64];

    (void)state;
    for (size_t len = 3; len <= 20; len++) {
        struct multi_search n;
        multi_search_init(&n);
        multi_search_add(&n, str_n("abcdefghijklmnopqrstuvwxyz", len), MULTI_SEARCH_EXACT, 7);
        for (size_t at = 0; at + len <= sizeof text; at++) {
            char want[32];
            memset(text, '.', sizeof text);
            memcpy(text + at, "abcdefghijklmnopqrstuvwxyz", len);
            snprintf(want, sizeof want, "%zu-%zu:7 ", at, at + len);
            assert_found(&n, str_n(text, sizeof text), want);
            assert_found(&n, str_n(text, at + len), want);
            assert_found(&n, str_n(text, at + len - 1), "");
            assert_found(&n, str_n(text + at + 1, sizeof text - at - 1), "");
        }
        multi_search_release(&n);
    }
}

static void patterns_may_overlap_and_be_equal(void **state)
{
    struct multi_search n;

    (void)state;
    multi_search_init(&n);
    multi_search_add(&n, STR("xyzzy"), MULTI_SEARCH_EXACT, 1);
    multi_search_add(&n, STR("zzy-q"), MULTI_SEARCH_EXACT, 2);
    assert_found(&n, STR("..xyzzy.."), "2-7:1 ");
    assert_found(&n, STR("xyzzyxyzzy"), "0-5:1 5-10:1 ");
    multi_search_release(&n);
    multi_search_init(&n);
    multi_search_add(&n, STR("aaa"), MULTI_SEARCH_EXACT, 1);
    assert_found(&n, STR("aaaaa"), "0-3:1 1-4:1 2-5:1 ");
    multi_search_release(&n);
}

static void case_is_folded_only_where_wanted(void **state)
{
    struct multi_search n;

    (void)state;
    multi_search_init(&n);
    multi_search_add(&n, STR("Bearer "), MULTI_SEARCH_ANY_CASE, 1);
    multi_search_add(&n, STR("AKIA"), MULTI_SEARCH_EXACT, 2);
    assert_found(&n, STR("bearer BEARER bEaReR x"), "0-7:1 7-14:1 14-21:1 ");
    assert_found(&n, STR("akia AKIA Akia"), "5-9:2 ");
    multi_search_release(&n);
}

static void each_space_may_be_a_plus(void **state)
{
    struct multi_search n;

    (void)state;
    multi_search_init(&n);
    multi_search_add(&n, STR("correct horse battery"), MULTI_SEARCH_SPACE_OR_PLUS, 1);
    multi_search_add(&n, STR("a b c d"), MULTI_SEARCH_SPACE_OR_PLUS, 2);
    multi_search_add(&n, STR("q+q q"), MULTI_SEARCH_SPACE_OR_PLUS, 3);
    multi_search_add(&n, STR("z z z"), MULTI_SEARCH_EXACT, 4);
    assert_found(&n, STR("correct horse battery correct+horse+battery"), "0-21:1 22-43:1 ");
    assert_found(&n, STR("correct+horse battery correct horse+battery"), "0-21:1 22-43:1 ");
    assert_found(&n, STR("correct-horse battery Correct horse battery"), "");
    for (unsigned pluses = 0; pluses < 8; pluses++) {
        char text[] = "a b c d";
        for (unsigned i = 0; i < 3; i++)
            if (pluses >> i & 1)
                text[2 * i + 1] = '+';
        assert_found(&n, str_z(text), "0-7:2 ");
    }
    assert_found(&n, STR("q+q+q.q q q.z+z z"), "0-5:3 ");
    multi_search_release(&n);
}

static void the_search_ends_when_the_callback_returns_false(void **state)
{
    struct found f = { .most = 2 };
    struct multi_search n;

    (void)state;
    buf_init(&f.text, 1 << 10);
    multi_search_init(&n);
    multi_search_add(&n, STR("one"), MULTI_SEARCH_EXACT, 1);
    assert_false(multi_search_scan(&n, STR("one one one one"), note, &f));
    assert_int_equal(f.count, 2);
    multi_search_release(&n);
    buf_release(&f.text);
}

static bool tally(void *to, size_t at, size_t end, uint32_t id)
{
    size_t *count = to;

    (void)at;
    (void)end;
    count[id]++;
    return true;
}

enum { NEEDLES = 400 };

/* Against a search that is too simple to be wrong. */
static void find_all(uint32_t count)
{
    enum { TEXT = 25000 };
    size_t got[NEEDLES] = { 0 };
    char *text = mem_alloc(TEXT), words[NEEDLES][9];
    unsigned seed = 1;
    struct multi_search n;

    multi_search_init(&n);
    for (size_t i = 0; i < TEXT; i++)
        text[i] = "abAB\"01"[((seed = seed * 1103515245u + 12345u) >> 16) % 7];
    for (uint32_t i = 0; i < count; i++) {
        memcpy(words[i], text + i * 61, 8);
        words[i][3 + i % 6] = '\0';
        multi_search_add(&n, str_z(words[i]), MULTI_SEARCH_EXACT, i);
    }
    multi_search_scan(&n, str_n(text, TEXT), tally, got);
    for (uint32_t i = 0; i < count; i++) {
        size_t want = 0;
        for (size_t at = 0; at + strlen(words[i]) <= TEXT; at++)
            want += memcmp(text + at, words[i], strlen(words[i])) == 0;
        assert_int_equal(got[i], want);
        assert_true(want > 0);
    }
    multi_search_release(&n);
    free(text);
}

static void few_and_many_patterns_are_all_found(void **state)
{
    (void)state;
    find_all(10);
    find_all(PREFILTER_MAX_GRAMS / 2);
    find_all(NEEDLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_patterns_nothing_is_found),
        cmocka_unit_test(patterns_are_found_at_any_position),
        cmocka_unit_test(patterns_may_overlap_and_be_equal),
        cmocka_unit_test(case_is_folded_only_where_wanted),
        cmocka_unit_test(each_space_may_be_a_plus),
        cmocka_unit_test(the_search_ends_when_the_callback_returns_false),
        cmocka_unit_test(few_and_many_patterns_are_all_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "redact/hashed-search.h"

#include <stdio.h>

#include "base/buf.h"
#include "test.h"

struct found {
    struct buf text; /* hits as "AT-END:ID " */
    size_t count, most;
};

static bool note(void *to, size_t at, size_t end, uint32_t id)
{
    struct found *f = to;

    buf_printf(&f->text, "%zu-%zu:%u ", at, end, id);
    return ++f->count != f->most;
}

static void assert_found(const struct hashed_search *s, struct str text, const char *want)
{
    struct found f = { .count = 0 };

    buf_init(&f.text, 1 << 16);
    assert_true(hashed_search_scan(s, text, note, &f));
    assert_string_equal(buf_z(&f.text), want);
    buf_release(&f.text);
}

static bool is_even(const void *to, uint32_t id)
{
    (void)to;
    return id % 2 == 0;
}

static void an_empty_set_finds_nothing(void **state)
{
    struct hashed_search s;
    uint32_t id = 0;

    (void)state;
    hashed_search_init(&s);
    assert_found(&s, STR("anything at all"), "");
    assert_false(hashed_search_has(&s, STR("anything at all"), HASHED_SEARCH_EXACT, &id));
    hashed_search_retain(&s, is_even, NULL);
    assert_found(&s, STR("anything at all"), "");
    hashed_search_release(&s);
}

static void a_secret_is_found_at_any_position(void **state)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char text[96];

    (void)state;
    for (size_t len = HASHED_SEARCH_MIN; len < sizeof letters; len++) {
        struct hashed_search s;

        hashed_search_init(&s);
        hashed_search_add(&s, str_n(letters, len), HASHED_SEARCH_EXACT, 7);
        for (size_t at = 0; at + len <= sizeof text; at++) {
            char want[32];

            memset(text, '.', sizeof text);
            memcpy(text + at, letters, len);
            snprintf(want, sizeof want, "%zu-%zu:7 ", at, at + len);
            assert_found(&s, str_n(text, sizeof text), want);
            assert_found(&s, str_n(text, at + len), want);
            assert_found(&s, str_n(text, at + len - 1), "");
            assert_found(&s, str_n(text + at + 1, sizeof text - at - 1), "");
            text[at + len / 2] ^= 1;
            assert_found(&s, str_n(text, sizeof text), "");
        }
        hashed_search_release(&s);
    }
}

static void secrets_may_overlap(void **state)
{
    struct hashed_search s;

    (void)state;
    hashed_search_init(&s);
    hashed_search_add(&s, STR("0123456789"), HASHED_SEARCH_EXACT, 1);
    hashed_search_add(&s, STR("3456789abc"), HASHED_SEARCH_EXACT, 2);
    assert_found(&s, STR("..0123456789abc"), "2-12:1 5-15:2 ");
    hashed_search_add(&s, STR("zzzzzzzz"), HASHED_SEARCH_EXACT, 3);
    assert_found(&s, STR("zzzzzzzzzz"), "0-8:3 1-9:3 2-10:3 ");
    hashed_search_release(&s);
}

static void case_and_blanks_are_folded_only_where_wanted(void **state)
{
    struct hashed_search s;

    (void)state;
    hashed_search_init(&s);
    hashed_search_add(&s, STR("deadbeef01"), HASHED_SEARCH_ANY_CASE, 1);
    hashed_search_add(&s, STR("AbCdEfGhIj"), HASHED_SEARCH_EXACT, 2);
    hashed_search_add(&s, STR("a text with blanks"), HASHED_SEARCH_SPACE_OR_PLUS, 3);
    hashed_search_add(&s, STR("a b c d e f g h i"), HASHED_SEARCH_SPACE_OR_PLUS, 4);
    assert_found(&s, STR("DEADbeef01 abcdefghij"), "0-10:1 ");
    assert_found(&s, STR("AbCdEfGhIj AbCdEfGhIJ"), "0-10:2 ");
    assert_found(&s, STR("a+text with+blanks"), "0-18:3 ");
    assert_found(&s, STR("a+b+c+d+e+f+g+h+i"), "0-17:4 ");
    assert_found(&s, STR("a b c d e f g h i"), "0-17:4 ");
    hashed_search_release(&s);
}

static void added_secrets_are_not_stored(void **state)
{
    struct hashed_search s;
    uint32_t id = 0;

    (void)state;
    hashed_search_init(&s);
    for (uint32_t i = 0; i < 100; i++) {
        char text[64];

        snprintf(text, sizeof text, "the same start and %u the same end", i);
        id = 0;
        assert_false(hashed_search_has(&s, str_z(text), HASHED_SEARCH_EXACT, &id));
        hashed_search_add(&s, str_z(text), HASHED_SEARCH_EXACT, i);
        assert_true(hashed_search_has(&s, str_z(text), HASHED_SEARCH_EXACT, &id));
        assert_int_equal(id, i);
        text[0] ^= 1;
        assert_false(hashed_search_has(&s, str_z(text), HASHED_SEARCH_EXACT, &id));
    }
    id = 0;
    hashed_search_add(&s, STR("a+b c d+e f g+h i"), HASHED_SEARCH_SPACE_OR_PLUS, 200);
    assert_true(
        hashed_search_has(&s, STR("a+b c d+e f g+h i"), HASHED_SEARCH_SPACE_OR_PLUS, &id));
    assert_int_equal(id, 200);
    id = 201;
    assert_false(
        hashed_search_has(&s, STR("a+b c d+e f g+h i"), HASHED_SEARCH_SPACE_OR_PLUS, &id));
    hashed_search_add(&s, STR("a+b c d+e f g+h i"), HASHED_SEARCH_SPACE_OR_PLUS, 300);
    assert_true(
        hashed_search_has(&s, STR("a+b c d+e f g+h i"), HASHED_SEARCH_SPACE_OR_PLUS, &id));
    assert_int_equal(id, 300);
    hashed_search_release(&s);
}

static void many_secrets_are_found_and_removed_ones_are_not(void **state)
{
    enum { MANY = 20000 };
    struct hashed_search s;
    char text[64];

    (void)state;
    hashed_search_init(&s);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%08x-%08x", i * 2654435761u, i);
        hashed_search_add(&s, str_z(text), HASHED_SEARCH_EXACT, i);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < MANY; i++) {
            char want[32];

            snprintf(text, sizeof text, "<<%08x-%08x>>", i * 2654435761u, i);
            snprintf(want, sizeof want, "2-19:%u ", i);
            assert_found(&s, str_z(text), pass && i % 2 ? "" : want);
        }
        hashed_search_retain(&s, is_even, NULL);
    }
    assert_int_equal(s.count, MANY / 2);
    hashed_search_release(&s);
}

static void add_some(struct hashed_search *s, uint32_t from, uint32_t to)
{
    char text[64];

    for (uint32_t i = from; i < to; i++) {
        snprintf(text, sizeof text, "%08x-%08x", i * 2654435761u, i);
        hashed_search_add(s, str_z(text), HASHED_SEARCH_EXACT, i);
    }
}

static void assert_same_room(const struct hashed_search *s, const struct hashed_search *before)
{
    assert_ptr_equal(s->entries, before->entries);
    assert_ptr_equal(s->bits, before->bits);
    assert_ptr_equal(s->chains, before->chains);
    assert_int_equal(s->cap, before->cap);
    assert_int_equal(s->log2_bits, before->log2_bits);
}

/* Secrets are added and removed while a program runs: removed ones free their memory. */
static void removed_secrets_free_their_slots(void **state)
{
    enum { MANY = 1 << 12 }; /* so many that one more needs more room, of every kind */
    struct hashed_search s, before;

    (void)state;
    hashed_search_init(&s);
    add_some(&s, 0, MANY);
    before = s;
    hashed_search_retain(&s, is_even, NULL);
    assert_int_equal(s.count, MANY / 2);
    assert_same_room(&s, &before);
    add_some(&s, MANY, MANY + MANY / 2);
    assert_int_equal(s.count, MANY);
    assert_same_room(&s, &before);
    add_some(&s, 2 * MANY, 2 * MANY + 1);
    assert_int_equal(s.cap, 2 * before.cap);
    assert_int_equal(s.log2_bits, before.log2_bits + 1);
    hashed_search_release(&s);
}

static void the_search_ends_when_the_callback_returns_false(void **state)
{
    struct found f = { .most = 2 };
    struct hashed_search s;

    (void)state;
    buf_init(&f.text, 1 << 10);
    hashed_search_init(&s);
    hashed_search_add(&s, STR("one-text"), HASHED_SEARCH_EXACT, 1);
    assert_false(hashed_search_scan(&s, STR("one-text one-text one-text"), note, &f));
    assert_int_equal(f.count, 2);
    hashed_search_release(&s);
    buf_release(&f.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_finds_nothing),
        cmocka_unit_test(a_secret_is_found_at_any_position),
        cmocka_unit_test(secrets_may_overlap),
        cmocka_unit_test(case_and_blanks_are_folded_only_where_wanted),
        cmocka_unit_test(added_secrets_are_not_stored),
        cmocka_unit_test(many_secrets_are_found_and_removed_ones_are_not),
        cmocka_unit_test(removed_secrets_free_their_slots),
        cmocka_unit_test(the_search_ends_when_the_callback_returns_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

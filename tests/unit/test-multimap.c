#include "base/multimap.h"

#include <stdio.h>

#include "test.h"

static struct multimap_entry entry_of(struct str key, void *owner)
{
    return (struct multimap_entry){ .key = key, .value = owner };
}

static void assert_owners(const struct multimap *c, struct str key, const char *want)
{
    char got[16] = "";
    size_t n = 0;
    const struct multimap_entry *first = multimap_find(c, key), *before = NULL;

    for (const struct multimap_entry *at = first; at; at = at->same_key_next) {
        got[n++] = *(const char *)at->value;
        assert_ptr_equal(at->same_key_prev, before);
        before = at;
    }
    assert_string_equal(got, want);
    if (first)
        assert_ptr_equal(first->same_key_last, before);
}

static void the_oldest_value_of_a_key_comes_first(void **state)
{
    char a[] = "a", b[] = "b", d[] = "d";
    struct multimap_entry one = entry_of(STR("k"), a), two = entry_of(STR("k"), b),
                          other = entry_of(STR("K"), d);
    struct multimap c;

    (void)state;
    multimap_init(&c);
    assert_null(multimap_find(&c, STR("k")));
    assert_true(multimap_add(&c, &one));
    assert_false(multimap_add(&c, &two));
    assert_true(multimap_add(&c, &other));
    assert_owners(&c, STR("k"), "ab");
    assert_owners(&c, STR("K"), "d");
    multimap_release(&c);
}

/* Three claims of a key, dropped in every order. */
static void any_value_can_be_removed(void **state)
{
    static const struct {
        size_t drop[3];
        const char *left[3];
    } rows[] = {
        { { 0, 1, 2 }, { "bc", "c", "" } }, { { 0, 2, 1 }, { "bc", "b", "" } },
        { { 1, 0, 2 }, { "ac", "c", "" } }, { { 1, 2, 0 }, { "ac", "a", "" } },
        { { 2, 0, 1 }, { "ab", "b", "" } }, { { 2, 1, 0 }, { "ab", "a", "" } },
    };
    char names[3][2] = { "a", "b", "c" }, late[] = "d";

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct multimap_entry three[3], fourth = entry_of(STR("k"), late);
        struct multimap c;

        multimap_init(&c);
        for (size_t n = 0; n < 3; n++) {
            three[n] = entry_of(STR("k"), names[n]);
            multimap_add(&c, &three[n]);
        }
        for (size_t n = 0; n < 3; n++) {
            multimap_remove(&c, &three[rows[i].drop[n]]);
            assert_owners(&c, STR("k"), rows[i].left[n]);
        }
        assert_true(multimap_add(&c, &fourth));
        assert_owners(&c, STR("k"), "d");
        multimap_release(&c);
    }
}

/* Many keys, three claims of each, dropped in an order that has nothing to do with it. */
static void many_keys_stay_separate(void **state)
{
    enum { KEYS = 500, EACH = 3, ALL = KEYS * EACH };
    static struct multimap_entry claims[ALL];
    static char texts[KEYS][8];
    char names[EACH][2] = { "a", "b", "c" };
    struct multimap c;

    (void)state;
    multimap_init(&c);
    for (size_t i = 0; i < ALL; i++) {
        snprintf(texts[i % KEYS], sizeof texts[0], "k%zu", i % KEYS);
        claims[i] = entry_of(str_z(texts[i % KEYS]), names[i / KEYS]);
        assert_int_equal(multimap_add(&c, &claims[i]), i < KEYS);
    }
    assert_int_equal(c.count, KEYS);
    for (size_t i = 0, at = 7; i < ALL; i++, at = (at + 1001) % ALL) {
        char left[EACH + 1] = "";

        multimap_remove(&c, &claims[at]);
        claims[at].value = NULL;
        for (size_t n = 0, len = 0; n < EACH; n++)
            if (claims[at % KEYS + n * KEYS].value)
                left[len++] = names[n][0];
        assert_owners(&c, str_z(texts[at % KEYS]), left);
    }
    assert_int_equal(c.count, 0);
    multimap_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_value_of_a_key_comes_first),
        cmocka_unit_test(any_value_can_be_removed),
        cmocka_unit_test(many_keys_stay_separate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

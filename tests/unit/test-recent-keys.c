#include "base/recent-keys.h"

#include <stdio.h>

#include "test.h"

enum { SMALL = 64 };

static struct str key_of(char to[32], size_t i)
{
    return str_n(to, (size_t)snprintf(to, 32, "key %zu", i));
}

static void put(struct recent_keys *r, size_t i)
{
    char text[32];

    recent_keys_add(r, key_of(text, i), i, i * 2);
}

static const struct recent_keys_entry *find(const struct recent_keys *r, size_t i)
{
    char text[32];

    return recent_keys_find(r, key_of(text, i));
}

static void added_keys_are_found(void **state)
{
    struct recent_keys r;

    (void)state;
    recent_keys_init(&r, 1024);
    assert_null(find(&r, 1));
    for (size_t i = 0; i < 1024; i++)
        put(&r, i);
    for (size_t i = 0; i < 1024; i++) {
        assert_non_null(find(&r, i));
        assert_int_equal(find(&r, i)->value, i);
        assert_int_equal(find(&r, i)->extra, i * 2);
    }
    assert_null(find(&r, 1024));
    assert_null(recent_keys_find(&r, STR_NONE));
    recent_keys_release(&r);
}

static void beyond_the_limit_the_oldest_key_is_dropped(void **state)
{
    struct recent_keys r;

    (void)state;
    recent_keys_init(&r, SMALL);
    for (size_t i = 0; i < SMALL * 5 + 7; i++) {
        put(&r, i);
        assert_non_null(find(&r, i));
        for (size_t k = i < SMALL - 1 ? 0 : i - (SMALL - 1); k <= i; k++)
            assert_non_null(find(&r, k));
        if (i >= SMALL)
            assert_null(find(&r, i - SMALL));
    }
    assert_int_equal(r.count, SMALL);
    recent_keys_release(&r);
}

static void the_latest_value_of_a_key_counts(void **state)
{
    struct recent_keys r;

    (void)state;
    recent_keys_init(&r, SMALL);
    put(&r, 7);
    recent_keys_add(&r, STR("key 7"), 1, 2);
    assert_int_equal(find(&r, 7)->value, 1);
    /* and until all of its entries are gone it is known */
    for (size_t i = 100; i < 100 + SMALL - 1; i++)
        put(&r, i);
    assert_int_equal(find(&r, 7)->value, 1);
    put(&r, 99);
    assert_null(find(&r, 7));
    recent_keys_release(&r);
}

/* A client that numbers all its requests 1 must not slow anything down: a million puts
 * would take minutes if each walked along the entries before it. */
static void one_key_added_repeatedly_takes_constant_memory(void **state)
{
    struct recent_keys r;

    (void)state;
    recent_keys_init(&r, 16384);
    for (size_t i = 0; i < 1000000; i++)
        recent_keys_add(&r, STR("1"), i, 0);
    assert_int_equal(recent_keys_find(&r, STR("1"))->value, 999999);
    put(&r, 5);
    assert_non_null(find(&r, 5));
    recent_keys_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_keys_are_found),
        cmocka_unit_test(beyond_the_limit_the_oldest_key_is_dropped),
        cmocka_unit_test(the_latest_value_of_a_key_counts),
        cmocka_unit_test(one_key_added_repeatedly_takes_constant_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

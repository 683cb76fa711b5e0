#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>

#include "assert-aborts.h"
#include "test.h"

static void only_added_keys_are_found(void **state)
{
    int one, two;
    struct map m;

    (void)state;
    map_init(&m);
    assert_null(map_get(&m, STR("a")));
    assert_null(map_remove(&m, STR("a")));
    assert_null(map_next(&m, NULL));
    map_put(&m, STR("a"), &one);
    map_put(&m, STR(""), &two);
    assert_ptr_equal(map_get(&m, STR("a")), &one);
    assert_ptr_equal(map_get(&m, STR("")), &two);
    assert_ptr_equal(map_get(&m, STR_NONE), &two);
    assert_null(map_get(&m, STR("a\0")));
    assert_null(map_get(&m, STR("A")));
    assert_int_equal(m.count, 2);
    map_release(&m);
}

static void the_key_is_a_copy(void **state)
{
    char key[] = "key";
    struct map m;
    int one;

    (void)state;
    map_init(&m);
    map_put(&m, str_z(key), &one);
    key[0] = 'x';
    assert_ptr_equal(map_get(&m, STR("key")), &one);
    assert_null(map_get(&m, STR("xey")));
    map_release(&m);
}

static void adding_a_key_again_replaces_its_value_and_keeps_its_position(void **state)
{
    int one, two, three;
    struct map m;

    (void)state;
    map_init(&m);
    map_put(&m, STR("a"), &one);
    map_put(&m, STR("b"), &two);
    map_put(&m, STR("a"), &three);
    assert_int_equal(m.count, 2);
    assert_ptr_equal(map_get(&m, STR("a")), &three);
    assert_str(map_next(&m, NULL)->key, STR("a"));
    map_release(&m);
}

static void a_key_removed_and_added_again_is_last(void **state)
{
    int one, two;
    struct map m;
    struct map_entry *at;

    (void)state;
    map_init(&m);
    map_put(&m, STR("a"), &one);
    map_put(&m, STR("b"), &one);
    map_put(&m, STR("c"), &one);
    assert_ptr_equal(map_remove(&m, STR("a")), &one);
    assert_null(map_remove(&m, STR("a")));
    map_put(&m, STR("a"), &two);
    at = map_next(&m, NULL);
    assert_str(at->key, STR("b"));
    at = map_next(&m, at);
    assert_str(at->key, STR("c"));
    at = map_next(&m, at);
    assert_str(at->key, STR("a"));
    assert_ptr_equal(at->value, &two);
    assert_null(map_next(&m, at));
    map_release(&m);
}

static void the_empty_key_can_be_removed_too(void **state)
{
    struct map m;
    int one, two;

    (void)state;
    map_init(&m);
    map_put(&m, STR(""), &one);
    assert_ptr_equal(map_remove(&m, STR("")), &one);
    assert_null(map_get(&m, STR("")));
    assert_null(map_remove(&m, STR("")));
    map_put(&m, STR(""), &two);
    assert_ptr_equal(map_get(&m, STR("")), &two);
    assert_int_equal(m.count, 1);
    map_release(&m);
}

/* The same thing done the obvious way. */
struct naive {
    struct pair {
        char key[16];
        void *value;
    } * at;
    size_t count;
};

static struct pair *naive_find(struct naive *n, const char *key)
{
    for (size_t i = 0; i < n->count; i++) {
        if (strcmp(n->at[i].key, key) == 0)
            return &n->at[i];
    }
    return NULL;
}

static void naive_put(struct naive *n, const char *key, void *value)
{
    struct pair *old = naive_find(n, key);

    if (!old) {
        old = &n->at[n->count++];
        snprintf(old->key, sizeof old->key, "%s", key);
    }
    old->value = value;
}

static void *naive_remove(struct naive *n, const char *key)
{
    struct pair *old = naive_find(n, key);
    void *value;

    if (!old)
        return NULL;
    value = old->value;
    n->count--;
    memmove(old, old + 1, (size_t)(n->at + n->count - old) * sizeof *old);
    return value;
}

static void assert_same(const struct map *m, const struct naive *n)
{
    const struct map_entry *at = NULL;

    assert_int_equal(m->count, n->count);
    for (size_t i = 0; i < n->count; i++) {
        at = map_next(m, at);
        assert_non_null(at);
        assert_str(at->key, str_z(n->at[i].key));
        assert_ptr_equal(at->value, n->at[i].value);
    }
    assert_null(map_next(m, at));
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static void random_operations_give_the_result_of_a_list(void **state)
{
    enum { KEYS = 300, STEPS = 30000 };
    static char values[STEPS];
    uint32_t seed = 20250204;
    struct naive n = { .at = calloc(KEYS, sizeof *n.at) };
    struct map m;

    (void)state;
    assert_non_null(n.at);
    map_init(&m);
    for (size_t step = 0; step < STEPS; step++) {
        char key[16];
        uint32_t dice = next_random(&seed) % 100;
        /* Waves of growth and shrinking, so that both kinds of rebuilding happen. */
        uint32_t puts = step / 2000 % 2 ? 20 : 60;

        snprintf(key, sizeof key, "k%u", next_random(&seed) % KEYS);
        if (dice < puts) {
            map_put(&m, str_z(key), &values[step]);
            naive_put(&n, key, &values[step]);
        } else if (dice < 80) {
            assert_ptr_equal(map_remove(&m, str_z(key)), naive_remove(&n, key));
        } else {
            struct pair *pair = naive_find(&n, key);
            assert_ptr_equal(map_get(&m, str_z(key)), pair ? pair->value : NULL);
        }
        if (step % 100 == 0)
            assert_same(&m, &n);
    }
    assert_same(&m, &n);
    map_release(&m);
    free(n.at);
}

static void a_map_used_as_a_queue_stays_small(void **state)
{
    enum { WAITING = 10, STEPS = 200000 };
    struct map m;
    int value;

    (void)state;
    map_init(&m);
    for (int i = 0; i < STEPS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        map_put(&m, str_z(key), &value);
        snprintf(key, sizeof key, "%d", i - WAITING);
        assert_int_equal(map_remove(&m, str_z(key)) != NULL, i >= WAITING);
    }
    assert_int_equal(m.count, WAITING);
    assert_true(m.entry_cap <= 64);
    assert_int_equal(m.slot_count, 2 * m.entry_cap);
    map_release(&m);
}

/* How far the entry that lies furthest from its slot had to go. */
static size_t longest_probe(const struct map *m)
{
    size_t longest = 0;

    for (size_t at = 0; at < m->slot_count; at++) {
        size_t home, way;
        if (!m->slots[at])
            continue;
        home = m->entries[m->slots[at] - 1].hash & (m->slot_count - 1);
        way = (at - home) & (m->slot_count - 1);
        longest = way > longest ? way : longest;
    }
    return longest;
}

static void many_similar_keys_are_found_quickly(void **state)
{
    enum { KEYS = 200000 };
    struct map m;
    int value;

    (void)state;
    map_init(&m);
    for (int i = 0; i < KEYS; i++) {
        char key[64];
        int n = snprintf(key, sizeof key, "%040lld", i * 65536LL);
        map_put(&m, str_n(key, (size_t)n), &value);
    }
    assert_int_equal(m.count, KEYS);
    assert_true(longest_probe(&m) < 300);
    for (int i = 0; i < KEYS; i++) {
        char key[64];
        int n = snprintf(key, sizeof key, "%040lld", i * 65536LL);
        assert_ptr_equal(map_get(&m, str_n(key, (size_t)n)), &value);
    }
    map_release(&m);
}

static void hashes_are_seeded_per_map(void **state)
{
    struct map one, two;
    uint64_t seed;

    (void)state;
    map_init(&one);
    map_init(&two);
    assert_true(one.seed != two.seed);
    seed = one.seed;
    while (one.seed == seed) /* the same place a little later: the clock has moved */
        map_init(&one);
}

static void a_key_may_have_any_bytes(void **state)
{
    static char values[256];
    struct map m;

    (void)state;
    map_init(&m);
    for (int i = 0; i < 256; i++) {
        char key[3] = { 'a', (char)i, 'b' };
        map_put(&m, str_n(key, 3), &values[i]);
    }
    for (int i = 0; i < 256; i++) {
        char key[3] = { 'a', (char)i, 'b' };
        assert_ptr_equal(map_get(&m, str_n(key, 3)), &values[i]);
    }
    map_release(&m);
}

static void a_released_map_is_empty(void **state)
{
    struct map m;
    int one;

    (void)state;
    map_init(&m);
    map_put(&m, STR("a"), &one);
    map_release(&m);
    map_release(&m);
    assert_null(map_get(&m, STR("a")));
    map_put(&m, STR("b"), &one);
    assert_int_equal(m.count, 1);
    map_release(&m);
}

static void put_nothing(void)
{
    struct map m;

    map_init(&m);
    map_put(&m, STR("a"), NULL);
}

static void adding_null_is_a_bug(void **state)
{
    (void)state;
    assert_aborts(put_nothing, "!value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_added_keys_are_found),
        cmocka_unit_test(the_key_is_a_copy),
        cmocka_unit_test(adding_a_key_again_replaces_its_value_and_keeps_its_position),
        cmocka_unit_test(a_key_removed_and_added_again_is_last),
        cmocka_unit_test(the_empty_key_can_be_removed_too),
        cmocka_unit_test(random_operations_give_the_result_of_a_list),
        cmocka_unit_test(a_map_used_as_a_queue_stays_small),
        cmocka_unit_test(many_similar_keys_are_found_quickly),
        cmocka_unit_test(hashes_are_seeded_per_map),
        cmocka_unit_test(a_key_may_have_any_bytes),
        cmocka_unit_test(a_released_map_is_empty),
        cmocka_unit_test(adding_null_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

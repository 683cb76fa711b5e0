#include "json/member-index.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

/* Below this an insertion sort is quicker than a call of qsort(). */
enum { INSERTION_SORT_MAX = 16 };

void json_member_index_init(struct json_member_index *m)
{
    *m = (struct json_member_index){ .count = 0 };
}

void json_member_index_release(struct json_member_index *m)
{
    free(m->at);
    arena_release(&m->names);
    json_member_index_init(m);
}

uint64_t json_member_hash(struct str name)
{
    return hash_bytes(name, JSON_OBJECT);
}

/* Orders by hash; names with the same hash by their bytes, so that forced collisions gain
 * nothing; of one name the last in the text first. */
static int compare_names(uint64_t hash, struct str name, const struct json_member *m)
{
    if (hash != m->hash)
        return hash < m->hash ? -1 : 1;
    return str_cmp(name, m->name);
}

static int compare_members(const void *left, const void *right)
{
    const struct json_member *a = left, *b = right;
    int c = compare_names(a->hash, a->name, b);

    return c ? c : (a->value.node < b->value.node) - (a->value.node > b->value.node);
}

static void sort_members(struct json_member *at, size_t n)
{
    if (n > INSERTION_SORT_MAX) {
        qsort(at, n, sizeof *at, compare_members);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct json_member moving = at[i];
        size_t k = i;
        for (; k && compare_members(&moving, &at[k - 1]) < 0; k--)
            at[k] = at[k - 1];
        at[k] = moving;
    }
}

static size_t drop_duplicates(struct json_member *at, size_t n)
{
    size_t kept = n ? 1 : 0;

    for (size_t i = 1; i < n; i++)
        if (compare_names(at[i].hash, at[i].name, &at[kept - 1]) != 0)
            at[kept++] = at[i];
    return kept;
}

static bool is_one_of(struct str name, const struct str *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(name, names[i]))
            return true;
    return false;
}

struct json_member_list json_member_index_add(struct json_member_index *m,
                                              struct json_val object, const struct str *skip,
                                              size_t skip_count)
{
    struct json_member_list list = { .first = m->count };
    struct json_iter it = json_each(object);

    m->at = mem_reserve(m->at, &m->cap, m->count + json_count(object), sizeof *m->at);
    while (json_next(&it)) {
        struct str name = json_text(it.key, &m->names);
        if (!is_one_of(name, skip, skip_count))
            m->at[m->count++] = (struct json_member){ json_member_hash(name), name, it.value };
    }
    if (m->count == list.first)
        return list;
    sort_members(m->at + list.first, m->count - list.first);
    list.count = drop_duplicates(m->at + list.first, m->count - list.first);
    m->count = list.first + list.count;
    return list;
}

void json_member_index_drop(struct json_member_index *m, struct json_member_list list)
{
    m->count = list.first;
}

struct json_val json_member_index_find(const struct json_member_index *m,
                                       struct json_member_list list, struct str name,
                                       uint64_t hash)
{
    size_t from = list.first, to = list.first + list.count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int c = compare_names(hash, name, &m->at[middle]);
        if (c == 0)
            return m->at[middle].value;
        if (c < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return JSON_VAL_NONE;
}

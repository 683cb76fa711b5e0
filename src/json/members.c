#include "json/members.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

/* Below this an insertion sort is quicker than a call of qsort(). */
enum { FEW = 16 };

void json_members_init(struct json_members *m)
{
    *m = (struct json_members){ .count = 0 };
}

void json_members_release(struct json_members *m)
{
    free(m->at);
    arena_release(&m->names);
    json_members_init(m);
}

uint64_t json_members_hash(struct str name)
{
    return hash_bytes(name, JSON_OBJECT);
}

/* By hash; names that share one by their bytes, so that nobody gains from making
 * hashes collide; of one name the last in the text first. */
static int compare_names(uint64_t hash, struct str name, const struct json_member *m)
{
    if (hash != m->hash)
        return hash < m->hash ? -1 : 1;
    return str_cmp(name, m->name);
}

static int compare(const void *left, const void *right)
{
    const struct json_member *a = left, *b = right;
    int c = compare_names(a->hash, a->name, b);

    return c ? c : (a->value.node < b->value.node) - (a->value.node > b->value.node);
}

static void sort(struct json_member *at, size_t n)
{
    if (n > FEW) {
        qsort(at, n, sizeof *at, compare);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct json_member moving = at[i];
        size_t k = i;
        for (; k && compare(&moving, &at[k - 1]) < 0; k--)
            at[k] = at[k - 1];
        at[k] = moving;
    }
}

static size_t unique(struct json_member *at, size_t n)
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

struct json_list json_members_add(struct json_members *m, struct json_val object,
                                  const struct str *skip, size_t skip_count)
{
    struct json_list list = { .first = m->count };
    struct json_iter it = json_each(object);

    m->at = mem_reserve(m->at, &m->cap, m->count + json_count(object), sizeof *m->at);
    while (json_next(&it)) {
        struct str name = json_text(it.key, &m->names);
        if (!is_one_of(name, skip, skip_count))
            m->at[m->count++] = (struct json_member){ json_members_hash(name), name, it.value };
    }
    if (m->count == list.first)
        return list;
    sort(m->at + list.first, m->count - list.first);
    list.count = unique(m->at + list.first, m->count - list.first);
    m->count = list.first + list.count;
    return list;
}

void json_members_drop(struct json_members *m, struct json_list list)
{
    m->count = list.first;
}

struct json_val json_members_find(const struct json_members *m, struct json_list list,
                                  struct str name, uint64_t hash)
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

#include "base/capped-table.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

enum { CAPPED_TABLE_PART_MAX = 240 }; /* bytes of a part that are looked at one by one */

/* The parts as one key. Each stands behind its length, so that no two lists of
 * parts look alike. */
struct capped_table_key {
    char at[CAPPED_TABLE_PARTS * (CAPPED_TABLE_PART_MAX + 2 * sizeof(uint64_t))];
    size_t len;
};

void capped_table_init(struct capped_table *t, size_t row_size, size_t max)
{
    *t = (struct capped_table){ .max = max, .row_size = row_size };
    map_init(&t->index);
    t->rows = mem_alloc(max * sizeof *t->rows);
}

void capped_table_release(struct capped_table *t)
{
    map_release(&t->index);
    arena_release(&t->arena);
    free(t->rows);
    t->rows = NULL;
    t->overflow = NULL;
    t->count = 0;
}

static void add_bytes(struct capped_table_key *k, const void *from, size_t n)
{
    if (n)
        memcpy(k->at + k->len, from, n);
    k->len += n;
}

static void add_part(struct capped_table_key *k, struct str part)
{
    const uint64_t len = part.len;

    add_bytes(k, &len, sizeof len);
    if (part.len > CAPPED_TABLE_PART_MAX) {
        const uint64_t hash = hash_bytes(part, 0);
        add_bytes(k, &hash, sizeof hash);
        part.len = CAPPED_TABLE_PART_MAX;
    }
    add_bytes(k, part.at, part.len);
}

void *capped_table_overflow(struct capped_table *t)
{
    if (!t->overflow)
        t->overflow = arena_alloc(&t->arena, t->row_size);
    return t->overflow;
}

void *capped_table_row(struct capped_table *t, const struct str *parts, size_t count,
                       bool *fresh)
{
    struct capped_table_key key;
    void *row;

    BUG_IF(count > CAPPED_TABLE_PARTS);
    key.len = 0; /* the rest is filled as far as it is used */
    for (size_t i = 0; i < count; i++)
        add_part(&key, parts[i]);
    row = map_get(&t->index, str_n(key.at, key.len));
    *fresh = !row && t->count < t->max;
    if (row)
        return row;
    if (!*fresh)
        return capped_table_overflow(t);
    row = arena_alloc(&t->arena, t->row_size);
    map_put(&t->index, str_n(key.at, key.len), row);
    t->rows[t->count++] = row;
    return row;
}

#include "base/map.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

enum { MAP_FIRST_CAP = 16 };

void map_init(struct map *m)
{
    *m = (struct map){ .seed = hash_mix((uintptr_t)m, (uint64_t)clock_mono_us()) };
}

static bool is_inline(const struct map_entry *e)
{
    return e->key.len <= MAP_INLINE_KEY;
}

static void copy_key(struct map_entry *e, struct str key)
{
    char *at = key.len <= MAP_INLINE_KEY ? e->inline_key : mem_alloc(key.len);

    if (key.len)
        memcpy(at, key.at, key.len);
    e->key = str_n(at, key.len);
}

static void free_key(struct map_entry *e)
{
    if (!is_inline(e))
        free((char *)e->key.at);
}

void map_release(struct map *m)
{
    for (size_t i = 0; i < m->used; i++)
        free_key(&m->entries[i]);
    free(m->entries);
    free(m->slots);
    *m = (struct map){ .seed = m->seed };
}

/* A removed entry keeps its slot until the next rebuild, so chains that lead past
 * it stay whole. At most half of the slots are taken: every chain ends. */
static struct map_entry *find(const struct map *m, struct str key, uint64_t hash)
{
    if (!m->slot_count)
        return NULL;
    for (size_t at = hash & (m->slot_count - 1); m->slots[at];
         at = (at + 1) & (m->slot_count - 1)) {
        struct map_entry *entry = &m->entries[m->slots[at] - 1];
        if (!entry->removed && entry->hash == hash && str_eq(entry->key, key))
            return entry;
    }
    return NULL;
}

static void link_entry(struct map *m, size_t index)
{
    size_t at = m->entries[index].hash & (m->slot_count - 1);

    while (m->slots[at])
        at = (at + 1) & (m->slot_count - 1);
    m->slots[at] = (uint32_t)(index + 1);
}

/* Drops removed entries, doubles the room if that did not free a quarter of it, and
 * links what is left anew. */
static void rebuild(struct map *m)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->used; i++) {
        if (!m->entries[i].removed)
            m->entries[kept++] = m->entries[i];
    }
    m->used = kept;
    m->first = 0;
    if (!m->entry_cap || kept > m->entry_cap / 4 * 3) {
        m->entry_cap = m->entry_cap ? m->entry_cap * 2 : MAP_FIRST_CAP;
        BUG_IF(m->entry_cap > UINT32_MAX);
        m->entries = mem_grow(m->entries, m->entry_cap * sizeof *m->entries);
        m->slot_count = m->entry_cap * 2;
        m->slots = mem_grow(m->slots, m->slot_count * sizeof *m->slots);
    }
    memset(m->slots, 0, m->slot_count * sizeof *m->slots);
    for (size_t i = 0; i < m->used; i++) {
        struct map_entry *e = &m->entries[i];

        if (is_inline(e))
            e->key.at = e->inline_key; /* it has moved */
        link_entry(m, i);
    }
}

void *map_get(const struct map *m, struct str key)
{
    const struct map_entry *entry = m->count ? find(m, key, hash_bytes(key, m->seed)) : NULL;

    return entry ? entry->value : NULL;
}

void map_put(struct map *m, struct str key, void *value)
{
    uint64_t hash = hash_bytes(key, m->seed);
    struct map_entry *entry = find(m, key, hash);

    BUG_IF(!value);
    if (entry) {
        entry->value = value;
        return;
    }
    if (m->used == m->entry_cap)
        rebuild(m);
    m->entries[m->used] = (struct map_entry){ .value = value, .hash = hash };
    copy_key(&m->entries[m->used], key);
    link_entry(m, m->used);
    m->used++;
    m->count++;
}

void *map_remove(struct map *m, struct str key)
{
    struct map_entry *entry = find(m, key, hash_bytes(key, m->seed));
    void *value;

    if (!entry)
        return NULL;
    value = entry->value;
    free_key(entry);
    *entry = (struct map_entry){ .hash = entry->hash, .removed = true };
    m->count--;
    while (m->first < m->used && m->entries[m->first].removed)
        m->first++; /* so that a caller which removes the oldest ones does not search them */
    return value;
}

struct map_entry *map_next(const struct map *m, const struct map_entry *prev)
{
    for (size_t i = prev ? (size_t)(prev - m->entries) + 1 : m->first; i < m->used; i++) {
        if (!m->entries[i].removed)
            return &m->entries[i];
    }
    return NULL;
}

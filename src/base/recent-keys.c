#include "base/recent-keys.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

enum { RECENT_KEYS_FIRST_CAP = 64 };

void recent_keys_init(struct recent_keys *r, size_t max)
{
    BUG_IF(max < RECENT_KEYS_FIRST_CAP || (max & (max - 1)));
    *r = (struct recent_keys){ .max = max,
                               .seed = hash_mix((uintptr_t)r, (uint64_t)clock_mono_us()) };
}

void recent_keys_release(struct recent_keys *r)
{
    free(r->entries);
    free(r->buckets);
    *r = (struct recent_keys){ .max = r->max, .seed = r->seed };
}

static uint32_t *bucket_of(const struct recent_keys *r, uint64_t hash)
{
    return &r->buckets[hash & (r->cap - 1)];
}

static void link_entry(struct recent_keys *r, uint32_t at)
{
    struct recent_keys_entry *entry = &r->entries[at - 1];
    uint32_t *bucket = bucket_of(r, entry->hash);

    entry->newer = 0;
    entry->older = *bucket;
    if (*bucket)
        r->entries[*bucket - 1].newer = at;
    *bucket = at;
}

static void unlink_entry(struct recent_keys *r, const struct recent_keys_entry *entry)
{
    if (entry->older)
        r->entries[entry->older - 1].newer = entry->newer;
    if (entry->newer)
        r->entries[entry->newer - 1].older = entry->older;
    else
        *bucket_of(r, entry->hash) = entry->older;
}

/* Entries stand in order of age until the ring is full, and it does not grow then. */
static void grow(struct recent_keys *r)
{
    r->cap = r->cap ? r->cap * 2 : RECENT_KEYS_FIRST_CAP;
    r->entries = mem_grow(r->entries, r->cap * sizeof *r->entries);
    r->buckets = mem_grow(r->buckets, r->cap * sizeof *r->buckets);
    memset(r->buckets, 0, r->cap * sizeof *r->buckets);
    for (size_t i = 0; i < r->count; i++)
        link_entry(r, (uint32_t)i + 1);
}

/* Returns the slot of a new entry: an unused one, or that of the oldest. */
static uint32_t alloc_entry(struct recent_keys *r)
{
    size_t at = r->oldest;

    if (r->count < r->max) {
        if (r->count == r->cap)
            grow(r);
        return (uint32_t)++r->count;
    }
    unlink_entry(r, &r->entries[at]);
    r->oldest = (at + 1) & (r->max - 1);
    return (uint32_t)at + 1;
}

void recent_keys_add(struct recent_keys *r, struct str key, uint64_t value, uint64_t extra)
{
    uint32_t at = alloc_entry(r);

    r->entries[at - 1] = (struct recent_keys_entry){
        .value = value,
        .extra = extra,
        .hash = hash_bytes(key, r->seed),
        .check = hash_bytes(key, ~r->seed),
    };
    link_entry(r, at);
}

const struct recent_keys_entry *recent_keys_find(const struct recent_keys *r, struct str key)
{
    uint64_t hash, check;

    if (!r->count)
        return NULL;
    hash = hash_bytes(key, r->seed);
    check = hash_bytes(key, ~r->seed);
    for (uint32_t at = *bucket_of(r, hash); at; at = r->entries[at - 1].older)
        if (r->entries[at - 1].hash == hash && r->entries[at - 1].check == check)
            return &r->entries[at - 1];
    return NULL;
}

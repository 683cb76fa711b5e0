#include "trace/recall.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

enum { RECALL_FIRST_CAP = 64 };

void recall_init(struct recall *r, size_t max)
{
    BUG_IF(max < RECALL_FIRST_CAP || (max & (max - 1)));
    *r = (struct recall){ .max = max,
                          .seed = hash_mix((uintptr_t)r, (uint64_t)clock_mono_us()) };
}

void recall_release(struct recall *r)
{
    free(r->entries);
    free(r->buckets);
    *r = (struct recall){ .max = r->max, .seed = r->seed };
}

static uint32_t *bucket_of(const struct recall *r, uint64_t hash)
{
    return &r->buckets[hash & (r->cap - 1)];
}

static void link_entry(struct recall *r, uint32_t at)
{
    struct recall_entry *entry = &r->entries[at - 1];
    uint32_t *bucket = bucket_of(r, entry->hash);

    entry->newer = 0;
    entry->older = *bucket;
    if (*bucket)
        r->entries[*bucket - 1].newer = at;
    *bucket = at;
}

static void unlink_entry(struct recall *r, const struct recall_entry *entry)
{
    if (entry->older)
        r->entries[entry->older - 1].newer = entry->newer;
    if (entry->newer)
        r->entries[entry->newer - 1].older = entry->older;
    else
        *bucket_of(r, entry->hash) = entry->older;
}

/* Entries stand in order of age until the ring is full, and it does not grow then. */
static void grow(struct recall *r)
{
    r->cap = r->cap ? r->cap * 2 : RECALL_FIRST_CAP;
    r->entries = mem_grow(r->entries, r->cap * sizeof *r->entries);
    r->buckets = mem_grow(r->buckets, r->cap * sizeof *r->buckets);
    memset(r->buckets, 0, r->cap * sizeof *r->buckets);
    for (size_t i = 0; i < r->count; i++)
        link_entry(r, (uint32_t)i + 1);
}

/* The place of a new entry: a fresh one, or that of the oldest. */
static uint32_t take_place(struct recall *r)
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

void recall_put(struct recall *r, struct str key, uint64_t what, uint64_t more)
{
    uint32_t at = take_place(r);

    r->entries[at - 1] = (struct recall_entry){
        .what = what,
        .more = more,
        .hash = hash_bytes(key, r->seed),
        .check = hash_bytes(key, ~r->seed),
    };
    link_entry(r, at);
}

const struct recall_entry *recall_find(const struct recall *r, struct str key)
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

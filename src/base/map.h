/* base/map.h - maps byte strings to pointers, in order of insertion.
 *
 * Keys are copied. Iteration visits entries in the order they were put, so output made from a
 * map is the same on every run; removal keeps the order of the rest. The hash is seeded per
 * map, so an input cannot cause collisions on purpose. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { MAP_INLINE_KEY = 8 };

struct map_entry {
    struct str key; /* owned by the map */
    void *value;    /* never owned */
    uint64_t hash;
    char inline_key[MAP_INLINE_KEY]; /* storage of keys that are no longer than this; numbers
                                        fit */
    bool removed;                    /* skipped by map_next() */
};

struct map {
    struct map_entry *entries;
    uint32_t *slots; /* index into entries + 1; 0: free */
    size_t count, used, entry_cap, slot_count;
    size_t first; /* all entries before this one are removed */
    uint64_t seed;
};

void map_init(struct map *m);
void map_release(struct map *m);

void *map_get(const struct map *m, struct str key);       /* NULL: not there */
void map_put(struct map *m, struct str key, void *value); /* replaces; value not NULL */
void *map_remove(struct map *m, struct str key);          /* returns the old value, or NULL */

/* A number as a key: its bytes. */
static inline struct str map_number_key(const uint64_t *number)
{
    return str_n((const char *)number, sizeof *number);
}

/* The entry after `prev` (NULL: the first); NULL at the end. Do not put or
 * remove while walking. */
struct map_entry *map_next(const struct map *m, const struct map_entry *prev);

#endif

/* base/multimap.h - maps keys to several values each, the oldest first.
 *
 * For example the open requests by their id, of which several may be equal.
 *
 * Ownership: entries and their keys belong to the caller and must stay valid while they are in
 * the map (intrusive, no allocation per entry). */
#ifndef BASE_MULTIMAP_H
#define BASE_MULTIMAP_H

#include <stdint.h>

#include "base/str.h"

struct multimap_entry {
    struct str key;
    void *value;
    struct multimap_entry *same_key_prev,
        *same_key_next;                   /* entries with the same key, by age */
    struct multimap_entry *same_key_last; /* valid in the oldest of a key: the newest */
    struct multimap_entry
        *slot_next; /* valid in the oldest of a key: the next key in the slot */
    uint64_t hash;  /* of the key */
};

struct multimap {
    struct multimap_entry **slots; /* by hash: the oldest entry of each key */
    size_t slot_count;             /* a power of two */
    size_t count;                  /* number of keys */
    uint64_t seed;
};

void multimap_init(struct multimap *c);
void multimap_release(struct multimap *c);

/* Adds an entry whose key and value are set. Returns whether it is the only one of its key. */
bool multimap_add(struct multimap *c, struct multimap_entry *entry);
void multimap_remove(struct multimap *c, struct multimap_entry *entry);

/* Returns the oldest entry of a key; NULL if there is none. */
struct multimap_entry *multimap_find(const struct multimap *c, struct str key);

#endif

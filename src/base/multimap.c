#include "base/multimap.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

enum { SLOTS_FIRST = 16 };

void multimap_init(struct multimap *c)
{
    *c = (struct multimap){ .seed = hash_mix((uintptr_t)c, (uint64_t)clock_mono_us()) };
}

void multimap_release(struct multimap *c)
{
    free(c->slots);
    *c = (struct multimap){ .seed = c->seed };
}

/* Returns the pointer to the oldest entry of a key, or where it would be. */
static struct multimap_entry **find_link(const struct multimap *c, struct str key,
                                         uint64_t hash)
{
    struct multimap_entry **at = &c->slots[hash & (c->slot_count - 1)];

    while (*at && ((*at)->hash != hash || !str_eq((*at)->key, key)))
        at = &(*at)->slot_next;
    return at;
}

/* Twice as many slots, so that on average there is no more than one key in each. */
static void grow_slots(struct multimap *c)
{
    struct multimap old = *c;

    c->slot_count = old.slot_count ? old.slot_count * 2 : SLOTS_FIRST;
    c->slots = mem_alloc(c->slot_count * sizeof *c->slots);
    for (size_t i = 0; i < old.slot_count; i++)
        for (struct multimap_entry *one = old.slots[i], *next; one; one = next) {
            struct multimap_entry **slot = &c->slots[one->hash & (c->slot_count - 1)];

            next = one->slot_next;
            one->slot_next = *slot;
            *slot = one;
        }
    free(old.slots);
}

bool multimap_add(struct multimap *c, struct multimap_entry *entry)
{
    struct multimap_entry **link, *first;

    if (c->count == c->slot_count)
        grow_slots(c);
    entry->hash = hash_bytes(entry->key, c->seed);
    entry->same_key_prev = entry->same_key_next = entry->slot_next = NULL;
    entry->same_key_last = entry;
    link = find_link(c, entry->key, entry->hash);
    first = *link;
    if (!first) {
        *link = entry;
        c->count++;
        return true;
    }
    entry->same_key_prev = first->same_key_last;
    first->same_key_last->same_key_next = entry;
    first->same_key_last = entry;
    return false;
}

void multimap_remove(struct multimap *c, struct multimap_entry *entry)
{
    struct multimap_entry *before = entry->same_key_prev, *after = entry->same_key_next;
    struct multimap_entry **link = find_link(c, entry->key, entry->hash);

    if (before)
        before->same_key_next = after;
    if (after)
        after->same_key_prev = before;
    if (!before && after) {
        after->same_key_last = entry->same_key_last;
        after->slot_next = entry->slot_next;
        *link = after;
    } else if (!before) {
        *link = entry->slot_next;
        c->count--;
    } else if (!after) {
        (*link)->same_key_last = before;
    }
}

struct multimap_entry *multimap_find(const struct multimap *c, struct str key)
{
    return c->slot_count ? *find_link(c, key, hash_bytes(key, c->seed)) : NULL;
}

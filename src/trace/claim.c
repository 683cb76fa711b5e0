#include "trace/claim.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

enum { SLOTS_FIRST = 16 };

void claim_init(struct claims *c)
{
    *c = (struct claims){ .seed = hash_mix((uintptr_t)c, (uint64_t)clock_mono_us()) };
}

void claim_release(struct claims *c)
{
    free(c->slots);
    *c = (struct claims){ .seed = c->seed };
}

/* What points to the oldest claim of a key, or would. */
static struct claim **link_of(const struct claims *c, struct str key, uint64_t hash)
{
    struct claim **at = &c->slots[hash & (c->slot_count - 1)];

    while (*at && ((*at)->hash != hash || !str_eq((*at)->key, key)))
        at = &(*at)->beside;
    return at;
}

/* Twice as many slots, so that on average there is no more than one key in each. */
static void grow(struct claims *c)
{
    struct claims old = *c;

    c->slot_count = old.slot_count ? old.slot_count * 2 : SLOTS_FIRST;
    c->slots = mem_alloc(c->slot_count * sizeof *c->slots);
    for (size_t i = 0; i < old.slot_count; i++)
        for (struct claim *one = old.slots[i], *next; one; one = next) {
            struct claim **slot = &c->slots[one->hash & (c->slot_count - 1)];

            next = one->beside;
            one->beside = *slot;
            *slot = one;
        }
    free(old.slots);
}

bool claim_add(struct claims *c, struct claim *claim)
{
    struct claim **link, *first;

    if (c->count == c->slot_count)
        grow(c);
    claim->hash = hash_bytes(claim->key, c->seed);
    claim->before = claim->after = claim->beside = NULL;
    claim->last = claim;
    link = link_of(c, claim->key, claim->hash);
    first = *link;
    if (!first) {
        *link = claim;
        c->count++;
        return true;
    }
    claim->before = first->last;
    first->last->after = claim;
    first->last = claim;
    return false;
}

void claim_drop(struct claims *c, struct claim *claim)
{
    struct claim *before = claim->before, *after = claim->after;
    struct claim **link = link_of(c, claim->key, claim->hash);

    if (before)
        before->after = after;
    if (after)
        after->before = before;
    if (!before && after) {
        after->last = claim->last;
        after->beside = claim->beside;
        *link = after;
    } else if (!before) {
        *link = claim->beside;
        c->count--;
    } else if (!after) {
        (*link)->last = before;
    }
}

struct claim *claim_find(const struct claims *c, struct str key)
{
    return c->slot_count ? *link_of(c, key, hash_bytes(key, c->seed)) : NULL;
}

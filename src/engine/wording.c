#include "engine/wording.h"

#include "base/hash.h"

uint32_t wording_find(const struct wording *r, struct str params, uint64_t *hash)
{
    const struct wording_slot *slot;

    *hash = hash_bytes(params, 0);
    slot = &r->slots[*hash % WORDING_SLOTS];
    return slot->hash == *hash ? slot->op : 0;
}

void wording_keep(struct wording *r, uint64_t hash, uint32_t op)
{
    r->slots[hash % WORDING_SLOTS] = (struct wording_slot){ hash, op };
}

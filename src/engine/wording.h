/* engine/wording.h - which recorded request the same words were last time.
 *
 * Clients ask for the same again and again, and the client that was recorded is often the one
 * that asks now: then the words are the recorded ones. Whoever remembers that need not find
 * out anew what they mean.
 *
 * A small table, in which one request takes the place of another. It goes by a hash: what it
 * says is a guess, to be looked at. */
#ifndef ENGINE_WORDING_H
#define ENGINE_WORDING_H

#include <stdint.h>

#include "base/str.h"

enum { WORDING_SLOTS = 256 };

struct wording {
    struct wording_slot {
        uint64_t hash;
        uint32_t op; /* 0: none */
    } slots[WORDING_SLOTS];
};

/* To begin: zeroed. The recorded request that had these params, maybe; 0: not known. `hash` is
 * for wording_keep(). */
uint32_t wording_find(const struct wording *r, struct str params, uint64_t *hash);

void wording_keep(struct wording *r, uint64_t hash, uint32_t op);

#endif

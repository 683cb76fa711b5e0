/* trace/claim.h - who waits for a message that carries a certain value.
 *
 * A request claims the answer with its id, a paged list the request with its cursor.
 * Several may claim the same; the oldest comes first.
 *
 * Ownership: a claim and its key belong to whoever makes it and must outlive the
 * claim's stay. */
#ifndef TRACE_CLAIM_H
#define TRACE_CLAIM_H

#include <stdint.h>

#include "base/str.h"

struct claim {
    struct str key;
    void *owner;
    struct claim *before, *after; /* those with the same key, the oldest first */
    struct claim *last;           /* of the first: the last of them */
    struct claim *beside;         /* of the first: that of another key in its slot */
    uint64_t hash;                /* of the key */
};

struct claims {
    struct claim **slots; /* by hash: the oldest claim of each key */
    size_t slot_count;    /* a power of two */
    size_t count;         /* of keys */
    uint64_t seed;
};

void claim_init(struct claims *c);
void claim_release(struct claims *c);

/* `claim` has its key and owner. False: it is not the only one with its key. */
bool claim_add(struct claims *c, struct claim *claim);
void claim_drop(struct claims *c, struct claim *claim);

/* The oldest claim of a key; NULL if there is none. */
struct claim *claim_find(const struct claims *c, struct str key);

#endif

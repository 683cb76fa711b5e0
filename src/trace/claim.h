/* trace/claim.h - who waits for a message that carries a certain value.
 *
 * A request claims the answer with its id, a paged list the request with its cursor.
 * Several may claim the same; the oldest comes first.
 *
 * Ownership: a claim and its key belong to whoever makes it and must outlive the
 * claim's stay. */
#ifndef TRACE_CLAIM_H
#define TRACE_CLAIM_H

#include "base/map.h"

struct claim {
    struct str key;
    void *owner;
    struct claim *before, *after; /* those with the same key, the oldest first */
    struct claim *last;           /* of the first: the last of them */
};

struct claims {
    struct map first; /* key to the oldest claim */
};

void claim_init(struct claims *c);
void claim_release(struct claims *c);

/* `claim` has its key and owner. False: it is not the only one with its key. */
bool claim_add(struct claims *c, struct claim *claim);
void claim_drop(struct claims *c, struct claim *claim);

/* The oldest claim of a key; NULL if there is none. */
struct claim *claim_find(const struct claims *c, struct str key);

#endif

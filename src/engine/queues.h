/* engine/queues.h - recorded requests that are taken for the same, in recorded order.
 *
 * A queue is known by its first strand and found by session, method and a hash of what its
 * requests say: of what they are about, or of all of it. An index: it does not know what
 * anybody has used up, and a hash proves nothing. */
#ifndef ENGINE_QUEUES_H
#define ENGINE_QUEUES_H

#include "engine/script.h"

struct queues {
    const struct script *script; /* borrowed; finished */
    bool by_params;              /* else by what they are about */
    uint32_t *heads;             /* a hash table of first strands */
    size_t slots;
    uint32_t *next; /* the strand after one in its queue; 0: it is the last */
};

void queues_init(struct queues *q, const struct script *script, bool by_params);
void queues_release(struct queues *q);

/* Whether requests of a method are queued by all they say. Polls never are: they are one
 * sequence, whatever else a client says with them. Nor are subscriptions, whose params are
 * what the live client wants to hear. */
bool queues_goes_by_params(const struct queues *q, uint32_t method);

/* The first strand of a queue; 0: there is none. */
uint32_t queues_find(const struct queues *q, uint32_t session, uint32_t method, uint32_t key);
uint32_t queues_of(const struct queues *q, uint32_t op);

/* Requests of which a part was redacted have queues of their own: what is left of them may
 * be all that another one says, and that one is to be found first. */
uint32_t queues_masked(uint32_t params_key);

enum mcp_class queues_class(const struct queues *q, uint32_t method);

#endif

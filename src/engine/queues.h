/* engine/queues.h - recorded requests that are taken for the same, in recorded order.
 *
 * A queue is known by its first strand and found by session, method and a hash of what its
 * requests say: of what they are about, or of all of it. An index: it does not know what
 * anybody has used up, and a hash proves nothing. */
#ifndef ENGINE_QUEUES_H
#define ENGINE_QUEUES_H

#include "engine/script.h"
#include "engine/spent.h"

struct queues {
    const struct script *script; /* borrowed; finished */
    bool by_params;              /* else by what they are about */
    bool second;                 /* another index of the script has states of its own */
    uint32_t *heads;             /* a hash table of first strands */
    size_t slots;
    uint32_t *next; /* the strand after one in its queue; 0: it is the last */
};

void queues_init(struct queues *q, const struct script *script, bool by_params);
void queues_release(struct queues *q);

/* Polls and subscriptions go by their subject in every mode: polls are one sequence, whatever
 * else the client sends with them, and the params of a subscription are what the live client
 * wants to receive. */
bool queues_is_sequence(const struct queues *q, uint32_t method);

/* Whether requests of a method are queued by all their params. */
bool queues_goes_by_params(const struct queues *q, uint32_t method);

/* The first strand of a queue; 0: there is none. */
uint32_t queues_find(const struct queues *q, uint32_t session, uint32_t method, uint32_t key);
uint32_t queues_of(const struct queues *q, uint32_t op);

/* The first request of a session that can be used, and the last one that has all of `flags`;
 * 0: there is none. */
uint32_t queues_first(const struct queues *q, uint32_t session);
uint32_t queues_last(const struct queues *q, uint32_t session, uint8_t flags);

/* How far a client is with a queue; valid until the next call. */
struct spent_queue *queues_state(const struct queues *q, struct spent *spent, uint32_t head);

/* Makes a request unused again. Of an index that was never made only that is noted. */
void queues_renew(const struct queues *q, struct spent *spent, uint32_t op);

/* Requests of which a part was redacted have queues of their own: what is left of them may
 * be all that another one says, and that one is to be found first. */
uint32_t queues_masked(uint32_t params_key);

enum mcp_class queues_class(const struct queues *q, uint32_t method);

#endif

/* engine/spent.h - what of a script one live client has used up.
 *
 * Strands by number, and for each queue of like strands where its next unused one can be
 * found. Memory is in proportion to what was used, not to the script: two hundred clients
 * on one script do not pay for it two hundred times. */
#ifndef ENGINE_SPENT_H
#define ENGINE_SPENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set in the name of a queue of the matcher's second index: the same strand may be first in a
 * queue of each. */
#define SPENT_SECOND ((uint32_t)1 << 31)

struct spent_queue {
    uint32_t name; /* first strand of the queue, maybe with SPENT_SECOND; 0: no queue */
    uint32_t next; /* no strand before this one is unused; 0: all are used */
    uint32_t last; /* the latest that was used and had succeeded; 0: none */
};

struct spent {
    uint64_t **pages; /* of bits, by number of a strand; NULL: none of them is used */
    size_t page_count;
    struct spent_queue *queues; /* a hash table, at most half full */
    size_t queue_count, queue_cap;
    uint32_t oldest; /* every strand that counts before this one was used once */
    uint32_t newest; /* none after this one was found; see match.h */
};

void spent_init(struct spent *s, size_t strands);
void spent_release(struct spent *s);
void spent_clear(struct spent *s);

bool spent_has(const struct spent *s, uint32_t strand);
void spent_mark(struct spent *s, uint32_t strand, bool used);

/* The state of a queue, made if there is none; valid until the next call. */
struct spent_queue *spent_queue(struct spent *s, uint32_t name);

#endif

/* trace/recall.h - the latest so many keys, each with what it stood for.
 *
 * For messages that refer to something that is over: an answer that comes twice, a
 * poll of a task that has ended. Of a key that was put more than once the latest
 * counts. Beyond `max` the oldest is forgotten.
 *
 * A key itself is not kept, only 128 bits of hash under a seed that nobody outside
 * the process knows. */
#ifndef TRACE_RECALL_H
#define TRACE_RECALL_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct recall_entry {
    uint64_t what, more;   /* the caller's */
    uint64_t hash, check;  /* of the key */
    uint32_t newer, older; /* in the same bucket: index + 1; 0: none */
};

struct recall {
    struct recall_entry *entries; /* a ring, once `max` are there */
    uint32_t *buckets;            /* the newest entry of each: index + 1; 0: none */
    size_t count, cap, max, oldest;
    uint64_t seed;
};

void recall_init(struct recall *r, size_t max); /* a power of two */
void recall_release(struct recall *r);

void recall_put(struct recall *r, struct str key, uint64_t what, uint64_t more);

/* NULL: never heard of, or forgotten. Valid until the next recall_put(). */
const struct recall_entry *recall_find(const struct recall *r, struct str key);

#endif

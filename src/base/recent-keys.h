/* base/recent-keys.h - remembers the latest `max` keys, each with two numbers.
 *
 * For messages that refer to something finished: a duplicate response, a poll of a task that
 * has ended. If a key was added more than once, the latest counts. Beyond `max` the oldest is
 * dropped.
 *
 * Stores no keys, only 128 bits of hash under a seed that is not known outside the process. */
#ifndef BASE_RECENT_KEYS_H
#define BASE_RECENT_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct recent_keys_entry {
    uint64_t value, extra; /* set by the caller */
    uint64_t hash, check;  /* of the key */
    uint32_t newer, older; /* in the same bucket: index + 1; 0: none */
};

struct recent_keys {
    struct recent_keys_entry *entries; /* a ring, once `max` are there */
    uint32_t *buckets;                 /* the newest entry of each: index + 1; 0: none */
    size_t count, cap, max, oldest;
    uint64_t seed;
};

void recent_keys_init(struct recent_keys *r, size_t max); /* `max` is a power of two */
void recent_keys_release(struct recent_keys *r);

void recent_keys_add(struct recent_keys *r, struct str key, uint64_t value, uint64_t extra);

/* Returns NULL if the key was never added or is dropped. Valid until the next
 * recent_keys_add(). */
const struct recent_keys_entry *recent_keys_find(const struct recent_keys *r, struct str key);

#endif

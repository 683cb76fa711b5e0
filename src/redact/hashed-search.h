/* redact/hashed-search.h - searches text for up to 10^5 secrets, storing only keyed hashes.
 *
 * Eight bytes of each secret are indexed as four overlapping windows of five bytes: their
 * hashes set bits in a table that grows with the number of secrets. A scan looks at every
 * fourth position, so it meets one of the windows; there, a hash of the whole secret decides.
 * The hash is seeded per process; a false match is as likely as guessing 64 bits. The secrets
 * themselves are not kept in memory.
 *
 * For few, short and permanent patterns use redact/multi-search. Scanning neither allocates nor
 * changes state. */
#ifndef REDACT_HASHED_SEARCH_H
#define REDACT_HASHED_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { HASHED_SEARCH_MIN = 8 }; /* bytes of a secret */

enum hashed_search_fold {
    HASHED_SEARCH_EXACT,
    HASHED_SEARCH_ANY_CASE,      /* ASCII letters match in any case */
    HASHED_SEARCH_SPACE_OR_PLUS, /* space and plus match each other */
};

struct hashed_search_entry {
    uint64_t hash;       /* of the whole folded text */
    uint32_t key;        /* hash of the eight indexed bytes */
    uint32_t windows[4]; /* hashes of the windows of these bytes */
    uint32_t offset;     /* of the eight bytes in the text */
    uint32_t len, id, next;
    enum hashed_search_fold fold;
};

struct hashed_search {
    struct hashed_search_entry *entries;
    size_t count, cap;
    uint64_t *bits;     /* by hash of a window; 1: some entry may have it */
    uint32_t *chains;   /* by key: index into `entries` + 1 */
    unsigned log2_bits; /* size of `bits`; 0: not allocated */
    uint64_t seed, factor;
};

void hashed_search_init(struct hashed_search *s);
void hashed_search_release(struct hashed_search *s);

/* Adds a text; hits report `id`, which several texts may share. A text shorter than
 * HASHED_SEARCH_MIN is a BUG. */
void hashed_search_add(struct hashed_search *s, struct str text, enum hashed_search_fold fold,
                       uint32_t id);

/* Finds an entry for exactly this text and fold whose id is at least `*id`; sets `*id`. */
bool hashed_search_has(const struct hashed_search *s, struct str text,
                       enum hashed_search_fold fold, uint32_t *id);

/* Removes the entries for whose id `keeps` returns false. */
void hashed_search_retain(struct hashed_search *s, bool (*keeps)(const void *to, uint32_t id),
                          const void *to);

/* Called for a text found at haystack[at..end). Returns false to end the search. */
typedef bool hashed_search_fn(void *to, size_t at, size_t end, uint32_t id);

/* Reports every occurrence, overlapping ones included. Returns false if `fn` did. */
bool hashed_search_scan(const struct hashed_search *s, struct str haystack,
                        hashed_search_fn *fn, void *to);

#endif

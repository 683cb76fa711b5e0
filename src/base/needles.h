/* base/needles.h - many short texts looked for at once.
 *
 * Of every needle three neighbouring bytes, the oddest, go into a table of hashes, in every
 * spelling they may have; where three bytes of the haystack are in it, the needles that have
 * them are compared in full. Most places cost one look into a few kilobytes, however many
 * needles there are, and if they are few even less: a sieve passes over them. Nothing is
 * copied.
 *
 * Ownership: needles are copied in. Searching changes nothing, allocates nothing. */
#ifndef BASE_NEEDLES_H
#define BASE_NEEDLES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/sieve.h"

enum {
    NEEDLES_SHORTEST = 3,    /* bytes */
    NEEDLES_HASH_BITS = 16,  /* of what is looked at everywhere: sparse, to be seldom wrong */
    NEEDLES_CHAIN_BITS = 12, /* of what is looked at if it was there */
};

enum needles_case {
    NEEDLES_EXACT,
    NEEDLES_ANY_CASE,      /* of ASCII letters */
    NEEDLES_SPACE_OR_PLUS, /* where the needle has a space there may be either */
};

struct needle {
    struct str text;     /* NEEDLES_ANY_CASE: in lower case */
    uint64_t head, mask; /* its first bytes in memory, and which count; exact needles only */
    size_t offset;       /* of the three bytes in the table */
    uint32_t id, next;
    uint32_t hash; /* of those three bytes in one of their spellings */
    enum needles_case fold;
};

struct needles {
    struct needle *all;
    size_t count, cap;
    struct sieve sieve;                         /* for what `seen` has */
    unsigned char seen[1 << NEEDLES_HASH_BITS]; /* 1: there is a needle */
    uint32_t chains[1 << NEEDLES_CHAIN_BITS];   /* index into `all` + 1 */
    struct arena arena;
};

void needles_init(struct needles *n);
void needles_release(struct needles *n);

/* `id` is what a hit says. Several needles may have the same; a shorter one is a BUG. */
void needles_add(struct needles *n, struct str text, enum needles_case fold, uint32_t id);

/* A needle at text[at..end). Where it returns false the search ends. */
typedef bool needles_fn(void *to, size_t at, size_t end, uint32_t id);

/* Every place where a needle stands, also inside another; in no particular order but that
 * places far behind each other come so. False if `fn` said so. */
bool needles_scan(const struct needles *n, struct str text, needles_fn *fn, void *to);

#endif

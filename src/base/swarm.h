/* base/swarm.h - very many texts looked for at once, none of which is kept.
 *
 * For what comes and goes while a program runs, by the hundred thousand. Of every text eight
 * bytes count, as four windows of five: hashes of these go into a table of bits that grows
 * with their number. Every fourth place of a haystack is looked at, so one of the windows
 * stands there; where that may be, a hash of the whole text decides, under a seed of this
 * process. The texts themselves are in memory nowhere. That something else is taken for one
 * of them is as likely as that 64 bits are guessed.
 *
 * Few short texts that stay are the business of base/needles. Searching changes nothing and
 * allocates nothing. */
#ifndef BASE_SWARM_H
#define BASE_SWARM_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { SWARM_SHORTEST = 8 }; /* bytes */

enum swarm_spelling {
    SWARM_EXACT,
    SWARM_ANY_CASE,      /* of ASCII letters */
    SWARM_SPACE_OR_PLUS, /* where the text has either there may be the other */
};

struct swarm_text {
    uint64_t hash; /* of all of it, in the one of its spellings that stands for the others */
    uint32_t key;  /* hash of the eight bytes */
    uint32_t windows[4]; /* hashes of those */
    uint32_t offset;     /* where the eight bytes stand in it */
    uint32_t len, id, next;
    enum swarm_spelling spelling;
};

struct swarm {
    struct swarm_text *all;
    size_t count, cap;
    uint64_t *bits;   /* 1: a window of a text may have this hash */
    uint32_t *chains; /* index into `all` + 1, by the hash of the eight bytes */
    unsigned log;     /* there are so many bits, as a power of two */
    uint64_t seed, factor;
};

void swarm_init(struct swarm *s);
void swarm_release(struct swarm *s);

/* `id` is what a hit says. Several texts may have the same; a shorter one is a BUG. */
void swarm_add(struct swarm *s, struct str text, enum swarm_spelling spelling, uint32_t id);

/* Whether exactly this text was added so under an id that is at least `*id`; which one. */
bool swarm_has(const struct swarm *s, struct str text, enum swarm_spelling spelling,
               uint32_t *id);

/* Forgets the texts of which the id is not to be kept. Their room is for those that come. */
void swarm_keep(struct swarm *s, bool (*keeps)(const void *to, uint32_t id), const void *to);

/* A text at haystack[at..end). Where it returns false the search ends. */
typedef bool swarm_fn(void *to, size_t at, size_t end, uint32_t id);

/* Every place where a text stands, also inside another. False if `fn` said so. */
bool swarm_scan(const struct swarm *s, struct str haystack, swarm_fn *fn, void *to);

#endif

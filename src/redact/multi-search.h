/* redact/multi-search.h - searches text for many short patterns at once.
 *
 * The three rarest neighbouring bytes (gram) of each pattern are hashed into a table, in every
 * spelling; where a gram of the text is in the table, the patterns with that gram are compared
 * in full. Most positions cost one lookup in a few kilobytes, whatever the number of patterns;
 * with few patterns redact/prefilter skips most positions.
 *
 * Ownership: patterns are copied. Scanning neither allocates nor changes state. */
#ifndef REDACT_MULTI_SEARCH_H
#define REDACT_MULTI_SEARCH_H

#include <stdint.h>

#include "base/arena.h"
#include "redact/prefilter.h"

enum {
    MULTI_SEARCH_MIN = 3,         /* bytes of a pattern */
    MULTI_SEARCH_HASH_BITS = 16,  /* of `has_gram`: sparse, so that false hits are rare */
    MULTI_SEARCH_CHAIN_BITS = 12, /* of `chains` */
};

enum multi_search_fold {
    MULTI_SEARCH_EXACT,
    MULTI_SEARCH_ANY_CASE,      /* ASCII letters match in any case */
    MULTI_SEARCH_SPACE_OR_PLUS, /* a space of the pattern also matches a plus */
};

struct multi_search_pattern {
    struct str text;     /* MULTI_SEARCH_ANY_CASE: in lower case */
    uint64_t head, mask; /* the first bytes as a word, and which are used; exact ones only */
    size_t gram_offset;  /* of the indexed gram in `text` */
    uint32_t id, next;
    uint32_t hash; /* of the gram in one of its spellings */
    enum multi_search_fold fold;
};

struct multi_search {
    struct multi_search_pattern *patterns;
    size_t count, cap;
    struct prefilter prefilter;                          /* for the grams in `has_gram` */
    unsigned char has_gram[1 << MULTI_SEARCH_HASH_BITS]; /* by hash; 1: a pattern has it */
    uint32_t chains[1 << MULTI_SEARCH_CHAIN_BITS];       /* index into `patterns` + 1 */
    struct arena arena;
};

void multi_search_init(struct multi_search *n);
void multi_search_release(struct multi_search *n);

/* Adds a pattern; hits report `id`, which several patterns may share. A pattern shorter than
 * MULTI_SEARCH_MIN is a BUG. */
void multi_search_add(struct multi_search *n, struct str text, enum multi_search_fold fold,
                      uint32_t id);

/* Called for a pattern found at text[at..end). Returns false to end the search. */
typedef bool multi_search_fn(void *to, size_t at, size_t end, uint32_t id);

/* Reports every occurrence, overlapping ones included; the order is not defined for hits that
 * are close together. Returns false if `fn` did. */
bool multi_search_scan(const struct multi_search *n, struct str text, multi_search_fn *fn,
                       void *to);

#endif

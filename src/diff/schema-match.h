/* diff/schema-match.h - finds which elements of two lists of values belong together: values of
 * enum, branches of unions, elements of allOf.
 *
 * Linear, except for sorting; schema_match_pairs() tries SCHEMA_MATCH_PAIRS pairs at most. */
#ifndef DIFF_SCHEMA_MATCH_H
#define DIFF_SCHEMA_MATCH_H

#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"

enum { SCHEMA_MATCH_PAIRS = 10000 };

struct schema_match_item {
    uint64_t hash; /* equal for equal values */
    struct json_val value;
    size_t index;
    unsigned types; /* set and read by the caller only */
    bool matched;
};

struct schema_match_list {
    struct schema_match_item *at; /* sorted by hash, then by index; in the arena */
    size_t count;
};

struct schema_match_list schema_match_list(const struct json_val *values, size_t count,
                                           struct arena *a);

/* Leaves one of equal values. */
void schema_match_drop_repeated(struct schema_match_list *list);

/* Marks as many elements as both lists have. */
void schema_match_equal(struct schema_match_list *a, struct schema_match_list *b);

/* How schema_match_pairs() finds and reports pairs. */
struct schema_match_events {
    bool (*is_same)(void *to, const struct schema_match_item *before,
                    const struct schema_match_item *after);
    void (*matched)(void *to, const struct schema_match_item *before,
                    const struct schema_match_item *after);
};

/* Marks and reports elements without a match that are the same as exactly one on the other
 * side. */
void schema_match_pairs(struct schema_match_list *before, struct schema_match_list *after,
                        const struct schema_match_events *events, void *to);

/* Returns the only element without a match; NULL: there is none, or several. */
struct schema_match_item *schema_match_only(const struct schema_match_list *list);

/* Sorts by index: the order in the schema. */
void schema_match_sort(struct schema_match_list *list);

/* Appends an array of the values without a match, in their order; nothing if there are none. */
void schema_match_write_unmatched(struct buf *to, struct schema_match_list *list);

#endif

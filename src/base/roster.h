/* base/roster.h - rows by name, as many as were agreed on and no more.
 *
 * For counting what a file or a peer names: however many names there are and however
 * long, memory stays bounded. The first `max` names get a row each, all others share
 * one. A name has one or more parts. Of long parts the start and a hash decide.
 *
 * Ownership: rows live until the release and never move. */
#ifndef BASE_ROSTER_H
#define BASE_ROSTER_H

#include "base/arena.h"
#include "base/map.h"

enum { ROSTER_PARTS = 3 };

struct roster {
    struct map index;
    struct arena arena; /* rows, and what else is kept for them */
    void **rows;        /* in order of first appearance */
    size_t count, max, row_size;
    void *others; /* what the names beyond `max` share; NULL: nobody had to */
};

/* Rows of `row_size` bytes, zeroed. */
void roster_init(struct roster *t, size_t row_size, size_t max);
void roster_release(struct roster *t);

/* The row of a name, made on first sight: then, and only then, `*fresh` is set, and
 * the caller may fill it in. The shared row is never fresh. */
void *roster_row(struct roster *t, const struct str *parts, size_t count, bool *fresh);

#endif

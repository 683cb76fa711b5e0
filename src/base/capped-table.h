/* base/capped-table.h - counts by name, with a maximum number of rows.
 *
 * Memory stays bounded however many names a file or a message uses and however long they are:
 * the first `max` names get a row each, all others share the overflow row. A name has one or
 * more parts. Long parts are compared by their start and a hash.
 *
 * Ownership: rows live until the release and never move. */
#ifndef BASE_CAPPED_TABLE_H
#define BASE_CAPPED_TABLE_H

#include "base/arena.h"
#include "base/map.h"

enum { CAPPED_TABLE_PARTS = 3 };

struct capped_table {
    struct map index;
    struct arena arena; /* rows, and what the caller keeps for them */
    void **rows;        /* in order of first appearance */
    size_t count, max, row_size;
    void *overflow; /* row of the names beyond `max`; NULL: there are none */
};

/* New rows have `row_size` bytes, zeroed. */
void capped_table_init(struct capped_table *t, size_t row_size, size_t max);
void capped_table_release(struct capped_table *t);

/* Returns the row of a name. If it is new, adds it, sets `*fresh`, and the caller may fill it
 * in. The overflow row is never fresh. */
void *capped_table_row(struct capped_table *t, const struct str *parts, size_t count,
                       bool *fresh);

/* Returns the overflow row; adds it if there is none. */
void *capped_table_overflow(struct capped_table *t);

#endif

/* cmd/show-hold.h - rows about operations, put into an order people can read.
 *
 * Operations end in any order. Here their rows wait for those before them: families come
 * in the order of their numbers, children below their parents. Rows are let go earlier,
 * and so out of order, only if more would wait than SHOW_HOLD_ROWS or SHOW_HOLD_BYTES, or if
 * the owner sets `eager`: then each family goes once it is whole. What belongs to a family that
 * was let go stands alone.
 *
 * A row is shown if it is wanted, or if one that it belongs to is. */
#ifndef CMD_SHOW_HOLD_H
#define CMD_SHOW_HOLD_H

#include "trace/operation.h"

enum { SHOW_HOLD_ROWS = 16384, SHOW_HOLD_BYTES = 8 << 20 };

/* What a list shows of an operation besides its columns, from its messages. */
struct show_detail {
    struct str arguments, error;
};

struct show_row {
    uint64_t number, parent;
    uint64_t session;          /* for the owner; 0: none */
    struct show_detail detail; /* see show_hold_keep() */
    uint64_t seen;             /* for the owner: what a filter has seen of it */
    int64_t gap;               /* for the owner */
    bool drifts;               /* for the owner */
    struct str text;
    bool ended, wanted;

    /* The hold's own. */
    size_t depth, child, last, next; /* tree of the family, as indexes + 1 */
    bool shown;
};

/* Shows one row; `depth` is 0 for one that stands alone or above others. Returning false
 * means that no more can be taken. */
struct show_rows {
    bool (*put)(struct show_rows *self, const struct show_row *row, size_t depth,
                struct err *e);
};

struct show_family;

struct show_hold {
    struct show_rows *to;
    struct show_family **families; /* by number of the root; a window of the array */
    size_t first, count, cap;
    size_t rows, bytes;
    uint64_t highest; /* number that was ever heard of */
    bool eager;       /* set by the owner: rows in the order in which operations end */
};

void show_hold_init(struct show_hold *h, struct show_rows *to);
void show_hold_release(struct show_hold *h);

/* The row of an operation that has not ended; made if it is not there. Valid until the
 * next call. */
struct show_row *show_hold_row(struct show_hold *h, const struct operation *op);

/* Puts a copy of `text` in the place of `*at`, one of the texts of an open row's detail. */
void show_hold_keep(struct show_hold *h, struct str *at, struct str text);

/* The operation has ended, and `text`, which is copied, is what to show of it. */
bool show_hold_end(struct show_hold *h, const struct operation *op, struct str text,
                   bool wanted, struct err *e) MUST_CHECK;

/* Nothing more will come. */
bool show_hold_finish(struct show_hold *h, struct err *e) MUST_CHECK;

#endif

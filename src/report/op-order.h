/* report/op-order.h - sorts the rows of operations by number, children below their parents.
 *
 * Operations end in any order. A row is held until all families (a root operation with its
 * children) before its own have been emitted. Families are emitted early, and so out of order,
 * if more than OP_ORDER_MAX_ROWS or OP_ORDER_MAX_BYTES would be held, or if the owner sets
 * `by_end`: then each family is emitted when it is complete. A child whose family was emitted
 * before becomes a family of its own.
 *
 * A row is shown if it matches, or if its parent is shown. */
#ifndef REPORT_OP_ORDER_H
#define REPORT_OP_ORDER_H

#include "filter/filter-operation.h"

enum { OP_ORDER_MAX_ROWS = 16384, OP_ORDER_MAX_BYTES = 8 << 20 };

/* Texts of the messages that a list shows beside the columns of an operation. */
struct op_row_detail {
    struct str arguments, error;
};

struct op_row {
    uint64_t number, parent;
    uint64_t session;               /* for the owner; 0: none */
    struct op_row_detail detail;    /* see op_order_set_text() */
    struct filter_operation filter; /* for the owner */
    struct str text;
    bool ended, matches;

    /* Private. */
    size_t depth, child, last, next; /* tree of the family; the last three are indexes + 1 */
    bool shown;
};

/* Receives rows in order; `depth` is 0 for a row without a shown parent. put() returns false on
 * an error, which ends the output. */
struct op_row_sink {
    bool (*put)(struct op_row_sink *self, const struct op_row *row, size_t depth,
                struct err *e);
};

struct op_family;

struct op_order {
    struct op_row_sink *sink;
    struct op_family *
        *families; /* sorted by number of the root; [first, first + count) is used */
    size_t first, count, cap;
    size_t rows, bytes;
    uint64_t highest_number; /* of all operations so far */
    bool by_end;             /* set by the owner: emit a family as soon as it is complete */
};

void op_order_init(struct op_order *h, struct op_row_sink *to);
void op_order_release(struct op_order *h);

/* Returns the row of an operation that has not ended; adds it if needed. Valid until the next
 * call. */
struct op_row *op_order_row(struct op_order *h, const struct operation *op);

/* Replaces `*at`, a text of the detail of an open row, by a copy of `text`. */
void op_order_set_text(struct op_order *h, struct str *at, struct str text);

/* Ends the row of an operation with a copy of `text`; emits the families that are due. */
bool op_order_end(struct op_order *h, const struct operation *op, struct str text, bool wanted,
                  struct err *e) MUST_CHECK;

/* Emits all held rows. */
bool op_order_finish(struct op_order *h, struct err *e) MUST_CHECK;

#endif

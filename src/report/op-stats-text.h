/* report/op-stats-text.h - writes the cells of tables that inspect and stats share, and the
 * table of context cost, for a terminal. */
#ifndef REPORT_OP_STATS_TEXT_H
#define REPORT_OP_STATS_TEXT_H

#include "base/buf.h"
#include "ops/op-stats.h"

enum { OP_STATS_TEXT_TIME = 10, OP_STATS_TEXT_BYTES = 10 }; /* columns of a time, of a size */

/* Method and subject, escaped, cut and padded to `columns`. */
void op_stats_text_name(struct buf *to, const struct op_stats_row *row, int columns);

/* p50, p95 and maximum, in three columns; nothing if `h` is NULL. */
void op_stats_text_times(struct buf *to, const struct histogram *h);

/* A number of bytes, in one column. */
void op_stats_text_bytes(struct buf *to, uint64_t bytes);

/* Adds "3 tool errors" behind `*before`, which becomes ", "; nothing if `n` is 0. */
void op_stats_text_kind(struct buf *to, const char **before, uint64_t n, const char *one,
                        const char *many);
void op_stats_text_outcome(struct buf *to, const char **before, enum operation_outcome outcome,
                           uint64_t n);

struct op_stats_text_context {
    int name_columns;
    size_t max_rows; /* 0: all */
    bool color;
};

/* Writes a table of what reaches a model: the definition and the results of each row, in bytes
 * and estimated tokens. Leaves out rows that have neither. Returns the number of rows that
 * belong to the table, written or not; writes nothing if there are none. */
size_t op_stats_text_context(struct buf *to, const struct op_stats_text_context *page,
                             const struct op_stats_row *const *rows, size_t count);

#endif

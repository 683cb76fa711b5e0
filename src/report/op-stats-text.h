/* report/op-stats-text.h - writes the cells of a row of ops/op-stats.h for a terminal. */
#ifndef REPORT_OP_STATS_TEXT_H
#define REPORT_OP_STATS_TEXT_H

#include "base/buf.h"
#include "ops/op-stats.h"

enum { OP_STATS_TEXT_TIME = 10 }; /* columns of a time */

/* Method and subject, escaped, cut and padded to `columns`. */
void op_stats_text_name(struct buf *to, const struct op_stats_row *row, int columns);

/* p50, p95 and maximum, in three columns; nothing if `h` is NULL. */
void op_stats_text_times(struct buf *to, const struct histogram *h);

/* Adds "3 tool errors" behind `*before`, which becomes ", "; nothing if `n` is 0. */
void op_stats_text_kind(struct buf *to, const char **before, uint64_t n, const char *one,
                        const char *many);
void op_stats_text_outcome(struct buf *to, const char **before, enum operation_outcome outcome,
                           uint64_t n);

#endif

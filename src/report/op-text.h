/* report/op-text.h - writes operations, messages and records as text rows.
 *
 * Text of the file is escaped. On a terminal no row is wider than the terminal; elsewhere names
 * are not cut, and arguments and errors have at most OP_TEXT_DETAIL columns. */
#ifndef REPORT_OP_TEXT_H
#define REPORT_OP_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "report/op-order.h"

enum { OP_TEXT_DETAIL = 120 };

/* Widths of the columns; 0: the column is not shown. */
struct op_text_layout {
    size_t width; /* of the terminal; 0: not a terminal */
    size_t number, time, sender, name, outcome, duration, size;
    size_t session; /* set by op_text_add_session_column() */
    bool color;
};

/* Returns the layout for a terminal; a narrow one has narrower columns and no sizes. */
struct op_text_layout op_text_layout(size_t width, bool color);

/* Adds the session column. Call it when a recording has several sessions. */
void op_text_add_session_column(struct op_text_layout *l);

/* Append the header line of a list. */
void op_text_write_operations_header(struct buf *to, const struct op_text_layout *l);
void op_text_write_messages_header(struct buf *to, const struct op_text_layout *l);

/* Return the text that a list shows of a message beside its columns, clipped; empty: there is
 * none. The arguments of a request or notification are those of the tool or prompt, otherwise
 * its params without the subject, as compact JSON. The error of a failed response is the
 * message of the JSON-RPC error or the first text of the tool result. Lives in `a` or is
 * borrowed from the event. */
struct str op_text_arguments(const struct operation_event *ev, struct arena *a);
struct str op_text_error(const struct operation_event *ev, struct arena *a);

/* Appends the four parts of a row, separated by newlines: number and time, sender, name, the
 * rest. op_text_write_row() makes a line of them when the depth of the row is known and whether
 * there is a session column. */
void op_text_write_operation(struct buf *to, const struct operation *op,
                             const struct op_row_detail *detail,
                             const struct op_text_layout *l);
void op_text_write_row(struct buf *to, const struct op_row *row, size_t depth,
                       const struct op_text_layout *l);

/* Append one line with its newline. `us` is the time since the start; -1: unknown. */
void op_text_write_message(struct buf *to, const struct operation_event *ev, int64_t us,
                           const struct op_text_layout *l);
void op_text_write_record(struct buf *to, const struct record *r, int64_t us,
                          const struct op_text_layout *l);

/* Append the title above a message that is shown whole, and the summary of an operation. */
void op_text_write_title(struct buf *to, const struct operation_event *ev, int64_t us,
                         bool color);
void op_text_write_summary(struct buf *to, const struct operation *op, bool color);

#endif

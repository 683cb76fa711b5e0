/* cmd/show-text.h - operations and messages as lines for people.
 *
 * Everything from the file is escaped. */
#ifndef CMD_SHOW_TEXT_H
#define CMD_SHOW_TEXT_H

#include "base/buf.h"
#include "trace/operation.h"

/* The line above a list. */
void show_text_operations_head(struct buf *to, bool color);
void show_text_messages_head(struct buf *to, bool color);

/* A row in three parts: what stands before the name, the name, and what follows; parted by
 * newlines, and to be put together by show_text_row() once it is known how deep it
 * stands. */
void show_text_operation(struct buf *to, const struct operation *op, bool color);
void show_text_row(struct buf *to, struct str parts, size_t depth, uint64_t parent);

/* One line with its newline. `us`: -1 if not known. */
void show_text_message(struct buf *to, const struct operation_event *ev, int64_t us,
                       bool color);
void show_text_record(struct buf *to, const struct record *r, int64_t us, bool color);

/* What stands above a message that is shown whole, and below an operation. */
void show_text_title(struct buf *to, const struct operation_event *ev, int64_t us, bool color);
void show_text_verdict(struct buf *to, const struct operation *op, bool color);

#endif

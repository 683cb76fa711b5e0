/* cmd/show-text.h - operations and messages as lines for people.
 *
 * Everything from the file is escaped. On a terminal no row is wider than the terminal;
 * elsewhere names are not cut, and arguments and error texts have at most SHOW_TEXT_DETAIL
 * columns. */
#ifndef CMD_SHOW_TEXT_H
#define CMD_SHOW_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "cmd/show-hold.h"

enum { SHOW_TEXT_DETAIL = 120 };

/* Widths of columns; 0: it is not shown. */
struct show_layout {
    size_t width; /* of the terminal; 0: there is none */
    size_t number, time, from, name, outcome, took, size;
    size_t
        session; /* 0 at first: to be set where there are several, see show_text_sessions() */
    bool color;
};

/* Narrow terminals get narrower columns, and no sizes. */
struct show_layout show_text_layout(size_t width, bool color);

/* Makes room for a column that tells sessions apart. */
void show_text_sessions(struct show_layout *l);

/* The line above a list. */
void show_text_operations_head(struct buf *to, const struct show_layout *l);
void show_text_messages_head(struct buf *to, const struct show_layout *l);

/* What a list shows of a message besides its columns; empty if there is nothing, clipped if it
 * is long. A request or notification has arguments: those of the tool or prompt, of others the
 * params but for what the name says already; as JSON without blanks. An answer that failed has
 * an error: the text of a JSON-RPC error, or the first text of a tool's result. In `a`, or
 * borrowed from the event. */
struct str show_text_arguments(const struct operation_event *ev, struct arena *a);
struct str show_text_error(const struct operation_event *ev, struct arena *a);

/* A row in four parts: number and time, sender, name, and all that follows; parted by newlines,
 * and to be put together by show_text_row() once its depth is known, and whether there are
 * several sessions. `session` 0: it has none. */
void show_text_operation(struct buf *to, const struct operation *op,
                         const struct show_detail *detail, const struct show_layout *l);
void show_text_row(struct buf *to, const struct show_row *row, size_t depth,
                   const struct show_layout *l);

/* One line with its newline. `us`: -1 if not known. */
void show_text_message(struct buf *to, const struct operation_event *ev, int64_t us,
                       const struct show_layout *l);
void show_text_record(struct buf *to, const struct record *r, int64_t us,
                      const struct show_layout *l);

/* What stands above a message that is shown whole, and below an operation. */
void show_text_title(struct buf *to, const struct operation_event *ev, int64_t us, bool color);
void show_text_verdict(struct buf *to, const struct operation *op, bool color);

#endif

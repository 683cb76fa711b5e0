/* format/op-export.h - the common part of formats that have one row for each request.
 *
 * Such a format is only written, and takes operations. It forwards them and the records to this
 * module, which makes a row for each request when it has ended, of the client or of the server,
 * also for retries, polls and pages; `is_call` is false for these. The format writes the
 * columns in its own notation.
 *
 * A row has numbers and names, no params and no results. The server of a row is unknown if none
 * was named before the request ended. */
#ifndef FORMAT_OP_EXPORT_H
#define FORMAT_OP_EXPORT_H

#include "base/capped-table.h"
#include "format/format.h"
#include "ops/op-servers.h"

enum { OP_EXPORT_COLUMNS = 21 };

enum op_export_kind {
    OP_EXPORT_NONE, /* unknown, or there is none */
    OP_EXPORT_TEXT,
    OP_EXPORT_NUMBER,
    OP_EXPORT_FLAG,
};

struct op_export_value {
    enum op_export_kind kind;
    struct str text;
    int64_t number; /* of a flag: 0 or 1 */
};

/* The names of the columns, in their order. */
extern const char *const op_export_names[OP_EXPORT_COLUMNS];

typedef void (*op_export_row_fn)(struct buf *to,
                                 const struct op_export_value row[OP_EXPORT_COLUMNS]);

struct op_export;

/* Calls `put_row` for each request. */
struct op_export *op_export_new(op_export_row_fn put_row);
void op_export_free(struct op_export *x);

/* Like the functions of the same names in struct format. */
void op_export_put(struct op_export *x, const struct record *r);
void op_export_put_operation(struct op_export *x, struct buf *to,
                             const struct format_operation *o);

#endif

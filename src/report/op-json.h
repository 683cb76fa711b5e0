/* report/op-json.h - writes operations, messages and records as JSON, one object per line.
 *
 * The members are described in docs/json-output.md. */
#ifndef REPORT_OP_JSON_H
#define REPORT_OP_JSON_H

#include "base/buf.h"
#include "report/op-order.h"

/* Each appends one line with its newline. `us` is the time since the start; -1: unknown.
 * `whole`: includes the payload. */
void op_json_write_operation(struct buf *to, const struct operation *op,
                             const struct op_row_detail *detail);
void op_json_write_message(struct buf *to, const struct operation_event *ev, int64_t us,
                           bool whole);
void op_json_write_record(struct buf *to, const struct record *r, int64_t us);

#endif

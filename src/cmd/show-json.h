/* cmd/show-json.h - operations and messages as JSON, one object per line.
 *
 * The members are described in docs/json-output.md. */
#ifndef CMD_SHOW_JSON_H
#define CMD_SHOW_JSON_H

#include "base/buf.h"
#include "cmd/show-hold.h"

/* Each is one line, with its newline. `us`: -1 if not known. */
void show_json_operation(struct buf *to, const struct operation *op,
                         const struct show_detail *detail);
void show_json_message(struct buf *to, const struct operation_event *ev, int64_t us,
                       bool whole);
void show_json_record(struct buf *to, const struct record *r, int64_t us);

#endif

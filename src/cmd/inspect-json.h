/* cmd/inspect-json.h - statistics of a recording as one JSON object.
 *
 * Its members are described in docs/json-output.md. */
#ifndef CMD_INSPECT_JSON_H
#define CMD_INSPECT_JSON_H

#include "cmd/inspect-text.h"

/* One line, with its newline. */
void inspect_json_add(struct buf *to, const struct stats *s, const struct inspect_file *file);

#endif

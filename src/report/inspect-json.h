/* report/inspect-json.h - writes the statistics of a recording as one JSON object.
 *
 * Its members are described in docs/json-output.md. */
#ifndef REPORT_INSPECT_JSON_H
#define REPORT_INSPECT_JSON_H

#include "report/inspect-text.h"

/* Appends one line with its newline. */
void inspect_json_write(struct buf *to, const struct stats *s, const struct inspect_file *file);

#endif

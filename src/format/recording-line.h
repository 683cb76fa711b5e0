/* format/recording-line.h - one line of the native recording, both ways.
 *
 * The members of every type of line stand in one table, which reads and writes
 * them; unknown members are kept as they are. Knows nothing of files or of other
 * lines. The format is described in docs/formats/recording.md. */
#ifndef FORMAT_RECORDING_LINE_H
#define FORMAT_RECORDING_LINE_H

#include "base/buf.h"
#include "trace/record.h"

#define RECORDING_NAME "recording"
#define RECORDING_VERSION "1.0"
#define RECORDING_MADE_FOR "0.3.0" /* the specification's own version */

/* `line` is any JSON value; what is decoded goes into `a`. On false `*at` is the
 * offset of the offending value in the line's text. */
bool recording_line_read(struct json_val line, struct record *r, struct arena *a, size_t *at,
                         struct err *e) MUST_CHECK;

/* The line with its newline. */
void recording_line_write(struct buf *to, const struct record *r);

/* Is this the name of a type of line that we know? */
bool recording_line_knows(struct str type);

#endif

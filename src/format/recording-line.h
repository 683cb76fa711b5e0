/* format/recording-line.h - reads and writes one line of the native recording format.
 *
 * One table has the members of every type of line, for reading and writing; unknown members are
 * kept. Knows nothing of files or other lines. The format is specified in
 * docs/formats/recording.md. */
#ifndef FORMAT_RECORDING_LINE_H
#define FORMAT_RECORDING_LINE_H

#include "base/buf.h"
#include "trace/record.h"

#define RECORDING_NAME "recording"
#define RECORDING_VERSION "1.0"
#define RECORDING_THOUGHTJACK_VERSION "0.3.0" /* version of the specification */

/* Reads a line, which may be any JSON value; decoded texts are in `a`. On failure `*at` is the
 * offset of the invalid value in the line. */
bool recording_line_read(struct json_val line, struct record *r, struct arena *a, size_t *at,
                         struct err *e) MUST_CHECK;

/* Writes the line with its newline. */
void recording_line_write(struct buf *to, const struct record *r);

/* Whether it is the name of a known type of line. */
bool recording_line_is_known_type(struct str type);

#endif

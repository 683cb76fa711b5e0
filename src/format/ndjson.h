/* format/ndjson.h - reads files of JSON values, one per line.
 *
 * Accepts blank lines, CRLF, values over several lines (jq without -c), a last line truncated
 * by a crash, and NUL bytes at the end left by a power failure. Any other damage is an error.
 * Does not know the meaning of values. No value has a line break in it, so that it can be
 * written as one line. */
#ifndef FORMAT_NDJSON_H
#define FORMAT_NDJSON_H

#include "format/format.h"

struct ndjson {
    struct json json;    /* the current value, valid until the next call */
    struct buf one_line; /* text of a value over several lines, with blanks for line breaks */
    const char *source;  /* the original of `one_line`, in the window */
    size_t searched;     /* no newline in the window before this */
    size_t multiline_scanned; /* bytes scanned of a value over several lines */
    size_t first_fault;       /* where its first line ended unfinished */
};

void ndjson_init(struct ndjson *n);
void ndjson_release(struct ndjson *n);

/* Scans the next value; NEXT_RECORD: `*t` is what it consumed. Else as next() of a format. */
enum next_result ndjson_next(struct ndjson *n, const struct window *w, struct consumed *t,
                             struct err *e);

/* Sets where the window has a message of the current value, if its text was copied. */
void ndjson_set_message(const struct ndjson *n, struct json_val message, struct consumed *t);

/* After an error: the next call starts with another value. */
void ndjson_resync(struct ndjson *n);

/* For probes, if the first value is longer than the head of a file: whether it starts with this
 * text, ignoring blanks between tokens. Then `*head` is advanced past it. */
bool ndjson_starts_with(struct str *head, struct str text);

#endif

/* format/ndjson.h - files of JSON values, one per line, as real ones are.
 *
 * Forgives blank lines, CRLF, values spread over several lines (jq without -c), a
 * last line torn by a crash and a tail of NUL bytes left by a power cut. Forgives
 * nothing else: a file that is damaged before its end is not one to test against.
 * What a value means is the caller's business. No value has a line break in it, so
 * that whoever writes it again writes one line. */
#ifndef FORMAT_NDJSON_H
#define FORMAT_NDJSON_H

#include "format/format.h"

struct ndjson {
    struct json json;   /* the current value, valid until the next call */
    struct buf flat;    /* its text if it stood on several lines: their ends made blanks */
    size_t searched;    /* no newline in the window before this */
    size_t gathered;    /* a value over several lines: how much was tried in vain */
    size_t first_fault; /* where the first of its lines turned out to be unfinished */
};

void ndjson_init(struct ndjson *n);
void ndjson_release(struct ndjson *n);

/* NEXT_RECORD: a value was scanned, and `*t` says what of the window it took. The
 * others as for a format's next(). */
enum next ndjson_next(struct ndjson *n, const struct window *w, struct taken *t, struct err *e);

/* After an error: the next call starts with another value. */
void ndjson_drop(struct ndjson *n);

/* For probes, when the first value does not end in the head of a file: does it start
 * with this text, blanks between its tokens aside? Then `*head` is moved past it. */
bool ndjson_starts(struct str *head, struct str text);

#endif

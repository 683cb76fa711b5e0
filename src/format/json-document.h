/* format/json-document.h - reads a file that is one JSON value.
 *
 * The text of values has blanks for line breaks, so that each can be written on one line.
 * Offsets are those of the file. */
#ifndef FORMAT_JSON_DOCUMENT_H
#define FORMAT_JSON_DOCUMENT_H

#include "format/format.h"

struct json_document {
    struct json json;
    struct buf one_line;
    bool scanned; /* set once `json` has the document */
};

void json_document_init(struct json_document *d);
void json_document_release(struct json_document *d);

/* Scans the document, once. Returns NEXT_RECORD, NEXT_MORE, or NEXT_ERROR with the position. */
enum next_result json_document_scan(struct json_document *d, const struct window *w,
                                    struct consumed *t, struct err *e);

/* Returns the text of a JSON value with blanks for line breaks; a copy in `a` if it has some.
 */
struct str json_document_one_line(struct str text, struct arena *a);

/* The text of a value in the window, for `message` of struct consumed. */
struct str json_document_source(const struct window *w, struct json_val v);

/* Iterates over the members of an object whose text may be cut off; for probes. */
struct json_document_head {
    struct json json;
    struct json_val name;
    struct str value; /* the text from the value on, to the end; empty if it is cut off */
    struct str rest;  /* the text from the first name on; empty once it was read */
};

void json_document_head_init(struct json_document_head *h, struct str head);
bool json_document_head_next(struct json_document_head *h);
void json_document_head_release(struct json_document_head *h);

#endif

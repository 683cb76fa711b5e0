/* wire/body.h - reads the body of an HTTP message up to its end.
 *
 * The framing (none, a length, chunks) is decided by the parser of the head and only applied
 * here. Does no I/O. Data points into the bytes that were fed. */
#ifndef WIRE_BODY_H
#define WIRE_BODY_H

#include "wire/chunked.h"

enum body_kind {
    BODY_NONE,
    BODY_LENGTH, /* Content-Length */
    BODY_CHUNKED,
};

struct body_framing {
    enum body_kind kind;
    uint64_t length; /* for BODY_LENGTH */
};

struct body {
    enum body_kind kind;
    uint64_t remaining;     /* BODY_LENGTH: bytes not read yet */
    struct chunked chunked; /* BODY_CHUNKED: the reader, with trailers and `reason` */
};

enum body_next {
    BODY_MORE,     /* needs more input */
    BODY_DATA,     /* `*data` is the next part of the body */
    BODY_END,      /* the body is complete; `*in` holds what follows it */
    BODY_REJECTED, /* invalid chunks; see chunked.reason */
};

/* Returns whether the body has no bytes. */
bool body_is_empty(struct body_framing framing);

/* Parses a Content-Length: decimal digits only, at most INT64_MAX. */
bool body_parse_length(struct str text, uint64_t *length);

void body_init(struct body *b, struct body_framing framing);
void body_release(struct body *b);

/* Consumes bytes from the front of `*in`. An empty body ends with the first call. */
enum body_next body_next(struct body *b, struct str *in, struct str *data);

#endif

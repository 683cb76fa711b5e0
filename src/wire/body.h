/* wire/body.h - where the body of a message ends, and its bytes until there.
 *
 * Decides nothing: what the head says is decided where heads are read. Ownership as
 * in chunked: data points into what was fed. */
#ifndef WIRE_BODY_H
#define WIRE_BODY_H

#include "wire/chunked.h"

enum body_kind {
    BODY_NONE,
    BODY_LENGTH, /* so many bytes */
    BODY_CHUNKED,
};

struct body_plan {
    enum body_kind kind;
    uint64_t length; /* for BODY_LENGTH */
};

struct body {
    enum body_kind kind;
    uint64_t left;          /* BODY_LENGTH: bytes still to come */
    struct chunked chunked; /* only for BODY_CHUNKED: the reader, with its trailers and `why` */
};

enum body_next {
    BODY_MORE,    /* feed me */
    BODY_DATA,    /* some of its bytes */
    BODY_END,     /* it is whole; what follows it is still in `*in` */
    BODY_REFUSED, /* only in chunks; see chunked.why */
};

/* Whether no byte of it is to come. */
bool body_is_none(struct body_plan plan);

/* What a length says: digits and nothing else, up to what a signed number holds. */
bool body_length(struct str text, uint64_t *length);

void body_init(struct body *b, struct body_plan plan);
void body_release(struct body *b);

/* Takes from the front of `*in`. A body of no bytes ends at the first call. */
enum body_next body_next(struct body *b, struct str *in, struct str *data);

#endif

/* wire/chunked.h - reads and writes the chunked transfer coding.
 *
 * The reader is strict: the size is hexadecimal digits without blanks, every line ends in
 * CR LF, extensions have no blanks and are limited in size (they are dropped), trailers must be
 * valid headers other than Content-Length and Transfer-Encoding (they are kept apart from the
 * headers). The result does not depend on how the input is split.
 *
 * Data points into the bytes that were fed. Trailers are valid until chunked_release(). */
#ifndef WIRE_CHUNKED_H
#define WIRE_CHUNKED_H

#include <stdint.h>

#include "base/buf.h"
#include "wire/head.h"
#include "wire/headers.h"

enum {
    CHUNKED_EXTENSION_MAX = 256,       /* bytes, of one chunk */
    CHUNKED_EXTENSIONS_MAX = 16 << 10, /* bytes, of all chunks */
    CHUNKED_TRAILERS_MAX = 8 << 10,    /* bytes of all trailers */
    CHUNKED_TRAILER_COUNT_MAX = 100,
};

enum chunked_state {
    CHUNKED_IN_SIZE,
    CHUNKED_IN_EXTENSION,
    CHUNKED_AT_SIZE_LF,
    CHUNKED_IN_DATA,
    CHUNKED_AT_DATA_CR,
    CHUNKED_AT_DATA_LF,
    CHUNKED_IN_TRAILERS,
    CHUNKED_DONE,   /* the body is complete */
    CHUNKED_FAILED, /* the body was rejected */
};

struct chunked {
    enum chunked_state state;
    unsigned digits;
    uint64_t remaining; /* the size, while it is read; then bytes of the chunk to come */
    char extension[CHUNKED_EXTENSION_MAX]; /* of this chunk */
    size_t extension_len, extensions_len;  /* of this chunk; of all before it */
    struct head trailer_lines;
    struct headers trailers;
    enum reject_reason reason;
};

enum chunked_next {
    CHUNKED_MORE,     /* needs more input */
    CHUNKED_DATA,     /* `*data` is part of the body, maybe part of a chunk */
    CHUNKED_END,      /* the body is complete; `*in` holds what follows it */
    CHUNKED_REJECTED, /* see `reason`; every later call returns the same */
};

void chunked_init(struct chunked *c);
void chunked_release(struct chunked *c);

/* Consumes bytes from the front of `*in`. */
enum chunked_next chunked_next(struct chunked *c, struct str *in, struct str *data);

/* Adds `data` as one chunk. Adds nothing if it is empty: a chunk of size 0 ends the body. */
void chunked_write(struct buf *to, struct str data);

/* Adds the line before a chunk of `size` bytes, for callers that do not copy the data: the data
 * and CHUNKED_CHUNK_END must follow. `size` must not be 0. */
void chunked_write_size(struct buf *to, size_t size);
#define CHUNKED_CHUNK_END "\r\n"

/* Ends a body without trailers. */
#define CHUNKED_LAST_CHUNK "0\r\n\r\n"

#endif

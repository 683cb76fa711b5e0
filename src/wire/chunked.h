/* wire/chunked.h - bodies in chunks: a reader, and what a writer puts around its bytes.
 *
 * The reader takes what is unmistakable: a size in hexadecimal digits and nothing
 * around it, CR LF wherever a line ends, extensions without blanks and up to a limit
 * (they are dropped), trailers that are good header lines and not about framing (they
 * are kept apart: who does not want them does not look). However the input is cut, the same
 * bytes, end or refusal come of it.
 *
 * Ownership: data points into what was fed. Trailers stay until chunked_release(). */
#ifndef WIRE_CHUNKED_H
#define WIRE_CHUNKED_H

#include <stdint.h>

#include "base/buf.h"
#include "wire/fields.h"
#include "wire/head.h"

enum {
    CHUNKED_EXTENSION_MAX = 256,       /* bytes of extensions of one chunk */
    CHUNKED_EXTENSIONS_MAX = 16 << 10, /* and of all of them */
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
    CHUNKED_OVER,   /* it is whole */
    CHUNKED_BROKEN, /* it was refused */
};

struct chunked {
    enum chunked_state state;
    unsigned digits;
    uint64_t left; /* of the size, while it is read; of the data, then */
    char extension[CHUNKED_EXTENSION_MAX]; /* of this chunk */
    size_t extension_len, extensions_len;  /* of this chunk; of all before it */
    struct head trailer_lines;
    struct fields trailers;
    enum refusal why;
};

enum chunked_next {
    CHUNKED_MORE,    /* feed me */
    CHUNKED_DATA,    /* bytes of the body, not necessarily a whole chunk */
    CHUNKED_END,     /* the body is whole; what follows it is still in `*in` */
    CHUNKED_REFUSED, /* see `why`; more changes nothing */
};

void chunked_init(struct chunked *c);
void chunked_release(struct chunked *c);

/* Takes from the front of `*in`. */
enum chunked_next chunked_next(struct chunked *c, struct str *in, struct str *data);

/* One chunk of all of `data`; nothing if it is empty, for that would be the end. */
void chunked_add(struct buf *to, struct str data);

/* The same in parts, for data that need not be copied: first this, then `size` bytes,
 * which may not be none, then CHUNKED_CLOSE. */
void chunked_open(struct buf *to, size_t size);
#define CHUNKED_CLOSE "\r\n"

/* The end of a body, without trailers. */
#define CHUNKED_LAST "0\r\n\r\n"

#endif

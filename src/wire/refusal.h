/* wire/refusal.h - why a request is not taken: every reason, its status and its words.
 *
 * A proxy that reads a request differently from the server behind it can be made to
 * smuggle. So whatever two readers might understand in two ways is refused, and
 * after a refusal the connection is of no further use: nobody can tell where the
 * next request would begin. */
#ifndef WIRE_REFUSAL_H
#define WIRE_REFUSAL_H

enum refusal {
    REFUSAL_NONE,

    /* bytes and lines */
    REFUSAL_BARE_LF,
    REFUSAL_BARE_CR,
    REFUSAL_NUL,
    REFUSAL_CONTROL,
    REFUSAL_LINE_LONG,
    REFUSAL_HEAD_LONG,
    REFUSAL_FIELD_MANY,

    /* the request line */
    REFUSAL_REQUEST_LINE,
    REFUSAL_METHOD,
    REFUSAL_CONNECT,
    REFUSAL_TARGET,
    REFUSAL_VERSION,
    REFUSAL_VERSION_OTHER,

    /* header lines */
    REFUSAL_FOLD,
    REFUSAL_FIELD_LINE,
    REFUSAL_FIELD_NAME,
    REFUSAL_FIELD_BLANK,

    /* whom it is for */
    REFUSAL_HOST_NONE,
    REFUSAL_HOST_TWICE,
    REFUSAL_HOST_INVALID,
    REFUSAL_HOST_DIFFERS,

    /* where its body ends */
    REFUSAL_FRAMING_TAB,
    REFUSAL_LENGTH_INVALID,
    REFUSAL_LENGTH_TWICE,
    REFUSAL_LENGTH_AND_CODING,
    REFUSAL_CODING_TWICE,
    REFUSAL_CODING_LAST,
    REFUSAL_CODING_UNKNOWN,
    REFUSAL_CODING_OLD,

    /* chunks */
    REFUSAL_CHUNK_SIZE,
    REFUSAL_CHUNK_LARGE,
    REFUSAL_CHUNK_END,
    REFUSAL_EXTENSION,
    REFUSAL_EXTENSION_LONG,
    REFUSAL_TRAILER,

    REFUSAL_COUNT
};

unsigned refusal_status(enum refusal why);  /* 400, 414, 431, 501 or 505 */
const char *refusal_text(enum refusal why); /* "a line that ends in LF alone" */

#endif

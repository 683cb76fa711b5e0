/* wire/reject-reason.h - lists why HTTP input is rejected, with the status and text of each
 * reason.
 *
 * A proxy that parses a request differently from the server behind it allows request smuggling.
 * So input that two parsers could read differently is rejected. The connection must be closed
 * after that: the start of the next request is unknown. */
#ifndef WIRE_REJECT_REASON_H
#define WIRE_REJECT_REASON_H

enum reject_reason {
    REJECT_NONE,

    /* bytes, lines and limits */
    REJECT_BARE_LF,
    REJECT_BARE_CR,
    REJECT_NUL,
    REJECT_CONTROL_CHAR,
    REJECT_LINE_TOO_LONG,
    REJECT_HEAD_TOO_LONG,
    REJECT_TOO_MANY_HEADERS,

    /* the request line */
    REJECT_REQUEST_LINE,
    REJECT_METHOD,
    REJECT_CONNECT,
    REJECT_TARGET,
    REJECT_VERSION_SYNTAX,
    REJECT_VERSION_UNSUPPORTED,

    /* headers */
    REJECT_HEADER_FOLDED,
    REJECT_HEADER_NO_COLON,
    REJECT_HEADER_NAME,
    REJECT_HEADER_BLANK,

    /* Host */
    REJECT_HOST_MISSING,
    REJECT_HOST_DUPLICATE,
    REJECT_HOST_INVALID,
    REJECT_HOST_DIFFERS,

    /* framing of the body */
    REJECT_FRAMING_TAB,
    REJECT_LENGTH_INVALID,
    REJECT_LENGTH_DUPLICATE,
    REJECT_LENGTH_AND_CODING,
    REJECT_CODING_DUPLICATE,
    REJECT_CODING_NOT_LAST,
    REJECT_CODING_UNKNOWN,
    REJECT_CODING_HTTP10,

    /* chunks */
    REJECT_CHUNK_SIZE,
    REJECT_CHUNK_TOO_LARGE,
    REJECT_CHUNK_END,
    REJECT_CHUNK_EXTENSION,
    REJECT_CHUNK_EXTENSION_TOO_LONG,
    REJECT_TRAILER,

    REJECT_COUNT
};

unsigned reject_reason_status(enum reject_reason why);  /* 400, 414, 431, 501 or 505 */
const char *reject_reason_text(enum reject_reason why); /* "a line that ends in LF alone" */

#endif

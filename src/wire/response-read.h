/* wire/response-read.h - parses the head of an HTTP/1.1 response, strictly and incrementally.
 *
 * Rejects what two parsers could read differently: a wrong end of a response would put the next
 * one in the wrong place. Does no I/O. The result does not depend on how the input is split.
 *
 * - HTTP/1.0 is accepted, but not with chunks.
 * - With chunks and a length, the chunks count, as HTTP requires, and keep_alive is cleared:
 *   the connection must not be reused. Equal lengths count as one.
 * - 1xx responses are returned like any other; the caller clears them and goes on.
 *
 * Everything points into the head, which is valid until response_head_clear(). */
#ifndef WIRE_RESPONSE_READ_H
#define WIRE_RESPONSE_READ_H

#include "wire/body.h"
#include "wire/head.h"
#include "wire/headers.h"

enum {
    RESPONSE_HEAD_LINE_MAX = 8 << 10,
    RESPONSE_HEAD_BYTES_MAX = 256 << 10, /* all lines with CR LF, the empty one included */
    RESPONSE_HEAD_HEADERS_MAX = 500,
};

struct response_head {
    struct head head;

    /* The rest is valid from RESPONSE_HEAD_COMPLETE on. */
    unsigned status;        /* 100 to 599 */
    struct str phrase;      /* the reason phrase; may be empty */
    int minor;              /* of HTTP/1.x: 1 or 0 */
    struct headers headers; /* all of them, in order */
    struct body_framing body;
    bool bodiless;    /* no body follows, whatever `body` says: HEAD, 1xx, 204, 304 */
    bool until_close; /* the body ends with the connection; `body` is BODY_NONE */
    bool keep_alive;  /* the connection can be reused */

    const char *reason; /* of a rejection, for users: "a line that ends in LF alone" */
};

enum response_head_next {
    RESPONSE_HEAD_MORE,     /* needs more input */
    RESPONSE_HEAD_COMPLETE, /* `*in` holds what follows the head */
    RESPONSE_HEAD_REJECTED, /* see `reason`; every later call returns the same */
};

void response_head_init(struct response_head *r);
void response_head_release(struct response_head *r);
void response_head_clear(struct response_head *r); /* prepares for the next response */

/* Consumes the bytes of the head from the front of `*in`. `to_head`: the request was HEAD. */
enum response_head_next response_head_feed(struct response_head *r, struct str *in,
                                           bool to_head);

#endif

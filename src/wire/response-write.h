/* wire/response-write.h - composes the head of an HTTP/1.1 response.
 *
 * Rejects names that are no tokens, and values and phrases with control characters: no caller
 * can add a line by accident. The framing headers are composed from `body`, Connection from
 * `close`; headers that would contradict them are rejected, too. */
#ifndef WIRE_RESPONSE_WRITE_H
#define WIRE_RESPONSE_WRITE_H

#include "base/buf.h"
#include "wire/body.h"
#include "wire/headers.h"

struct outgoing_response {
    unsigned status;        /* 100 to 599 */
    struct str phrase;      /* the reason phrase; empty: the usual one */
    struct headers headers; /* written in this order; borrowed */
    struct body_framing
        body; /* BODY_NONE: no header; no body, or one that ends with the connection */
    bool close;
};

/* Adds the head with its empty line. ERR_INPUT if a header or the phrase is rejected; `to` is
 * then unchanged. `to` must have room for the phrase, the headers and 256 bytes more, else it
 * becomes full. */
bool response_write(struct buf *to, const struct outgoing_response *r,
                    struct err *e) MUST_CHECK;

struct str response_reason_phrase(unsigned status); /* "Not Found"; empty if unknown */

/* Returns whether response_write() composes this header itself and rejects it from callers. */
bool response_is_reserved_header(struct str name);

#endif

/* wire/request-write.h - composes the head of an HTTP/1.1 request.
 *
 * Headers go out in their order, with duplicates and spelling kept. Left out are hop-by-hop
 * headers, Content-Length and Transfer-Encoding (composed from the framing) and Expect (the
 * client does not wait for 100 Continue). */
#ifndef WIRE_REQUEST_WRITE_H
#define WIRE_REQUEST_WRITE_H

#include "base/buf.h"
#include "wire/body.h"
#include "wire/headers.h"

struct outgoing_request {
    struct str method;      /* a token */
    struct str target;      /* written as it is */
    struct headers headers; /* borrowed, like the rest */
    struct body_framing body;
};

/* Added to every request to the same server; borrowed. */
struct request_write_config {
    struct str host;              /* used if the request has no Host */
    struct headers extra_headers; /* replace headers of the same name */
};

/* Adds the head with its empty line. The caller must have validated all parts: a control
 * character in one of them is a bug. */
void request_write(struct buf *to, const struct outgoing_request *a,
                   const struct request_write_config *m);

#endif

/* wire/request-read.h - parses the head of an HTTP/1.1 request, strictly and incrementally.
 *
 * Rejects, with a reason, what two parsers could read differently. Does no I/O and knows no
 * methods but CONNECT and OPTIONS. The result does not depend on how the input is split.
 *
 * - One empty line before the request is skipped, as HTTP requires.
 * - HTTP/1.0 is accepted, but not with chunks, and not without Host: the check of Host keeps
 *   pages of other sites out.
 * - The target is a path, '*' for OPTIONS, or a URL whose host equals Host, so that checking
 *   `host` covers both. A path may begin with two slashes: to build a URL, put the host first.
 * - Upgrade is ignored: no connection is upgraded.
 * - The framing of the body is decided here only.
 * - Clients send the same head again and again: a head that equals the previous one byte for
 *   byte is not parsed again. Only its Content-Length may be another number of as many digits.
 *
 * Everything points into the head, which is valid until request_head_clear(). */
#ifndef WIRE_REQUEST_READ_H
#define WIRE_REQUEST_READ_H

#include "wire/body.h"
#include "wire/head.h"
#include "wire/headers.h"
#include "wire/url.h"

enum {
    REQUEST_HEAD_LINE_MAX = 8 << 10,
    REQUEST_HEAD_BYTES_MAX = 64 << 10, /* all lines with CR LF, the empty one included */
    REQUEST_HEAD_HEADERS_MAX = 100,
};

enum request_head_form {
    REQUEST_HEAD_PATH,     /* /mcp?a=b */
    REQUEST_HEAD_URL,      /* http://host/mcp?a=b */
    REQUEST_HEAD_ASTERISK, /* * */
};

struct request_head {
    struct head head;
    bool empty_line; /* set when an empty line before the request was skipped */
    bool
        has_previous; /* the members still are those of the previous request, to compare with */

    /* The rest is valid from REQUEST_HEAD_COMPLETE on. */
    struct str method, target; /* as received */
    enum request_head_form form;
    struct str path;           /* "*" for that target; never empty */
    struct str query;          /* without its '?'; `at` is NULL without one */
    int minor;                 /* of HTTP/1.x: 1 or 0 */
    struct headers headers;    /* all of them, in order */
    struct url_authority host; /* of Host */
    struct body_framing body;
    struct str length;     /* Content-Length; `at` is NULL without one */
    bool same_as_previous; /* all but `length` and `body` equal the previous request */
    bool keep_alive;       /* the client may send another request on this connection */
    bool expects_continue; /* the client waits for 100 Continue before it sends the body */

    enum reject_reason reason;
};

enum request_head_next {
    REQUEST_HEAD_MORE,     /* needs more input */
    REQUEST_HEAD_COMPLETE, /* `*in` holds what follows the head */
    REQUEST_HEAD_REJECTED, /* see `reason`; every later call returns the same */
};

void request_head_init(struct request_head *r);
void request_head_release(struct request_head *r);
void request_head_clear(struct request_head *r); /* prepares for the next request */

/* Returns whether bytes of a request have come, so that the connection is not idle. */
bool request_head_has_begun(const struct request_head *r);

/* Consumes the bytes of the head from the front of `*in`. */
enum request_head_next request_head_feed(struct request_head *r, struct str *in);

#endif

/* wire/request.h - the head of an HTTP/1.1 request, read strictly and piece by piece.
 *
 * Takes what can be understood in one way only and refuses the rest with a reason;
 * knows no descriptor, no clock and no method. However the input is cut, the same
 * request or the same refusal comes of it.
 *
 * - One empty line before the request is passed over, as HTTP asks for.
 * - HTTP/1.0 is taken, without chunks; Host is wanted of it, too: the check of it is
 *   what keeps the pages of other sites out.
 * - The target is a path, '*' for OPTIONS, or a URL, whose host must be that of Host:
 *   so whoever looks at `host` has looked at both. A path may begin
 *   with two slashes: whoever puts it behind a host must put the host there first.
 * - Upgrade is a header line like any other: nobody is upgraded.
 * - Where the body ends is decided here and nowhere else.
 * - Clients send the same head again and again. One that is, byte for byte, the one before it
 *   in this place is not read anew: the same would come of it. Only its Content-Length may be
 *   another number of as many digits.
 *
 * Ownership: everything points into the head, which stays until request_clear(). */
#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include "wire/body.h"
#include "wire/fields.h"
#include "wire/head.h"
#include "wire/url.h"

enum {
    REQUEST_LINE_MAX = 8 << 10,
    REQUEST_HEAD_MAX = 64 << 10, /* all lines with their ends, the empty one too */
    REQUEST_FIELDS_MAX = 100,
};

enum request_form {
    REQUEST_PATH,     /* /mcp?a=b */
    REQUEST_URL,      /* http://host/mcp?a=b */
    REQUEST_ASTERISK, /* * */
};

struct request {
    struct head head;
    bool empty_line; /* there was one before it */
    bool kept;       /* what is here is the request before: the next may be the same */

    /* From here on: once it is whole. */
    struct str method, target; /* as they were spelled */
    enum request_form form;
    struct str path;           /* "*" if the target is that; never empty */
    struct str query;          /* without its '?'; `at` is NULL without one */
    int minor;                 /* 1 or 0 */
    struct fields fields;      /* all of them */
    struct url_authority host; /* of Host */
    struct body_plan body;
    struct str length;     /* what Content-Length says; `at` is NULL without one */
    bool again;            /* all but `length` and `body` is as it was before request_clear() */
    bool keep_alive;       /* the client would send another one on this connection */
    bool expects_continue; /* it waits for 100 before it sends the body */

    enum refusal why;
};

enum request_next {
    REQUEST_MORE,    /* feed me */
    REQUEST_WHOLE,   /* what follows the head is still in `*in` */
    REQUEST_REFUSED, /* see `why`; more changes nothing */
};

void request_init(struct request *r);
void request_release(struct request *r);
void request_clear(struct request *r); /* ready for the next one on the connection */

/* Whether a request has begun: the connection may not just be dropped as idle. */
bool request_begun(const struct request *r);

/* Takes from the front of `*in` what belongs to the head. */
enum request_next request_feed(struct request *r, struct str *in);

#endif

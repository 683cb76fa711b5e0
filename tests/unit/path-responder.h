/* tests/unit/path-responder.h - answers HTTP requests as their path says.
 *
 *     /echo    once it is whole: its body          /none     202, and nothing
 *     /stream  once it is whole: 'one', 'two'      /204 /304 such a status, and a length
 *     /hold    a stream that begins at once        /short    fewer bytes than promised
 *              and goes on for ever                /abort    'one', and never the rest
 *     /silent  nothing at all                      /early    413 before the body is there
 *     /pause   does not read the body              /go       100 Continue, then as /echo
 *     /bad     tries a header that is refused, then 502
 *     /drop    aborts before it has said anything  /last     as /echo, and no other request
 *
 * Everything else is 404. Events are logged. Does not know cmocka. */
#ifndef PATH_RESPONDER_H
#define PATH_RESPONDER_H

#include "base/buf.h"
#include "transport/http-exchange.h"

struct path_responder {
    struct buf text; /* a line for each event, but for data, of which `whole` tells */
    struct http_exchange *latest; /* that is not over */
    size_t requests, open, aborted, rejected, drain_count;
};

void path_responder_init(struct path_responder *o);
void path_responder_release(struct path_responder *o);

/* The latest is over, and as it should be. */
void path_responder_end(struct path_responder *o);

/* Closes the connection of the current request without a response. */
void path_responder_forget(struct path_responder *o);

extern const struct http_exchange_events
    path_responder_events; /* to be passed to a struct path_responder */

#endif

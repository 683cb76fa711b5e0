/* tests/unit/obedient.h - an owner of exchanges that does what the path of a request says.
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
 * Everything else is 404. What happens is written down. Knows nothing of cmocka. */
#ifndef OBEDIENT_H
#define OBEDIENT_H

#include "base/buf.h"
#include "transport/exchange.h"

struct obedient {
    struct buf seen;         /* a line for each event, but for data, of which `whole` tells */
    struct exchange *latest; /* that is not over */
    size_t requests, open, gone, refused, drained;
};

void obedient_init(struct obedient *o);
void obedient_release(struct obedient *o);

/* The latest is over, and as it should be. */
void obedient_end(struct obedient *o);

/* Whoever it is on will be closed, and say nothing. */
void obedient_forget(struct obedient *o);

extern const struct exchange_events obedient_events; /* to be told to a struct obedient */

#endif

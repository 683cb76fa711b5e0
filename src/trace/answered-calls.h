/* trace/answered-calls.h - finds the client requests of a recording that were answered, and the
 * records of those that were not: a sink.
 *
 * Put all records of a recording into the sink; then answered_calls_has() says of each record
 * whether it belongs to an unanswered request: the request itself, or its HTTP exchange. Beyond
 * the limits of trace/pairing.h a request counts as answered.
 *
 * An unanswered request has failed if its HTTP exchange was ended by an error of the connection
 * or by mcpreel in place of the server; not if the client aborted it, or mcpreel rejected it.
 */
#ifndef TRACE_ANSWERED_CALLS_H
#define TRACE_ANSWERED_CALLS_H

#include "trace/pairing.h"

struct answered_calls {
    struct sink sink; /* put records here */
    uint64_t count;   /* requests that were answered so far, without initialize */

    /* Private. */
    struct pairing pairing;
    struct map open_seqs;      /* of requests without a response; to their exchange + 1, or 1 */
    struct map open_exchanges; /* of these requests; to enum exchange_state */
    struct arena arena;        /* for one message */
};

void answered_calls_init(struct answered_calls *a);
void answered_calls_release(struct answered_calls *a);

/* Returns whether a record belongs to no unanswered request of those that were put. */
bool answered_calls_has(const struct answered_calls *a, const struct record *r);

/* Returns whether one of the requests has failed. */
bool answered_calls_any_failed(const struct answered_calls *a);

#endif

/* trace/grouping.h - records in, operations out.
 *
 * A sink that finds for every message the operation it belongs to (trace/operation.h) and
 * tells a consumer as it goes. Keeps nothing of a message but its number: files may be
 * larger than memory. What is open is bounded by trace/limits.h; what has to be given up
 * is told with OP_EVICTED and counted.
 *
 * What belongs to what:
 * - answers by id (trace/pairing.h); progress by token; a cancellation by id;
 * - retries, polls and pages as trace/sequel.h has it;
 * - what a subscription is for by its id;
 * - requests and notifications of the server's to the request whose exchange they are in;
 *   else, requests and logs only, to the one request in flight if there is exactly one,
 *   which is inferred;
 * - an error that names no request to that of its exchange; on stdio to none.
 * A request whose exchange ends with an HTTP error and no answer has OUTCOME_HTTP_ERROR, one
 * whose server's process ends before it is answered OUTCOME_SERVER_EXITED. What
 * else the server says when it refuses an exchange is plain HTTP: bytes (the body of an OAuth
 * challenge, a page) belong to the request if there is one, and an error stands alone with
 * OP_REFUSED if there is none.
 * Exchanges that carry no message make no operation.
 *
 * Every header starts a recording of its own: nothing that is open lives beyond it; nor does it
 * beyond the start of another process on its connection, or the end of its session's. */
#ifndef TRACE_GROUPING_H
#define TRACE_GROUPING_H

#include "trace/batch.h"
#include "trace/pairing.h"
#include "trace/sequel.h"

struct grouping {
    struct sink sink; /* put records here */
    struct ledger ledger;

    /* Its own. */
    struct pairing pairs;
    struct bonds bonds;
    struct sequel sequel;
    struct batches batches;
    struct recall aside; /* status of exchanges in which no answer has to come */
    struct arena scratch;
};

void grouping_init(struct grouping *g, struct operation_sink *to);
void grouping_release(struct grouping *g);

/* Nothing more will come: all that is open ends. False if the consumer said so, now or
 * before. */
bool grouping_finish(struct grouping *g, struct err *e) MUST_CHECK;

/* Whether bytes that are no message are out of place. Those are not which a server adds when it
 * accepts a message over HTTP ("Accepted", or so), or sends with a status that is no success;
 * nor those of a request that was answered before any came, which are none. */
bool grouping_is_noise(const struct grouping *g, const struct record *r);

/* How many operations there were, and how many of them were given up for want of room. */
static inline uint64_t grouping_count(const struct grouping *g)
{
    return g->ledger.begun;
}

static inline uint64_t grouping_evicted(const struct grouping *g)
{
    return g->ledger.evicted;
}

#endif

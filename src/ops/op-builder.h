/* ops/op-builder.h - finds the operation that each message belongs to.
 *
 * A sink that attributes every message to an operation (ops/operation.h) and reports to a
 * consumer as it goes. Keeps only the numbers of messages: files may be larger than memory.
 * Open operations are bounded by trace/limits.h; evicted ones are flagged OP_EVICTED and
 * counted.
 *
 * Attribution:
 * - responses by id (trace/pairing.h); progress by token; a cancellation by id;
 * - retries, polls and pages by ops/op-continue.h;
 * - events of a subscription by its id;
 * - server requests and notifications to the request whose exchange they are in; else, requests
 *   and logs only, to the request in flight if there is exactly one: that link is inferred;
 * - an error without id to the request of its exchange; on stdio to none.
 * A request whose exchange ends with an HTTP error and no response has OUTCOME_HTTP_ERROR, one
 * whose server process ends before the response OUTCOME_SERVER_EXITED. Other content of a
 * rejected exchange is plain HTTP: bytes (the body of an OAuth challenge, a page) belong to the
 * request if there is one; an error without a request is an operation with OP_HTTP_REJECTED.
 * Exchanges without a message are no operation.
 *
 * Every header starts another recording and ends all open operations. Operations also end when
 * another process starts on their connection, or when the process of their session ends. */
#ifndef OPS_OP_BUILDER_H
#define OPS_OP_BUILDER_H

#include "ops/batch.h"
#include "ops/op-continue.h"
#include "trace/pairing.h"

struct op_builder {
    struct sink sink; /* put records here */

    /* Private. */
    struct open_ops open_ops;
    struct pairing pairs;
    struct op_keys keys;
    struct op_continue op_continue;
    struct batches batches;
    struct recent_keys exchange_status; /* of exchanges that need no response: 202 or >= 300 */
    struct arena scratch;
};

void op_builder_init(struct op_builder *g, struct operation_sink *to);
void op_builder_release(struct op_builder *g);

/* Ends all open operations. Returns false if the consumer failed, now or before. */
bool op_builder_finish(struct op_builder *g, struct err *e) MUST_CHECK;

/* Whether a RECORD_RAW is unexpected. Expected are the body of a 202 or of an HTTP error, empty
 * records, and messages between mcpreel itself and a server. */
bool op_builder_is_unexpected_raw(const struct op_builder *g, const struct record *r);

/* The number of operations, and of those evicted for lack of room. */
static inline uint64_t op_builder_count(const struct op_builder *g)
{
    return g->open_ops.begun;
}

static inline uint64_t op_builder_evicted(const struct op_builder *g)
{
    return g->open_ops.evicted;
}

/* The time of the current record since the start of its recording; -1: unknown. */
static inline int64_t op_builder_now_us(const struct op_builder *g)
{
    return g->open_ops.now_known ? g->open_ops.now_us : -1;
}

/* Sets `us` to the wall time at which the recording started. Returns false if it is unknown. */
static inline bool op_builder_start_wall_us(const struct op_builder *g, int64_t *us)
{
    *us = g->open_ops.start_wall_us;
    return g->open_ops.start_known;
}

#endif

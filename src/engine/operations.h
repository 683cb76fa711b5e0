/* engine/operations.h - what was asked for, how often, how it ended, how long it took.
 *
 * An operation is a direction, a method and the tool, prompt or resource it is about;
 * not the task, because every task is new. Its latency is the time from the request to
 * the answer that ends it. Since 2026-07-28 an answer may say that the server wants
 * input; the client then repeats the request with it. That is no new call, and its
 * latency counts from the first request where the server's state shows which one that
 * was; without it from the repeated one.
 *
 * Bounded: OPERATIONS_MAX rows, of texts OPERATIONS_TEXT bytes, the open requests of
 * trace/pairing.h, the latest OPERATIONS_ANSWERED answers to tell a second answer from
 * one that nobody asked for. */
#ifndef ENGINE_OPERATIONS_H
#define ENGINE_OPERATIONS_H

#include "base/histogram.h"
#include "base/roster.h"
#include "trace/pairing.h"

enum {
    OPERATIONS_MAX = 512,
    OPERATIONS_TEXT = 256,
    OPERATIONS_ANSWERED = 1 << 16,
    OPERATIONS_ROUNDS = 1 << 12,
};

struct operation {
    size_t index;
    enum record_dir dir;              /* the way the request goes; the shared row: either */
    struct str method, subject;       /* empty in the shared row */
    bool stays_open;                  /* by its nature: nobody waits for its answer */
    uint64_t requests;                /* retries included */
    uint64_t retries;                 /* the same again, with the input the server wanted */
    uint64_t answered;                /* for good */
    uint64_t wanted_input;            /* answered by asking for input */
    uint64_t rpc_errors, tool_errors; /* among the answered */
    uint64_t cancelled;               /* given up by who asked */
    uint64_t late;                    /* given up, and answered all the same */
    struct histogram *latency;        /* microseconds; NULL: nothing was measured */
};

struct operations {
    struct roster rows; /* of struct operation */
    struct pairing pairs;
    struct arena scratch;
    uint64_t recording;              /* ids of different ones have different hashes */
    uint64_t *answered;              /* hashes of ids, by hash */
    struct operations_round *rounds; /* what waits for input, by hash of the state */
};

enum operations_verdict {
    OPERATIONS_EXPECTED,
    OPERATIONS_LATE,      /* whoever asked had given up */
    OPERATIONS_DUPLICATE, /* answered before */
    OPERATIONS_UNASKED,
};

void operations_init(struct operations *o);
void operations_release(struct operations *o);

/* Another recording begins: what waits will not be answered, ids start anew. */
void operations_restart(struct operations *o);

/* A request passed. False: its id is that of a request that still waits. Times are
 * those of `us` where records have it, for answers also `latency_ms`; what has neither
 * is not measured. */
bool operations_ask(struct operations *o, const struct record *r, const struct mcp_message *m);

/* An answer passed. `*asked` is its request, or NULL; valid until the next call. */
enum operations_verdict operations_answer(struct operations *o, const struct record *r,
                                          const struct mcp_message *m,
                                          const struct pairing_request **asked);

/* A notifications/cancelled passed. */
void operations_cancel(struct operations *o, const struct record *r,
                       const struct mcp_message *m);

/* How many times it was asked for; a retry is no new call. */
static inline uint64_t operations_calls(const struct operation *op)
{
    return op->requests - op->retries;
}

/* Requests that have no answer though nobody gave them up. */
static inline uint64_t operations_unanswered(const struct operation *op)
{
    return op->stays_open
               ? 0
               : op->requests - op->answered - op->wanted_input - (op->cancelled - op->late);
}

#endif

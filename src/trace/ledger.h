/* trace/ledger.h - the operations that have not ended yet.
 *
 * Begins and ends operations, keeps their families together and their time, and tells the
 * consumer. Knows nothing of what messages mean: which belongs where is decided above.
 *
 * Bounded by LIMIT_OPEN_OPERATIONS and LIMIT_OPEN_OPERATION_BYTES, but gives up nothing by
 * itself: ask ledger_excess(). */
#ifndef TRACE_LEDGER_H
#define TRACE_LEDGER_H

#include "trace/operation.h"
#include "trace/scope.h"

struct pairing_request;
struct bond_claim;

enum { LEDGER_NUMBER_TEXT = 24 }; /* of a progress or total that is kept */

struct ledger_op {
    struct operation op;

    /* Of those who decide what belongs where: */
    struct scope_place place;
    struct pairing_request *asked; /* while its answer can come */
    struct bond_claim *claims;
    bool listens;                 /* a subscription: stays open by its nature */
    bool complete;                /* OPERATION_BATCH: all members were seen */
    enum operation_outcome worst; /* and how those that have ended did */
    bool goes_on;                 /* its answer is not the last word */
    bool completed;               /* its task says so, and the result is still to be fetched */
    bool decided;                 /* the outcome of its task is known */
    bool forsaken;                /* its server has ended */

    /* The ledger's own: */
    struct ledger_op *lower, *higher;          /* by number */
    struct ledger_op *staler, *fresher;        /* by when something was last heard of it */
    struct ledger_op *parent;                  /* NULL: there is none, or it has ended */
    struct ledger_op *children, *left, *right; /* those that have not ended */
    size_t held;                               /* bytes */
    uint64_t gaps;                             /* how many there were when it began */
    unsigned waits; /* for the client: it holds it itself, or a child does */
    bool holds;
    int64_t since, waited;
    char progress[LEDGER_NUMBER_TEXT], total[LEDGER_NUMBER_TEXT];
    char *task, *why;
    char text[]; /* id, method, subject */
};

/* What an operation belongs to. The parent may have ended: then only its numbers are left. */
struct ledger_link {
    enum operation_link kind;
    struct ledger_op *open; /* NULL: it has ended */
    uint64_t number, root;  /* 0: it belongs to nothing */
    bool inferred;
};

struct ledger {
    struct operation_sink *to;
    struct ledger_op *lowest, *highest, *stalest, *freshest;
    size_t count, held;
    uint64_t begun, evicted; /* operations */

    /* Where we are. */
    const struct record *record;
    uint64_t seq, messages; /* of the record; how many there were */
    uint64_t gaps;
    bool timed; /* `now` is known */
    int64_t now;
    bool dated; /* `start_wall_us` is known */
    int64_t start_wall_us;

    bool failed; /* the consumer can take no more: why */
    struct err err;
};

void ledger_init(struct ledger *l, struct operation_sink *to);
void ledger_release(struct ledger *l); /* what is open is not told to anybody */

/* The next record: sets the time. Another recording begins with every header. */
void ledger_turn(struct ledger *l, const struct record *r);

struct ledger_start {
    enum operation_kind kind;
    enum record_dir dir;
    struct str id, method, subject;
    struct ledger_link link;
};

struct ledger_op *ledger_begin(struct ledger *l, const struct ledger_start *start);

/* The record at hand joins an operation. */
void ledger_add(struct ledger *l, struct ledger_op *op, enum operation_role role,
                enum record_dir dir, bool inferred);

/* Something else than a message happened to it, and so to its parents. */
void ledger_hear(struct ledger *l, struct ledger_op *op);

/* From here on, until ledger_go_on(), the client is waited for. */
void ledger_wait(struct ledger *l, struct ledger_op *op);
void ledger_go_on(struct ledger *l, struct ledger_op *op);

void ledger_set_task(struct ledger *l, struct ledger_op *op, struct str task);
void ledger_set_why(struct ledger *l, struct ledger_op *op, struct str why);
void ledger_set_progress(struct ledger *l, struct ledger_op *op, struct json_val progress,
                         struct json_val total);

/* As much of a text as an operation keeps; never half a character. */
struct str ledger_clip(struct str text);

/* More or less memory is held for an operation. */
void ledger_hold(struct ledger *l, struct ledger_op *op, size_t bytes);
void ledger_let_go(struct ledger *l, struct ledger_op *op, size_t bytes);

/* It has ended, with the outcome that stands in it: tells the consumer and frees it. */
void ledger_end(struct ledger *l, struct ledger_op *op);

/* The operation to give up next, or NULL while there is room. */
struct ledger_op *ledger_excess(const struct ledger *l);

static inline struct ledger_link ledger_link_to(struct ledger_op *op, enum operation_link kind,
                                                bool inferred)
{
    return (struct ledger_link){ kind, op, op->op.number, op->op.root, inferred };
}

#endif

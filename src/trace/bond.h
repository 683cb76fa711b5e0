/* trace/bond.h - the values that bring later messages to an operation.
 *
 * A progress token, the id of a task, a requestState, a cursor: whoever carries it belongs
 * to the operation it is tied to. When that has ended, a bounded memory still knows its
 * number. What a peer minted for its own requests (ids, tokens) is good in their scope,
 * the narrowest first; what the other side handed out (tasks, states, cursors) in the
 * widest one.
 *
 * Long values are known by their start, length and hash. */
#ifndef TRACE_BOND_H
#define TRACE_BOND_H

#include "trace/claim.h"
#include "trace/ledger.h"
#include "trace/scope.h"

enum bond_kind {
    BOND_ID,     /* only of the past: open ones are the pairing's */
    BOND_LISTEN, /* the same of subscriptions, whose events carry it */
    BOND_TOKEN,  /* of progress */
    BOND_TASK,   /* its id */
    BOND_STATE,  /* method, subject, requestState */
    BOND_INPUT,  /* method, subject, names of what the server wants to know */
    BOND_CURSOR, /* method, cursor */
    BOND_BATCH,  /* its number */
};

enum { BOND_PARTS = 3 };

struct bond {
    enum bond_kind kind;
    enum record_dir dir; /* the way of the request the value belongs to */
    const struct scope_place *place;
    struct str parts[BOND_PARTS];
};

struct bond_claim {
    struct claim claim;
    enum bond_kind kind;
    struct bond_claim *next; /* of the same operation */
};

struct bonds {
    struct claims claims; /* of open operations */
    struct recall past;   /* number and root of those that have ended */
    struct buf key;
};

void bond_init(struct bonds *b);
void bond_release(struct bonds *b);

/* Replaces what the operation has of that kind. */
void bond_tie(struct bonds *b, struct ledger *l, const struct bond *bond, struct ledger_op *op);

/* `*link` is to the oldest open operation with the value, and inferred if it is not the
 * only one; else to the latest that has ended. False: nobody had it. */
bool bond_find(struct bonds *b, const struct bond *bond, struct ledger_link *link);

/* No longer open: what of it can come up again is remembered. */
void bond_untie(struct bonds *b, struct ledger *l, struct ledger_op *op, enum bond_kind kind);
void bond_untie_all(struct bonds *b, struct ledger *l, struct ledger_op *op);

/* The id of a request that no longer waits: it was answered, or never will be. */
void bond_remember(struct bonds *b, const struct bond *bond, const struct ledger_op *op,
                   bool answered);

/* As bond_find(), but of the past only. */
bool bond_recall(struct bonds *b, const struct bond *bond, struct ledger_link *link,
                 bool *answered);

#endif

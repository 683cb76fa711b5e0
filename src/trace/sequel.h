/* trace/sequel.h - operations that go on after an answer.
 *
 * A result may want input, and the request comes again with it; it may be the handle of a
 * task, which is polled; it may be one page of several. What follows is a child of the
 * operation it goes on with, its head, and decides the head's outcome. */
#ifndef TRACE_SEQUEL_H
#define TRACE_SEQUEL_H

#include "trace/bond.h"
#include "trace/letter.h"

struct sequel {
    struct bonds *bonds;
    struct ledger *ledger;
    struct buf names;
};

void sequel_init(struct sequel *s, struct bonds *bonds, struct ledger *ledger);
void sequel_release(struct sequel *s);

/* Whether a request goes on with something, and with what: never a guess. */
bool sequel_find(struct sequel *s, const struct letter *l, struct ledger_link *link);

/* `op` has begun with the request `l`. */
void sequel_begin(struct sequel *s, struct ledger_op *op, const struct letter *l);

/* What an answer says by itself: sets answer, outcome and code. */
void sequel_judge(struct operation *op, const struct mcp_message *answer);

/* `l` is the answer to the request of `op`; true: `op` does not end with it. */
bool sequel_answer(struct sequel *s, struct ledger_op *op, const struct letter *l);

/* A notification tells how the task of `head` is doing. */
void sequel_status(struct sequel *s, struct ledger_op *head, struct json_val task);

/* Whoever asked gave `op` up. */
void sequel_cancel(struct sequel *s, struct ledger_op *op);

/* `op` is about to end: hands its outcome on; the head if that ends with it, or NULL. */
struct ledger_op *sequel_end(struct ledger_op *op);

#endif

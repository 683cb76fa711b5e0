/* trace/batch.h - messages that were sent as one array.
 *
 * The array is an operation of its own, the parent of those its members begin; an array
 * whose members all join other operations is none. It is as good as the first member
 * that is not, and ends with the last. */
#ifndef TRACE_BATCH_H
#define TRACE_BATCH_H

#include "trace/bond.h"
#include "trace/letter.h"

struct batches {
    struct bonds *bonds;
    struct ledger *ledger;
    struct json json;
};

void batch_init(struct batches *b, struct bonds *bonds, struct ledger *ledger);
void batch_release(struct batches *b);

/* The message begins an operation: whether it came in a batch, and which. */
bool batch_find(struct batches *b, const struct letter *l, struct ledger_link *link);

/* The message was dealt with: the batch, if it is over with that; else NULL. */
struct ledger_op *batch_see(struct batches *b, const struct letter *l);

/* `member` is about to end; its batch, or NULL. When it has ended, batch_is_over(). */
struct ledger_op *batch_report(const struct ledger_op *member);
bool batch_is_over(struct ledger_op *batch);

/* Nothing more will be heard of the batch: it was as good as what was seen of it. */
void batch_close(struct ledger_op *batch);

#endif

/* ops/batch.h - operations of JSON-RPC batches, and a check that batches are complete.
 *
 * A batch is an operation of its own, the parent of those that its messages begin. A batch
 * whose messages all join other operations is none. Its outcome is that of the first member
 * that failed, else ok; it ends with its last member.
 *
 * struct batch_check finds batches with missing elements, without operations. A batch is one
 * line of one side, so its elements follow each other. Each message has its index; an element
 * that is no message is a raw record and has none. Connections are not distinguished: elements
 * of two connections that interleave are reported as missing. */
#ifndef OPS_BATCH_H
#define OPS_BATCH_H

#include "ops/op-keys.h"

struct batches {
    struct op_keys *keys;
    struct open_ops *open_ops;
    struct json json;
};

void batch_init(struct batches *b, struct op_keys *keys, struct open_ops *open_ops);
void batch_release(struct batches *b);

/* Links a message that begins an operation to its batch, whose operation begins if it is new.
 * Returns false if the message is in no batch. */
bool batch_link_message(struct batches *b, const struct op_message *msg, struct op_link *link);

/* Call after a message was handled. Returns its batch if that has ended now, else NULL. */
struct open_op *batch_note_message(struct batches *b, const struct op_message *msg);

/* Adds the outcome of a member that is about to end to its batch. Returns the batch, or NULL;
 * call batch_close_if_over() when the member has ended. */
struct open_op *batch_add_outcome(const struct open_op *member);
bool batch_close_if_over(struct open_op *batch);

/* Sets the outcome of a batch from the members seen. */
void batch_set_outcome(struct open_op *batch);

struct batch_check_side {
    uint64_t id;               /* hash of the batch id */
    int64_t next_index, count; /* after the latest message; of all elements */
    int64_t raw_lines;         /* since the latest message */
    bool open;                 /* elements are still expected */
};

/* Starts as zeroes. */
struct batch_check {
    struct batch_check_side sides[2]; /* by direction */
};

/* Call for every message and raw record. Returns true if elements are missing before it. */
bool batch_check_record(struct batch_check *w, const struct record *r);

/* At the end: returns the number of incomplete batches, and resets. */
unsigned batch_check_finish(struct batch_check *w);

#endif

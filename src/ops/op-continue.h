/* ops/op-continue.h - operations that continue after a response: retries, tasks, pages.
 *
 * A result may require input, and the request is sent again with it; it may be the handle of a
 * task, which is polled; it may be one page of several. The requests that follow are children
 * of the first operation, the head, and decide its outcome. */
#ifndef OPS_OP_CONTINUE_H
#define OPS_OP_CONTINUE_H

#include "ops/op-keys.h"

struct op_continue {
    struct op_keys *keys;
    struct open_ops *open_ops;
    struct buf names;
};

void op_continue_init(struct op_continue *s, struct op_keys *keys, struct open_ops *open_ops);
void op_continue_release(struct op_continue *s);

/* Finds the operation that a request continues; false: none. Does not guess. */
bool op_continue_find(struct op_continue *s, const struct op_message *msg,
                      struct op_link *link);

/* Call when `op` has begun with the request `msg`. */
void op_continue_begin(struct op_continue *s, struct open_op *op, const struct op_message *msg);

/* Sets response, outcome and code from a response alone. */
void op_continue_set_outcome(struct operation *op, const struct mcp_message *response);

/* Handles the response `msg` to the request of `op`. Returns true if `op` stays open. */
bool op_continue_response(struct op_continue *s, struct open_op *op,
                          const struct op_message *msg);

/* Handles a task status for the operation that became the task. */
void op_continue_task_status(struct op_continue *s, struct open_op *head, struct json_val task);

/* The requester cancelled `op`. */
void op_continue_cancel(struct op_continue *s, struct open_op *op);

/* Passes the outcome of `op`, which is about to end, to its head. Returns the head if it ends,
 * too. */
struct open_op *op_continue_end(struct open_op *op);

#endif

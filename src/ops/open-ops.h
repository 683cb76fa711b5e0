/* ops/open-ops.h - the operations that have not ended.
 *
 * Begins and ends operations, links parents and children, measures time, and reports to the
 * consumer. Knows nothing of the meaning of messages: op-builder, op-continue and batch decide
 * the attribution.
 *
 * Limits are LIMIT_OPEN_OPERATIONS and LIMIT_OPEN_OPERATION_BYTES; the caller evicts what
 * open_ops_find_excess() returns. */
#ifndef OPS_OPEN_OPS_H
#define OPS_OPEN_OPS_H

#include "ops/operation.h"
#include "trace/id-scope.h"

struct pairing_request;
struct op_key_entry;

enum { OPEN_OPS_NUMBER_TEXT = 24 }; /* bytes kept of a progress or total */

struct open_op {
    struct operation op;

    /* Used by op-builder, op-continue and batch: */
    struct scope_chain scopes;
    struct pairing_request *request; /* while it is open, else NULL */
    struct op_key_entry *keys;
    bool is_subscription; /* set at the start; stays open until the recording ends */
    bool batch_complete;  /* OPERATION_BATCH: set by the last element */
    enum operation_outcome batch_outcome; /* of the members that have ended */
    bool continues;       /* set by a response after which the operation goes on */
    bool task_completed;  /* set by the task status; the result may still be fetched */
    bool outcome_decided; /* set when the outcome of its task is final */
    bool server_exited;   /* set when the process of its session exits */

    /* Private: */
    struct open_op *lower, *higher;                         /* by number */
    struct open_op *lru_prev, *lru_next;                    /* by last use */
    struct open_op *parent;                                 /* NULL: none, or it has ended */
    struct open_op *children, *prev_sibling, *next_sibling; /* open ones */
    size_t bytes;                                           /* of memory */
    uint64_t gaps_at_start;                                 /* number of gaps when it began */
    unsigned wait_reasons; /* to wait for the client: itself, and each child that waits */
    bool is_waiting;       /* between open_ops_begin_wait() and open_ops_end_wait() */
    int64_t wait_since_us, waited_us;
    char progress[OPEN_OPS_NUMBER_TEXT], total[OPEN_OPS_NUMBER_TEXT];
    char *task, *why;
    char text[]; /* id, method, subject */
};

/* The parent of an operation. If it has ended, only its numbers are left. */
struct op_link {
    enum operation_link kind;
    struct open_op *open;  /* NULL: it has ended */
    uint64_t number, root; /* 0: no parent */
    bool inferred;
};

struct open_ops {
    struct operation_sink *next_sink;
    struct open_op *lowest, *highest, *lru_first, *lru_last;
    size_t count, bytes;
    uint64_t begun, evicted; /* operations */

    /* The current record and time. */
    const struct record *record;
    uint64_t seq, messages; /* of the record; number of messages so far */
    uint64_t gaps;
    bool now_known; /* `now_us` is valid */
    int64_t now_us;
    bool start_known; /* `start_wall_us` is valid */
    int64_t start_wall_us;

    bool failed; /* the consumer failed, with `err` */
    struct err err;
};

void open_ops_init(struct open_ops *l, struct operation_sink *to);
void open_ops_release(struct open_ops *l); /* open operations are not reported */

/* Sets the current record and its time. A header begins another recording. */
void open_ops_set_record(struct open_ops *l, const struct record *r);

struct op_start {
    enum operation_kind kind;
    enum record_dir dir;
    struct str id, method, subject;
    struct op_link link;
};

struct open_op *open_ops_begin(struct open_ops *l, const struct op_start *start);

/* Adds the current record to an operation. */
void open_ops_add_message(struct open_ops *l, struct open_op *op, enum operation_role role,
                          enum record_dir dir, bool inferred);

/* Sets the times of an operation and its parents from the current record. */
void open_ops_update_time(struct open_ops *l, struct open_op *op);

/* Begins and ends the time in which an operation waits for the client. */
void open_ops_begin_wait(struct open_ops *l, struct open_op *op);
void open_ops_end_wait(struct open_ops *l, struct open_op *op);

void open_ops_set_task(struct open_ops *l, struct open_op *op, struct str task);
void open_ops_set_why(struct open_ops *l, struct open_op *op, struct str why);
void open_ops_set_progress(struct open_ops *l, struct open_op *op, struct json_val progress,
                           struct json_val total);

/* Truncates a text to OPERATION_TEXT_MAX bytes, at a character. */
struct str open_ops_clip(struct str text);

/* Accounts for memory of an operation. */
void open_ops_add_bytes(struct open_ops *l, struct open_op *op, size_t bytes);
void open_ops_release_bytes(struct open_ops *l, struct open_op *op, size_t bytes);

/* Ends an operation with the outcome set in it: reports and frees it. */
void open_ops_end(struct open_ops *l, struct open_op *op);

/* The operation to evict next, or NULL while there is room. */
struct open_op *open_ops_find_excess(const struct open_ops *l);

static inline struct op_link open_ops_link_to(struct open_op *op, enum operation_link kind,
                                              bool inferred)
{
    return (struct op_link){ kind, op, op->op.number, op->op.root, inferred };
}

#endif

/* ops/op-keys.h - finds operations by the values that later messages carry.
 *
 * A message with the progress token, task id, requestState or cursor of an operation belongs to
 * it. Numbers of ended operations are remembered, bounded by LIMIT_RECENT_KEYS. Values of the
 * requester (ids, tokens) are valid in the scopes of the request, narrowest first; values that
 * the other side created (tasks, states, cursors) in the widest scope.
 *
 * Long values are compared by start, length and hash. */
#ifndef OPS_OP_KEYS_H
#define OPS_OP_KEYS_H

#include "base/multimap.h"
#include "mcp/message.h"
#include "ops/open-ops.h"
#include "trace/id-scope.h"

/* A message that is being attributed. */
struct op_message {
    const struct record *record;
    struct mcp_message m;
    enum record_dir dir;
    struct str subject; /* tool, URI, …, decoded; may be empty */
    struct scope_chain scopes;
    struct arena *scratch; /* cleared with the next record */
};

enum op_key_kind {
    OP_KEY_ID,           /* of ended requests; trace/pairing.h has the open ones */
    OP_KEY_SUBSCRIPTION, /* the same for subscriptions: their events carry it */
    OP_KEY_TOKEN,        /* progress token */
    OP_KEY_TASK,         /* task id */
    OP_KEY_STATE,        /* method, subject, requestState */
    OP_KEY_INPUT,        /* method, subject, names of the required inputs */
    OP_KEY_CURSOR,       /* method, cursor */
    OP_KEY_BATCH,        /* batch number */
};

enum { OP_KEY_PARTS = 3 };

struct op_key {
    enum op_key_kind kind;
    enum record_dir dir; /* direction of the request that the value belongs to */
    const struct scope_chain *scopes;
    struct str parts[OP_KEY_PARTS];
};

struct op_key_entry {
    struct multimap_entry node;
    enum op_key_kind kind;
    struct op_key_entry *next; /* of the same operation */
};

struct op_keys {
    struct multimap open;     /* of open operations */
    struct recent_keys ended; /* number and root of ended operations */
    struct buf key;
};

void op_keys_init(struct op_keys *b);
void op_keys_release(struct op_keys *b);

/* Adds a key of an operation, in place of its key of that kind. */
void op_keys_add(struct op_keys *b, struct open_ops *open_ops, const struct op_key *key,
                 struct open_op *op);

/* Finds the oldest open operation with the key, inferred if there are several; else the latest
 * that has ended. Returns false if there is none. */
bool op_keys_find(struct op_keys *b, const struct op_key *key, struct op_link *link);

/* Removes keys of an operation; those that can appear again are remembered. */
void op_keys_remove(struct op_keys *b, struct open_ops *open_ops, struct open_op *op,
                    enum op_key_kind kind);
void op_keys_remove_all(struct op_keys *b, struct open_ops *open_ops, struct open_op *op);

/* Remembers the id of a request that is no longer open, and whether it was answered. */
void op_keys_remember(struct op_keys *b, const struct op_key *key, const struct open_op *op,
                      bool answered);

/* As op_keys_find(), but among ended operations only. */
bool op_keys_find_ended(struct op_keys *b, const struct op_key *key, struct op_link *link,
                        bool *answered);

#endif

/* engine/leaves.h - params as a set of leaves: what requests are matched by.
 *
 * A leaf is a value that holds no other, with the way that leads to it. Two params that
 * mean the same have the same leaves: the order of members, the spelling of strings and
 * numbers do not matter, and none, {} and empty arguments are the same.
 *
 * What nobody may compare is no leaf: _meta (unless the rules say so, and even then not the
 * progress token in it, which each client mints for itself), what a client answered to an input
 * request (that it answered is one), and what was redacted, which has its place but no value.
 */
#ifndef ENGINE_LEAVES_H
#define ENGINE_LEAVES_H

#include "json/members.h"
#include "json/path.h"

/* The member of _meta that is never compared. */
#define LEAVES_TOKEN STR("progressToken")

struct leaf_rules {
    bool meta;        /* _meta counts */
    bool number_text; /* 2 and 2.0 are two values */
    bool volatiles;   /* LEAF_VOLATILE is told from LEAF_PLAIN */
};

enum leaf_kind {
    LEAF_PLAIN,
    LEAF_VOLATILE, /* engine/volatile.h */
    LEAF_REDACTED, /* may have been anything, with or without more inside */
};

struct leaf {
    uint64_t path, value; /* hashes */
    enum leaf_kind kind;
};

/* Paths below which nothing is looked at. */
struct leaf_mask {
    const uint64_t *paths;
    size_t count;
};

struct leaves {
    struct leaf *at;
    size_t count, cap;

    /* Its own. */
    struct json_members members;
    struct buf number;
    const struct leaf_rules *rules;
    struct leaf_mask mask;
};

void leaves_init(struct leaves *l);
void leaves_release(struct leaves *l);

/* All leaves of `params`; those before are gone. */
void leaves_take(struct leaves *l, struct json_val params, const struct leaf_rules *rules,
                 struct leaf_mask mask);

/* Whether _meta says nothing but where progress goes. */
bool leaves_meta_is_empty(struct json_val meta);

/* A hash of all leaves that have a value. */
uint64_t leaves_key(const struct leaves *l);

/* The path of a place in params. */
uint64_t leaves_path(struct json_place place);

/* The path that a JSON pointer into `message` leads to if that is inside params; false
 * if it is not. */
bool leaves_pointer(struct json_val message, struct str pointer, uint64_t *path);

/* A string that stands for what was redacted, or has such a part. */
bool leaves_is_redacted(struct json_val v);

/* Whether a string with placeholders can have been the other value: a placeholder stands for
 * any text, and what is around it must be the same. A placeholder alone stands for any value,
 * also for none. Either value may have placeholders. */
bool leaves_may_be_same(struct json_val a, struct json_val b);

#endif

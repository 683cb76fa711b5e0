/* mcp/params-hash.h - reduces params to a set of leaves, and to a hash for matching requests.
 *
 * A leaf is a value without members or elements, with its path. Params of the same meaning have
 * the same leaves: the order of members and the spelling of strings and numbers do not matter,
 * and absent params, {} and empty arguments are the same.
 *
 * Left out are _meta (unless the rules include it, and even then its progress token, which each
 * client generates) and the content of responses to input requests (that there is a response is
 * a leaf), and values that the user ignores (mcp/params-ignore.h): an object or array with
 * nothing else is empty. A redacted value is a leaf with a path, but its value is not
 * compared. */
#ifndef MCP_PARAMS_HASH_H
#define MCP_PARAMS_HASH_H

#include "mcp/params-ignore.h"
#include "json/member-index.h"

/* Member of _meta that is never compared. */
#define PARAMS_PROGRESS_TOKEN STR("progressToken")

struct params_rules {
    bool include_meta;    /* compare _meta */
    bool numbers_as_text; /* 2 and 2.0 differ */
    bool detect_volatile; /* set PARAMS_LEAF_VOLATILE; else such a leaf is PLAIN */
    const struct compare_rules *ignore; /* borrowed; values that do not count; NULL: all do */
};

/* Returns the rules with which all values count. */
static inline struct params_rules params_rules_without_ignore(const struct params_rules *r)
{
    struct params_rules all = *r;

    all.ignore = NULL;
    return all;
}

enum params_leaf_kind {
    PARAMS_LEAF_PLAIN,
    PARAMS_LEAF_VOLATILE, /* mcp/volatile-values.h */
    PARAMS_LEAF_REDACTED, /* any value, including objects and arrays */
};

struct params_leaf {
    uint64_t path, value; /* hashes */
    enum params_leaf_kind kind;
};

/* Hashes of redacted paths. Values below them are not read. */
struct params_mask {
    const uint64_t *paths;
    size_t count;
};

struct params_leaves {
    struct params_leaf *at;
    size_t count, cap;

    /* Internal. */
    struct json_member_index members;
    struct buf number;
    const struct params_rules *rules;
    struct params_mask mask;
    struct params_ignore_walk ignore;
};

void params_leaves_init(struct params_leaves *l);
void params_leaves_release(struct params_leaves *l);

/* Replaces the leaves by those of `params`. */
void params_leaves_read(struct params_leaves *l, struct json_val params,
                        const struct params_rules *rules, struct params_mask mask);

/* True if _meta has no member but a progress token. */
bool params_meta_is_empty(struct json_val meta);

/* Hash of all leaves but the redacted ones. */
uint64_t params_leaves_hash(const struct params_leaves *l);

/* Hash of the path of a location in params. */
uint64_t params_path_hash(struct json_location place);

/* Sets `*path` to the hash of the path that a JSON pointer into `message` leads to; false if
 * that is not inside params. */
bool params_pointer_hash(struct json_val message, struct str pointer, uint64_t *path);

/* True for a string that is or contains a placeholder of redaction. */
bool params_is_redacted(struct json_val v);

/* Cuts a decoded text at its first placeholder: `*before` is the text before it, `*text`
 * becomes the text behind it. Returns the placeholder; empty if there is none, and nothing is
 * cut. */
struct str params_cut_placeholder(struct str *text, struct str *before);

/* True if the values may have been equal before redaction: a placeholder matches any text, and
 * the text around it must be equal. A placeholder alone matches any value, and none. Both
 * values may have placeholders. */
bool params_may_be_equal(struct json_val a, struct json_val b);

/* The same for two decoded strings. */
bool params_texts_may_be_equal(struct str a, struct str b);

#endif

/* mcp/params-ignore.h - decides which values of params the user's rules leave out of matching.
 *
 * A value is left out if a path of COMPARE_PATH_IGNORE or COMPARE_PATH_VOLATILE matches it or a
 * value around it, or if it is inside a member that the user ignores by name. Paths begin at
 * the root of the message: "$.params.arguments.query". A path that cannot lead into params
 * ("$.result.etag") has no effect. Unlike in verify, paths do not continue inside strings that
 * are JSON: params compare such a string as one value.
 *
 * The members of params that identify a request are never left out, nor is a value inside them:
 * name, uri, ref, taskId, cursor, requestState, inputResponses and task.
 *
 * Rules have a number (mcp/compare-rules.h). Borrows the rules. */
#ifndef MCP_PARAMS_IGNORE_H
#define MCP_PARAMS_IGNORE_H

#include "mcp/compare-rules.h"

/* True if a rule can leave out values of params. */
bool params_ignore_has_effect(const struct compare_rules *rules);

/* True if this rule can. */
bool params_ignore_is_effective(const struct compare_rules *rules, size_t rule);

/* True if no rule can leave out the value at a location inside params: it identifies the
 * request. The params as a whole do, too. */
bool params_ignore_is_identity(struct json_location location);

/* Returns the number of the rule that leaves out the value at a location inside params;
 * COMPARE_RULES_NONE: it is compared. */
size_t params_ignore_find(const struct compare_rules *rules, struct json_location location);

/* The same step by step, for a caller that walks params itself. */
struct params_ignore_walk {
    const struct compare_rules *rules;
    uint64_t *states; /* of every path at every depth; internal */
    size_t cap;
    bool all;         /* the params as a whole are left out */
    bool in_identity; /* inside a member that identifies the request */
};

/* Starts at the params. The caller initializes the walk to zero once and reuses it. */
void params_ignore_begin(struct params_ignore_walk *w, const struct compare_rules *rules);
void params_ignore_release(struct params_ignore_walk *w);

/* Goes to a member or element at `depth` (1: of the params) of the value that was entered last
 * at the depth above. Returns true if it is left out; then it must not be entered deeper. */
bool params_ignore_enter(struct params_ignore_walk *w, size_t depth,
                         const struct json_step *step);

#endif

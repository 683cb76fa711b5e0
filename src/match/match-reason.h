/* match/match-reason.h - tells why a recorded call answers a live request that is not equal to
 * it: which rules let it match, and where the two differ.
 *
 * Rules have numbers: those that ignore values (mcp/compare-rules.h), then the modes for tools,
 * then the mode for all other requests, then redaction. */
#ifndef MATCH_MATCH_REASON_H
#define MATCH_MATCH_REASON_H

#include "base/buf.h"
#include "match/match.h"

enum { MATCH_REASON_RULES = 16, MATCH_REASON_PATHS = 5 };

/* The first rules that were needed, each once, and the first differences. */
struct match_reason {
    size_t rules[MATCH_REASON_RULES];
    size_t rule_count;
    struct match_reason_path {
        struct str path; /* "$.params.arguments.query", truncated */
        size_t rule;
    } paths[MATCH_REASON_PATHS];
    size_t path_count;
    struct arena arena;
};

/* Compares a call with the live request that the matcher has just found it for. If it cannot be
 * read, there are no rules. `with_paths`: false if only the rules are needed. */
void match_reason_find(struct match_reason *r, const struct matcher *m, uint32_t call,
                       const struct mcp_message *live, bool with_paths);
void match_reason_release(struct match_reason *r);

/* Returns the number of rules. */
size_t match_reason_rule_count(const struct match_options *o);

enum match_rule_kind {
    MATCH_RULE_IGNORE,
    MATCH_RULE_TOOL_MODE,
    MATCH_RULE_MODE,
    MATCH_RULE_REDACTED,
};

/* Returns the rule of the mode for a live request. */
size_t match_reason_mode_rule(const struct match_options *o, const struct mcp_message *live);

enum match_rule_kind match_reason_kind(const struct match_options *o, size_t rule);

/* Whether a report lists the rule: it can let a request match that no call equals. Redaction is
 * not listed: it is no rule of the user. */
bool match_reason_is_listed(const struct match_options *o, size_t rule);

/* Returns the name of a rule and appends its value: "ignore_paths" and "$..etag", "match" and
 * "search=fuzzy", "redacted" and nothing. */
const char *match_reason_describe(const struct match_options *o, size_t rule,
                                  struct buf *value);

/* Appends a rule for people: "ignore_paths '$..etag'", "match search=fuzzy", "redacted". */
void match_reason_write(const struct match_options *o, size_t rule, struct buf *to);

#endif

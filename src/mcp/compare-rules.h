/* mcp/compare-rules.h - the rules of the user about what is compared and what may change.
 *
 * The caller fills them from the text of --rules files first, then from options, so that
 * options win. Paths are patterns of json/path.h from the root of the message
 * ("$.result.content[*].text.requestId"); they continue inside strings that are JSON.
 *
 * Text of a rules file (docs/rules.schema.json describes it for editors):
 *
 *     { "ignore_fields": ["requestId"],        members with this name, at any depth
 *       "ignore_paths": ["$.result..etag"],    values at these paths
 *       "volatile": true,                      false: the default volatile set is off; an array
 *                                              of paths: these are volatile in addition to it
 *       "rebind": ["$.result.handle"],         values that the server generates and later
 *                                              requests repeat
 *       "include_meta": false,                 true: compare _meta
 *       "allow": [{                            changes of a server's surface that are accepted
 *           "rule": "tool.removed",            id of a rule of docs/contract-rules.md
 *           "tool": "search",                  tool, prompt, URI or template; absent: all
 *           "until": "2027-01-31",             the last day on which the entry counts
 *           "reason": "replaced by find" }] }
 *
 * Owns its strings. Does no I/O. */
#ifndef MCP_COMPARE_RULES_H
#define MCP_COMPARE_RULES_H

#include "json/path.h"

/* Maximum of paths and of fields; every value of a payload is matched against all of them. */
enum { COMPARE_RULES_MAX = 256 };

enum compare_path_kind {
    COMPARE_PATH_IGNORE,
    COMPARE_PATH_VOLATILE,
    COMPARE_PATH_REBIND,
};

struct compare_path {
    enum compare_path_kind kind;
    struct str text; /* as the user wrote it */
    struct json_path path;
};

/* A change of a server's surface that the user accepts. */
struct compare_allow {
    struct str rule;
    struct str tool;  /* empty: all */
    struct str until; /* "2027-01-31" */
    struct str reason;
};

struct compare_rules {
    /* Compare as mcp-recorder does (mcp/payload-compare.h). Set by the caller. */
    bool like_mcp_recorder;
    bool include_meta;     /* compare _meta */
    bool default_volatile; /* use the default volatile set; set by compare_rules_init() */

    const struct compare_path **paths;
    size_t path_count, path_cap;
    struct str *ignored_fields;
    size_t field_count, field_cap;
    struct compare_allow *allow;
    size_t allow_count, allow_cap;
    struct arena strings;
};

void compare_rules_init(struct compare_rules *r);
void compare_rules_release(struct compare_rules *r);

/* Adds the rules of a text. ERR_USAGE names the error, its line and its column; the rules are
 * incomplete then. */
bool compare_rules_parse(struct compare_rules *r, struct str text, struct err *e) MUST_CHECK;

/* Adds one value of --ignore-fields. */
bool compare_rules_add_field(struct compare_rules *r, struct str name,
                             struct err *e) MUST_CHECK;

/* Adds one value of --ignore-paths or --rebind. */
bool compare_rules_add_path(struct compare_rules *r, enum compare_path_kind kind,
                            struct str path, struct err *e) MUST_CHECK;

/* Applies one value of --volatile: "on" and "off" for the default set, or a path. */
bool compare_rules_set_volatile(struct compare_rules *r, struct str value,
                                struct err *e) MUST_CHECK;

/* Rules have numbers: first the paths, then the ignored fields. */
#define COMPARE_RULES_NONE SIZE_MAX
static inline size_t compare_rules_count(const struct compare_rules *r)
{
    return r->path_count + r->field_count;
}

/* Returns the rule by which the user ignores members with this name, at any depth;
 * COMPARE_RULES_NONE: there is none. */
size_t compare_rules_find_field(const struct compare_rules *r, struct str name);

/* Returns the member of a rules file that has the rule, and sets `*value` to its text:
 * "ignore_paths" and "$..etag". */
const char *compare_rules_describe(const struct compare_rules *r, size_t rule,
                                   struct str *value);

/* True for a member that mcp-recorder removes before it compares: "id" and "_meta", at any
 * depth but not inside strings. Always false without `like_mcp_recorder`. */
bool compare_rules_strips_field(const struct compare_rules *r, struct str name);

#endif

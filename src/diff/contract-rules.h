/* diff/contract-rules.h - says how severe each change of a server's surface is: breaking,
 * risky, safe and so on. Ids, severities and profiles of the rules.
 *
 * An id never changes. The part before its last dot is the thing that changed; the change in
 * the other direction has a rule with the same part and the opposite action.
 * docs/contract-rules.md shows an example of each. */
#ifndef DIFF_CONTRACT_RULES_H
#define DIFF_CONTRACT_RULES_H

#include "diff/schema-compare.h"

/* The most severe first. */
enum contract_severity {
    CONTRACT_BREAKING, /* a client that worked may fail, or a part was not compared */
    CONTRACT_SECURITY, /* a user or model may be misled about what is safe */
    CONTRACT_RISKY,    /* it cannot be decided, or fails only sometimes */
    CONTRACT_ROUTING,  /* everything still works, but a model may choose differently */
    CONTRACT_SAFE,
    CONTRACT_COSMETIC,
};

enum { CONTRACT_SEVERITIES = CONTRACT_COSMETIC + 1 };

/* Each has the rules of the one before it, and more. */
enum contract_profile {
    CONTRACT_PROFILE_WIRE,     /* only rules that are breaking or risky */
    CONTRACT_PROFILE_CONTRACT, /* all rules */
    CONTRACT_PROFILE_SURFACE,  /* all rules; additions and order count, too */
};

enum contract_action { CONTRACT_ADDED, CONTRACT_REMOVED, CONTRACT_CHANGED };

/* Numbers of rules. Those of schemas are RULE_INPUT or RULE_OUTPUT and the kind of the
 * change. */
enum contract_rule_number {
    RULE_INPUT = 0,
    RULE_OUTPUT = SCHEMA_CHANGE_KINDS,
    RULE_TOOL_ADDED = 2 * SCHEMA_CHANGE_KINDS,
    RULE_TOOL_REMOVED,
    RULE_TOOL_RENAMED,
    RULE_TOOL_DESCRIPTION,
    RULE_TOOL_TITLE,
    RULE_TOOL_ANNOTATION_LOOSENED,
    RULE_TOOL_ANNOTATION_TIGHTENED,
    RULE_TOOL_INPUT_INVALID,
    RULE_TOOL_INPUT_VALID,
    RULE_TOOL_OUTPUT_ADDED,
    RULE_TOOL_OUTPUT_REMOVED,
    RULE_TOOL_TASK_WIDENED,
    RULE_TOOL_TASK_NARROWED,
    RULE_TOOL_TASK_CHANGED,
    RULE_TOOL_ORDER,
    RULE_TOOL_ICONS,
    RULE_TOOL_META,
    RULE_TOOL_MEMBER,
    RULE_PROMPT_ADDED,
    RULE_PROMPT_REMOVED,
    RULE_PROMPT_RENAMED,
    RULE_PROMPT_DESCRIPTION,
    RULE_PROMPT_TITLE,
    RULE_PROMPT_ARGUMENT_ADDED,
    RULE_PROMPT_ARGUMENT_REQUIRED_ADDED,
    RULE_PROMPT_ARGUMENT_REMOVED,
    RULE_PROMPT_REQUIRED_ADDED,
    RULE_PROMPT_REQUIRED_REMOVED,
    RULE_PROMPT_ARGUMENT_TEXT,
    RULE_PROMPT_MEMBER,
    RULE_RESOURCE_ADDED,
    RULE_RESOURCE_REMOVED,
    RULE_RESOURCE_TEXT,
    RULE_RESOURCE_MIME_TYPE,
    RULE_RESOURCE_MEMBER,
    RULE_TEMPLATE_ADDED,
    RULE_TEMPLATE_REMOVED,
    RULE_TEMPLATE_URI,
    RULE_TEMPLATE_TEXT,
    RULE_TEMPLATE_MIME_TYPE,
    RULE_TEMPLATE_MEMBER,
    RULE_CAPABILITY_ADDED,
    RULE_CAPABILITY_REMOVED,
    RULE_CAPABILITY_CHANGED,
    RULE_PROTOCOL_RAISED,
    RULE_PROTOCOL_LOWERED,
    RULE_PROTOCOL_CHANGED,
    RULE_INSTRUCTIONS,
    RULE_SERVER_INFO,
    RULE_HIDDEN_ADDED,
    RULE_HIDDEN_REMOVED,
    RULE_URL_ADDED,
    RULE_URL_REMOVED,
    RULE_REPEATED_ADDED,
    RULE_REPEATED_REMOVED,
    RULE_NAMELESS_ADDED,
    RULE_NAMELESS_REMOVED,
    RULE_COUNT,
};

struct contract_rule {
    struct str id; /* empty: there is no rule of that number */
    enum contract_severity severity;
    enum contract_severity surface_severity; /* with the profile `surface` */
    enum contract_action action;
    struct str text; /* follows the subject: "an enum lost values" */
};

const struct contract_rule *contract_rule(enum contract_rule_number number);

/* Returns the rule with an id; NULL: there is none. */
const struct contract_rule *contract_rules_find(struct str id);

/* Returns the word: "breaking". */
struct str contract_rules_severity(enum contract_severity severity);

#endif

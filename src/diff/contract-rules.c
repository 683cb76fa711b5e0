#include "diff/contract-rules.h"

#define ROW(number, name, act, sev, what)                                                      \
    [number] = { STR_INIT(name), CONTRACT_##sev, CONTRACT_##sev, CONTRACT_##act,               \
                 STR_INIT(what) }

/* A rule that is more severe with the profile `surface`. */
#define ROW2(number, name, act, sev, surface, what)                                            \
    [number] = { STR_INIT(name), CONTRACT_##sev, CONTRACT_##surface, CONTRACT_##act,           \
                 STR_INIT(what) }

#define INPUT(kind, name, act, sev, what)                                                      \
    ROW(RULE_INPUT + SCHEMA_##kind, "tool.input." name, act, sev, what)
#define OUTPUT(kind, name, act, sev, what)                                                     \
    ROW(RULE_OUTPUT + SCHEMA_##kind, "tool.output." name, act, sev, what)
#define BOTH(kind, name, act, in, out, what)                                                   \
    INPUT(kind, name, act, in, what), OUTPUT(kind, name, act, out, what)

static const struct contract_rule rules[RULE_COUNT] = {
    BOTH(PROPERTY_ADDED, "property.added", ADDED, SAFE, SAFE, "an optional property was added"),
    OUTPUT(PROPERTY_ADDED_CLOSED, "property.added-closed", ADDED, RISKY,
           "a property was added to a result that had no further ones"),
    BOTH(PROPERTY_REQUIRED_ADDED, "property.required-added", ADDED, BREAKING, SAFE,
         "a required property was added"),
    INPUT(PROPERTY_REMOVED, "property.removed", REMOVED, RISKY,
          "a property was removed; clients that send it are ignored"),
    OUTPUT(PROPERTY_REMOVED, "property.removed", REMOVED, SAFE,
           "an optional property was removed"),
    INPUT(PROPERTY_REMOVED_CLOSED, "property.removed-closed", REMOVED, BREAKING,
          "a property was removed; clients that send it are rejected"),
    OUTPUT(PROPERTY_REQUIRED_REMOVED, "property.required-removed", REMOVED, BREAKING,
           "a property that was always there was removed"),
    BOTH(PROPERTY_RENAMED, "property.renamed", CHANGED, BREAKING, BREAKING,
         "a property seems to be renamed"),
    BOTH(REQUIRED_ADDED, "required.added", ADDED, BREAKING, SAFE,
         "an optional property became required"),
    BOTH(REQUIRED_REMOVED, "required.removed", REMOVED, SAFE, BREAKING,
         "a required property became optional"),
    BOTH(TYPE_WIDENED, "type.widened", ADDED, SAFE, BREAKING, "more types are possible"),
    BOTH(TYPE_NARROWED, "type.narrowed", REMOVED, BREAKING, SAFE, "fewer types are possible"),
    BOTH(TYPE_CHANGED, "type.changed", CHANGED, BREAKING, BREAKING, "the type changed"),
    BOTH(ENUM_VALUES_ADDED, "enum.values-added", ADDED, SAFE, BREAKING,
         "an enum got more values"),
    BOTH(ENUM_VALUES_REMOVED, "enum.values-removed", REMOVED, BREAKING, SAFE,
         "an enum lost values"),
    BOTH(ENUM_SET, "enum.set", REMOVED, BREAKING, SAFE, "values were limited to an enum"),
    BOTH(ENUM_UNSET, "enum.unset", ADDED, SAFE, BREAKING,
         "values are no longer limited to an enum"),
    BOTH(NULLABLE_ADDED, "nullable.added", ADDED, SAFE, BREAKING, "null became possible"),
    BOTH(NULLABLE_REMOVED, "nullable.removed", REMOVED, BREAKING, SAFE,
         "null is no longer possible"),
    BOTH(BOUND_LOOSENED, "bound.loosened", ADDED, SAFE, BREAKING,
         "a limit was loosened or removed"),
    BOTH(BOUND_TIGHTENED, "bound.tightened", REMOVED, BREAKING, SAFE,
         "a limit was tightened or added"),
    BOTH(BOUND_CHANGED, "bound.changed", CHANGED, BREAKING, BREAKING, "a limit changed"),
    BOTH(PATTERN_ADDED, "pattern.added", ADDED, BREAKING, SAFE, "a pattern was added"),
    BOTH(PATTERN_REMOVED, "pattern.removed", REMOVED, SAFE, BREAKING, "a pattern was removed"),
    BOTH(PATTERN_CHANGED, "pattern.changed", CHANGED, RISKY, RISKY, "a pattern changed"),
    BOTH(FORMAT_ADDED, "format.added", ADDED, BREAKING, SAFE, "a format was added"),
    BOTH(FORMAT_REMOVED, "format.removed", REMOVED, SAFE, BREAKING, "a format was removed"),
    BOTH(FORMAT_CHANGED, "format.changed", CHANGED, RISKY, RISKY, "a format changed"),
    BOTH(ADDITIONAL_OPENED, "additional.opened", ADDED, SAFE, BREAKING,
         "further properties became possible"),
    BOTH(ADDITIONAL_CLOSED, "additional.closed", REMOVED, BREAKING, SAFE,
         "further properties are no longer possible"),
    BOTH(BRANCH_ADDED, "branch.added", ADDED, SAFE, BREAKING,
         "an alternative of anyOf or oneOf was added"),
    BOTH(BRANCH_REMOVED, "branch.removed", REMOVED, BREAKING, SAFE,
         "an alternative of anyOf or oneOf was removed"),
    BOTH(CONJUNCT_ADDED, "conjunct.added", ADDED, BREAKING, SAFE,
         "a further schema must be met"),
    BOTH(CONJUNCT_REMOVED, "conjunct.removed", REMOVED, SAFE, BREAKING,
         "a schema need not be met any more"),
    BOTH(NOT_JUDGED, "keyword.not-judged", CHANGED, RISKY, RISKY,
         "a keyword that is invalid or not judged by mcpreel changed, or a definition behind "
         "it"),
    BOTH(TOO_COMPLEX, "schema.too-complex", CHANGED, BREAKING, BREAKING,
         "the schema is too complex; a part of it was not compared, and may be breaking"),
    BOTH(DEFAULT_CHANGED, "default.changed", CHANGED, ROUTING, ROUTING, "a default changed"),
    BOTH(DESCRIPTION_CHANGED, "description.changed", CHANGED, ROUTING, COSMETIC,
         "the description of a property changed"),
    BOTH(TITLE_CHANGED, "title.changed", CHANGED, ROUTING, COSMETIC,
         "the title of a property changed"),
    BOTH(EXAMPLES_CHANGED, "examples.changed", CHANGED, ROUTING, COSMETIC, "examples changed"),
    INPUT(HEADER_ADDED, "header.added", ADDED, BREAKING,
          "an argument must be repeated in an HTTP header"),
    INPUT(HEADER_REMOVED, "header.removed", REMOVED, SAFE,
          "an argument is no longer repeated in an HTTP header"),
    INPUT(HEADER_CHANGED, "header.changed", CHANGED, BREAKING,
          "the HTTP header of an argument changed"),
    BOTH(EXTENSION_CHANGED, "extension.changed", CHANGED, COSMETIC, COSMETIC,
         "an unknown keyword changed"),

    ROW2(RULE_TOOL_ADDED, "tool.added", ADDED, SAFE, ROUTING, "was added"),
    ROW(RULE_TOOL_REMOVED, "tool.removed", REMOVED, BREAKING, "was removed"),
    ROW(RULE_TOOL_RENAMED, "tool.renamed", CHANGED, BREAKING, "was renamed"),
    ROW(RULE_TOOL_DESCRIPTION, "tool.description.changed", CHANGED, ROUTING,
        "the description changed"),
    ROW(RULE_TOOL_TITLE, "tool.title.changed", CHANGED, ROUTING, "the title changed"),
    ROW(RULE_TOOL_ANNOTATION_LOOSENED, "tool.annotation.loosened", ADDED, SECURITY,
        "an annotation claims less danger than before"),
    ROW(RULE_TOOL_ANNOTATION_TIGHTENED, "tool.annotation.tightened", REMOVED, ROUTING,
        "an annotation claims more danger than before"),
    ROW(RULE_TOOL_INPUT_INVALID, "tool.input-schema.invalid", ADDED, BREAKING,
        "inputSchema is no valid schema any more"),
    ROW(RULE_TOOL_INPUT_VALID, "tool.input-schema.valid", REMOVED, SAFE,
        "inputSchema became a valid schema"),
    ROW(RULE_TOOL_OUTPUT_ADDED, "tool.output-schema.added", ADDED, SAFE,
        "outputSchema was added"),
    ROW(RULE_TOOL_OUTPUT_REMOVED, "tool.output-schema.removed", REMOVED, BREAKING,
        "outputSchema was removed"),
    ROW(RULE_TOOL_TASK_WIDENED, "tool.task-support.widened", ADDED, SAFE,
        "it can be called with and without a task now"),
    ROW(RULE_TOOL_TASK_NARROWED, "tool.task-support.narrowed", REMOVED, BREAKING,
        "it can no longer be called both with and without a task"),
    ROW(RULE_TOOL_TASK_CHANGED, "tool.task-support.changed", CHANGED, BREAKING,
        "tasks were required and are forbidden now, or the reverse"),
    ROW2(RULE_TOOL_ORDER, "tool.order.changed", CHANGED, COSMETIC, ROUTING,
         "the order of the tools changed"),
    ROW(RULE_TOOL_ICONS, "tool.icons.changed", CHANGED, COSMETIC, "icons changed"),
    ROW(RULE_TOOL_META, "tool.meta.changed", CHANGED, COSMETIC, "_meta changed"),
    ROW(RULE_TOOL_MEMBER, "tool.member.changed", CHANGED, COSMETIC, "another member changed"),
    ROW2(RULE_PROMPT_ADDED, "prompt.added", ADDED, SAFE, ROUTING, "was added"),
    ROW(RULE_PROMPT_REMOVED, "prompt.removed", REMOVED, BREAKING, "was removed"),
    ROW(RULE_PROMPT_RENAMED, "prompt.renamed", CHANGED, BREAKING, "was renamed"),
    ROW(RULE_PROMPT_DESCRIPTION, "prompt.description.changed", CHANGED, ROUTING,
        "the description changed"),
    ROW(RULE_PROMPT_TITLE, "prompt.title.changed", CHANGED, ROUTING, "the title changed"),
    ROW(RULE_PROMPT_ARGUMENT_ADDED, "prompt.argument.added", ADDED, SAFE,
        "an optional argument was added"),
    ROW(RULE_PROMPT_ARGUMENT_REQUIRED_ADDED, "prompt.argument.required-added", ADDED, BREAKING,
        "a required argument was added"),
    ROW(RULE_PROMPT_ARGUMENT_REMOVED, "prompt.argument.removed", REMOVED, RISKY,
        "an argument was removed"),
    ROW(RULE_PROMPT_REQUIRED_ADDED, "prompt.required.added", ADDED, BREAKING,
        "an optional argument became required"),
    ROW(RULE_PROMPT_REQUIRED_REMOVED, "prompt.required.removed", REMOVED, SAFE,
        "a required argument became optional"),
    ROW(RULE_PROMPT_ARGUMENT_TEXT, "prompt.argument-text.changed", CHANGED, ROUTING,
        "the description of an argument changed"),
    ROW(RULE_PROMPT_MEMBER, "prompt.member.changed", CHANGED, COSMETIC,
        "another member changed"),
    ROW2(RULE_RESOURCE_ADDED, "resource.added", ADDED, SAFE, ROUTING, "was added"),
    ROW(RULE_RESOURCE_REMOVED, "resource.removed", REMOVED, RISKY, "was removed"),
    ROW(RULE_RESOURCE_TEXT, "resource.text.changed", CHANGED, ROUTING,
        "name, title or description changed"),
    ROW(RULE_RESOURCE_MIME_TYPE, "resource.mime-type.changed", CHANGED, RISKY,
        "the MIME type changed"),
    ROW(RULE_RESOURCE_MEMBER, "resource.member.changed", CHANGED, COSMETIC,
        "another member changed"),
    ROW2(RULE_TEMPLATE_ADDED, "template.added", ADDED, SAFE, ROUTING, "was added"),
    ROW(RULE_TEMPLATE_REMOVED, "template.removed", REMOVED, BREAKING, "was removed"),
    ROW(RULE_TEMPLATE_URI, "template.uri.changed", CHANGED, BREAKING,
        "the URI template changed"),
    ROW(RULE_TEMPLATE_TEXT, "template.text.changed", CHANGED, ROUTING,
        "name, title or description changed"),
    ROW(RULE_TEMPLATE_MIME_TYPE, "template.mime-type.changed", CHANGED, RISKY,
        "the MIME type changed"),
    ROW(RULE_TEMPLATE_MEMBER, "template.member.changed", CHANGED, COSMETIC,
        "another member changed"),
    ROW(RULE_CAPABILITY_ADDED, "server.capability.added", ADDED, SAFE,
        "a capability was added"),
    ROW(RULE_CAPABILITY_REMOVED, "server.capability.removed", REMOVED, BREAKING,
        "a capability was removed"),
    ROW(RULE_CAPABILITY_CHANGED, "server.capability.changed", CHANGED, RISKY,
        "a capability changed"),
    ROW(RULE_PROTOCOL_RAISED, "server.protocol.raised", ADDED, SAFE,
        "the protocol version is a later one"),
    ROW(RULE_PROTOCOL_LOWERED, "server.protocol.lowered", REMOVED, RISKY,
        "the protocol version is an earlier one"),
    ROW(RULE_PROTOCOL_CHANGED, "server.protocol.changed", CHANGED, RISKY,
        "the protocol changed between stateful and stateless, or is unknown"),
    ROW(RULE_INSTRUCTIONS, "server.instructions.changed", CHANGED, ROUTING,
        "the instructions changed"),
    ROW(RULE_SERVER_INFO, "server.info.changed", CHANGED, COSMETIC,
        "name, version or another part of the server info changed"),
    ROW(RULE_HIDDEN_ADDED, "text.hidden-characters.added", ADDED, SECURITY,
        "characters were added that are not visible"),
    ROW(RULE_HIDDEN_REMOVED, "text.hidden-characters.removed", REMOVED, SAFE,
        "characters were removed that are not visible"),
    ROW(RULE_URL_ADDED, "text.url.added", ADDED, SECURITY, "a URL was added to a description"),
    ROW(RULE_URL_REMOVED, "text.url.removed", REMOVED, SAFE,
        "a URL was removed from a description"),
    ROW(RULE_REPEATED_ADDED, "list.repeated.added", ADDED, SECURITY,
        "another definition of the same name was added; clients may use either"),
    ROW(RULE_REPEATED_REMOVED, "list.repeated.removed", REMOVED, SAFE,
        "another definition of the same name was removed"),
    ROW(RULE_NAMELESS_ADDED, "list.nameless.added", ADDED, SECURITY,
        "definitions without a name were added to the list"),
    ROW(RULE_NAMELESS_REMOVED, "list.nameless.removed", REMOVED, SAFE,
        "definitions without a name were removed from the list"),
};

const struct contract_rule *contract_rule(enum contract_rule_number number)
{
    return &rules[number];
}

const struct contract_rule *contract_rules_find(struct str id)
{
    for (size_t i = 0; i < RULE_COUNT && id.len; i++)
        if (str_eq(rules[i].id, id))
            return &rules[i];
    return NULL;
}

struct str contract_rules_severity(enum contract_severity severity)
{
    static const struct str words[CONTRACT_SEVERITIES] = {
        [CONTRACT_BREAKING] = STR_INIT("breaking"), [CONTRACT_SECURITY] = STR_INIT("security"),
        [CONTRACT_RISKY] = STR_INIT("risky"),       [CONTRACT_ROUTING] = STR_INIT("routing"),
        [CONTRACT_SAFE] = STR_INIT("safe"),         [CONTRACT_COSMETIC] = STR_INIT("cosmetic"),
    };

    return words[severity];
}

/* check/definition-check.h - judges what a server advertised, and recorded calls by it: hidden
 * characters in definitions, arguments that an inputSchema rejects, results that an
 * outputSchema rejects.
 *
 * Takes the events of operations. A call is judged by the latest definition of its tool that
 * its session has got before; without one it is not judged. Nor is a redacted value, or a
 * keyword that json/schema.h does not evaluate: there is no false violation, but such calls
 * and results are counted. A result of a tool
 * with an outputSchema must have structuredContent, unless it is an error or a task.
 *
 * At the end there is a finding for each rule and tool, at its first place.
 *
 * Does no I/O. Bounded: keeps DEFINITION_CHECK_TOOLS definitions of DEFINITION_CHECK_BYTES in
 * total, equal ones once, and judges no calls by others; DEFINITION_CHECK_ROWS names have a
 * finding of their own, all others share one. */
#ifndef CHECK_DEFINITION_CHECK_H
#define CHECK_DEFINITION_CHECK_H

#include "base/capped-table.h"
#include "base/recent-keys.h"
#include "ops/operation.h"
#include "trace/finding-list.h"
#include "json/schema.h"

enum {
    DEFINITION_CHECK_TOOLS = 2048,
    DEFINITION_CHECK_BYTES = 4 << 20,
    DEFINITION_CHECK_ROWS = 512,
    DEFINITION_CHECK_TEXT = 256,
};

enum definition_rule {
    DEFINITION_HIDDEN_CHARACTERS,
    DEFINITION_INPUT_SCHEMA,
    DEFINITION_OUTPUT_SCHEMA,
    DEFINITION_RULES,
};

/* Returns the id of a rule, such as "input-schema". Ids never change. */
const char *definition_check_id(enum definition_rule rule);

/* Finds the rule with an id; DEFINITION_RULES: there is none. */
enum definition_rule definition_check_find(struct str id);

/* Calls and results that could not be judged by the schema of their tool. */
struct definition_unjudged {
    uint64_t calls, results;
    struct json_schema_result schema; /* keywords that were not checked */
    bool redacted;                    /* values that were redacted */
    bool not_kept;                    /* definitions beyond the limits */
};

struct definition_check {
    struct operation_sink events;
    struct definition_unjudged unjudged;

    /* Private. */
    struct map definitions;    /* hash of the text -> struct checked_tool */
    size_t bytes;              /* of their texts */
    struct recent_keys latest; /* session and tool -> its definition; 0: not kept */
    struct recent_keys seen;   /* definitions that were searched for hidden characters */
    struct capped_table rows[DEFINITION_RULES]; /* of struct definition_row */
    struct json empty;                          /* {}: arguments that are absent */
    struct arena texts, scratch;
};

void definition_check_init(struct definition_check *c);
void definition_check_release(struct definition_check *c);

/* Appends "2 calls and 1 result were not judged completely (not checked: format)"; nothing if
 * all were. */
void definition_check_write_unjudged(struct buf *to, const struct definition_unjudged *u);

/* Appends the reason only: "not checked: format". */
void definition_check_write_reason(struct buf *to, const struct definition_unjudged *u);

/* Adds the findings, except those of ignored rules. */
void definition_check_finish(const struct definition_check *c,
                             const bool ignored[DEFINITION_RULES], struct finding_list *to);

#endif

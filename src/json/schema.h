/* json/schema.h - validates JSON values against a JSON Schema.
 *
 * For the inputSchema and outputSchema of MCP tools: draft-07 and 2020-12 (json/schema-rules.h
 * lists the keywords and says how the dialect is chosen). Numbers are compared by value, so 2.0
 * is an integer. The last of duplicate members counts.
 *
 * Never a false violation: a keyword that cannot be evaluated makes the result undecided where
 * it matters, also inside anyOf, oneOf, not and if. These are format, $dynamicRef,
 * $recursiveRef, unevaluatedItems and unevaluatedProperties, a $ref to another document or to
 * nothing, a pattern that RE2 does not support, and a keyword whose value has the wrong type.
 *
 * Bounded: the work is limited to a multiple of the size of the value, and so is the nesting of
 * schemas. A schema that exceeds that, such as one of nested anyOf and $ref or a $ref to
 * itself, is too complex. Otherwise linear, except for sorting.
 *
 * Ownership: a schema borrows the JSON value that it is made of, and keeps what it has prepared
 * for the next check. */
#ifndef JSON_SCHEMA_H
#define JSON_SCHEMA_H

#include "json/path.h"

struct json_schema;

struct json_schema *json_schema_new(struct json_val schema);
void json_schema_free(struct json_schema *s); /* NULL is fine */

enum json_schema_verdict {
    JSON_SCHEMA_VALID,
    JSON_SCHEMA_INVALID,
    JSON_SCHEMA_PARTIAL,     /* no violation, but something was not checked */
    JSON_SCHEMA_TOO_COMPLEX, /* no violation until the limit */
};

struct json_schema_result {
    enum json_schema_verdict verdict;
    uint64_t unchecked; /* keywords that were not checked and mattered, as bits */
};

struct json_schema_violation {
    struct json_location location; /* of the value, or of the member that is missing */
    struct json_val value;         /* absent if it is missing */
    struct str keyword;            /* "required"; empty for the schema `false` at the root */
    struct json_val rule;          /* the value of the keyword, or the schema `false` */
    struct str message; /* follows the location: "must be an integer", "is missing". Has text of
                           the schema, none of the value. */
};

/* Validates a value. Calls `found` for each violation until it returns false; all it gets is
 * valid during the call. With NULL for `found` ends at the first violation. An absent value
 * violates every schema; an absent schema accepts every value. */
struct json_schema_result
json_schema_check(struct json_schema *s, struct json_val value,
                  bool (*found)(void *arg, const struct json_schema_violation *v), void *arg);

/* Appends what was not checked: "not checked: format, $ref" or "schema too complex"; nothing if
 * everything was. An INVALID value may have more violations than were found. */
void json_schema_write_unchecked(const struct json_schema_result *result, struct buf *to);

/* Appends where the rule of a violation stands in the schema: "$.properties.limit.type". */
void json_schema_write_rule(const struct json_schema *s, const struct json_schema_violation *v,
                            struct buf *to);

#endif

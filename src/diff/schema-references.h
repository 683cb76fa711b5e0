/* diff/schema-references.h - the definitions that a part of a schema refers to, also through
 * other definitions.
 *
 * For keywords that are compared by value only: `not`, `patternProperties`, tuples. Two of them
 * with equal text differ if a definition behind a $ref differs. A $ref that is not resolved
 * (json/schema-rules.h), and a $dynamicRef, may lead to any definition of the schema. */
#ifndef DIFF_SCHEMA_REFERENCES_H
#define DIFF_SCHEMA_REFERENCES_H

#include "json/schema-rules.h"

enum { SCHEMA_REFERENCES_WORK = 1 << 20 }; /* values; with more, they count as different */

/* Returns whether definitions differ that two equal values refer to; `before` is in the schema
 * of rules[0], `after` in that of rules[1]. Adds the values that were read to `*work`. */
bool schema_references_differ(struct json_schema_rules rules[2], struct json_val before,
                              struct json_val after, uint64_t *work);

/* The same for a reference that is not resolved. */
bool schema_references_definitions_differ(const struct json_schema_rules rules[2]);

#endif

/* json/meta-schema.h - whether a JSON Schema is a valid one, as the schema of schemas of
 * draft-07 has it. Keywords that it does not know are accepted, so schemas of 2020-12 are
 * valid, too. A schema whose "$schema" names another dialect is accepted as it is: in draft-04
 * a value of exclusiveMinimum is a boolean.
 *
 * Does not compile patterns, and does not resolve $ref. */
#ifndef JSON_META_SCHEMA_H
#define JSON_META_SCHEMA_H

#include "base/buf.h"
#include "json/json.h"

/* Returns whether a schema is valid, of another dialect, or too complex to tell. Otherwise
 * appends the location and the reason of a violation: "$.minProperties must be at least 0". */
bool json_meta_schema_check(struct json_val schema, struct buf *why);

#endif

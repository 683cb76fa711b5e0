/* json/schema-types.h - the types of JSON Schema as a set of bits.
 *
 * "integer" is part of "number": an integer has both bits. */
#ifndef JSON_SCHEMA_TYPES_H
#define JSON_SCHEMA_TYPES_H

#include "base/buf.h"
#include "json/json.h"

enum json_schema_type {
    JSON_SCHEMA_OBJECT = 1,
    JSON_SCHEMA_ARRAY = 2,
    JSON_SCHEMA_STRING = 4,
    JSON_SCHEMA_INTEGER = 8,
    JSON_SCHEMA_NUMBER = 16,
    JSON_SCHEMA_BOOLEAN = 32,
    JSON_SCHEMA_NULL = 64,
};

enum { JSON_SCHEMA_TYPE_COUNT = 7 };

/* Returns the types of a value that exists. */
unsigned json_schema_types_of(struct json_val v);

/* Parses the value of `type`: a name, or an array of names. Returns false if it has something
 * else, or nothing. */
bool json_schema_types_parse(struct json_val type, unsigned *types) MUST_CHECK;

/* Appends the names as JSON: "string", or ["string","null"]. */
void json_schema_types_write_json(unsigned types, struct buf *to);

/* Appends "must be an array, a string or null". */
void json_schema_types_write(unsigned types, struct buf *to);

#endif

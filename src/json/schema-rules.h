/* json/schema-rules.h - the keywords of a JSON Schema, prepared for json/schema.
 *
 * Reads each subschema once, when it is first needed: its keywords in a fixed order, targets of
 * $ref, compiled patterns.
 *
 * Keywords count as the dialect in "$schema" has them (draft-07 and older, or 2019-09 and
 * newer); without it, those of both. The last of duplicate keywords counts.
 *
 * A $ref is resolved if it is a JSON pointer (#/$defs/a~1b) inside the schema or the resource
 * ("$id") that contains it. */
#ifndef JSON_SCHEMA_RULES_H
#define JSON_SCHEMA_RULES_H

#include "base/map.h"
#include "base/regex.h"
#include "json/json.h"

/* In the order in which they are checked. Keywords that only another one reads come last. */
enum json_keyword {
    KEYWORD_TYPE,
    KEYWORD_CONST,
    KEYWORD_ENUM,
    KEYWORD_REF,
    KEYWORD_DYNAMIC_REF,
    KEYWORD_RECURSIVE_REF,
    KEYWORD_MINIMUM,
    KEYWORD_MAXIMUM,
    KEYWORD_EXCLUSIVE_MINIMUM,
    KEYWORD_EXCLUSIVE_MAXIMUM,
    KEYWORD_MULTIPLE_OF,
    KEYWORD_MIN_LENGTH,
    KEYWORD_MAX_LENGTH,
    KEYWORD_PATTERN,
    KEYWORD_FORMAT,
    KEYWORD_MIN_ITEMS,
    KEYWORD_MAX_ITEMS,
    KEYWORD_UNIQUE_ITEMS,
    KEYWORD_PREFIX_ITEMS,
    KEYWORD_ITEMS,
    KEYWORD_CONTAINS,
    KEYWORD_UNEVALUATED_ITEMS,
    KEYWORD_MIN_PROPERTIES,
    KEYWORD_MAX_PROPERTIES,
    KEYWORD_REQUIRED,
    KEYWORD_DEPENDENT_REQUIRED,
    KEYWORD_DEPENDENT_SCHEMAS,
    KEYWORD_DEPENDENCIES,
    KEYWORD_PROPERTY_NAMES,
    KEYWORD_PROPERTIES,
    KEYWORD_PATTERN_PROPERTIES,
    KEYWORD_ADDITIONAL_PROPERTIES,
    KEYWORD_UNEVALUATED_PROPERTIES,
    KEYWORD_ALL_OF,
    KEYWORD_ANY_OF,
    KEYWORD_ONE_OF,
    KEYWORD_NOT,
    KEYWORD_IF,
    KEYWORD_ADDITIONAL_ITEMS, /* beside `items` */
    KEYWORD_MIN_CONTAINS,     /* beside `contains` */
    KEYWORD_MAX_CONTAINS,
    KEYWORD_THEN, /* beside `if` */
    KEYWORD_ELSE,
    KEYWORD_NONE, /* a subschema that is no schema */
    KEYWORD_COUNT,
};

struct str json_keyword_name(enum json_keyword k);

/* Whether the value of a keyword has the form that JSON Schema demands: `required` an array of
 * strings, `minimum` a number. The content of subschemas and patterns is not checked. */
bool json_keyword_is_valid(enum json_keyword k, struct json_val value);

struct json_schema_rule {
    enum json_keyword keyword;
    struct json_val value;
    struct json_val target; /* of a $ref; absent if it was not found */
};

/* A subschema that is an object. */
struct json_schema_node {
    size_t count;
    struct json_schema_rule rules[]; /* sorted by keyword, each once */
};

enum { JSON_SCHEMA_MAX_RESOURCES = 64 }; /* with more, no $ref is resolved */
enum { JSON_SCHEMA_MAX_PATTERNS = 64 };  /* compiled at a time; RE2 needs up to 8 MB for one */

struct json_schema_rules {
    struct json_val root;                                 /* borrowed */
    unsigned dialects;                                    /* that a keyword must be in */
    struct json_val resources[JSON_SCHEMA_MAX_RESOURCES]; /* subschemas with an $id */
    size_t resource_count;
    struct map nodes;    /* struct json_schema_node, by number of the JSON node */
    struct map patterns; /* struct json_schema_pattern, by number of the JSON node */
    size_t pattern_count;
    uint64_t work; /* members and bytes that were read; the caller may reset it */
    struct arena arena;
};

void json_schema_rules_init(struct json_schema_rules *r, struct json_val root);
void json_schema_rules_release(struct json_schema_rules *r);

/* Returns the keywords of a subschema, which is an object; valid until the release. */
const struct json_schema_node *json_schema_rules_of(struct json_schema_rules *r,
                                                    struct json_val schema);

/* Returns the rule of a keyword, or NULL. */
const struct json_schema_rule *json_schema_rule(const struct json_schema_node *node,
                                                enum json_keyword k);

/* Returns a pattern, compiled; NULL if RE2 cannot search for it or there are too many. */
const struct regex *json_schema_rules_pattern(struct json_schema_rules *r,
                                              struct json_val pattern);

#endif

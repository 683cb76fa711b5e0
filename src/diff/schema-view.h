/* diff/schema-view.h - a subschema as a comparison sees it: the same for different spellings.
 *
 * A view has parts, the objects that apply to the same value: the subschema itself, the target
 * of its local $ref, the only element of an allOf, and the only branch of anyOf or oneOf beside
 * a null. So these are the same: {"type":["string","null"]}, {"type":"string","nullable":true}
 * and {"anyOf":[{"type":"string"},{"type":"null"}]}; {"const":1} and {"enum":[1]}; a union of
 * plain types in anyOf and in `type`; a $ref and its target.
 *
 * Limits: at most SCHEMA_VIEW_PARTS parts; with more, or with a $ref to something else than the
 * schema itself, the view is not `complete` and the rest of it is not seen. */
#ifndef DIFF_SCHEMA_VIEW_H
#define DIFF_SCHEMA_VIEW_H

#include "json/schema-rules.h"
#include "json/schema-types.h"

enum { SCHEMA_VIEW_PARTS = 16 };

enum { SCHEMA_VIEW_ANY_TYPE = JSON_SCHEMA_NULL - 1 }; /* all types but null */

struct schema_view {
    struct json_val parts[SCHEMA_VIEW_PARTS];
    size_t part_count;
    struct json_schema_rules *rules; /* of the document; borrowed */
    bool complete;
    bool never;              /* the schema `false`: nothing is valid */
    bool typed;              /* the types are restricted */
    unsigned types;          /* without null; "number" includes "integer" */
    bool nullable;           /* null is valid */
    bool has_values;         /* enum or const */
    struct json_val *values; /* without null; in the arena */
    size_t value_count;
    /* The rest of anyOf or oneOf: several branches, not all of them plain. */
    struct json_val *branches; /* without a null branch; in the arena */
    size_t branch_count;
    enum json_keyword branch_keyword;
    struct json_val conjuncts; /* allOf with several elements; absent: none */
};

/* Makes the view of a subschema; an absent one accepts everything. */
void schema_view_init(struct schema_view *v, struct json_schema_rules *rules,
                      struct json_val schema, struct arena *a);

/* Returns whether it is nothing but a $ref whose target is not known: it may accept anything.
 */
bool schema_view_is_unresolved(const struct schema_view *v);

/* Returns the value of a keyword in the first part that has it; absent: none has it. */
struct json_val schema_view_get(const struct schema_view *v, enum json_keyword keyword);

/* The same for an annotation or an unknown keyword. */
struct json_val schema_view_member(const struct schema_view *v, struct str name);

#endif

/* diff/schema-view.h - a subschema as a comparison sees it: the same for different spellings.
 *
 * A view has parts, the objects that apply to the same value: the subschema itself, the target
 * of its local $ref, the elements of an allOf, and the only branch of anyOf or oneOf beside a
 * null. So these are the same: {"type":["string","null"]}, {"type":"string","nullable":true}
 * and {"anyOf":[{"type":"string"},{"type":"null"}]}; {"const":1} and {"enum":[1]}; a union of
 * plain types in anyOf and in `type`; a union in a branch of a union and its branches; a $ref
 * and its target; keywords in an allOf and beside it. For oneOf this holds only if its branches
 * exclude each other: they have no type in common, other values in const and enum, or, for
 * objects, a required property with other values.
 *
 * A part has no keyword that another part has, too, with another value, or whose meaning
 * depends on a keyword of another part; a subschema for which this is not so is a conjunct.
 *
 * Limits: at most SCHEMA_VIEW_PARTS parts, more become conjuncts; 64 unions in a union, and
 * SCHEMA_VIEW_BRANCHES of their branches; more than 128 branches of oneOf exclude each other
 * only by types, or as constants; the search for types ends after SCHEMA_VIEW_STEPS
 * subschemas and then counts as all types. With a $ref to something else than the schema itself
 * the view is not `complete`.
 *
 * All views of a comparison add their steps to one counter, `work`: subschemas, values and
 * pairs of names that were looked at. Beyond SCHEMA_VIEW_WORK a search ends early, and views
 * mean nothing. */
#ifndef DIFF_SCHEMA_VIEW_H
#define DIFF_SCHEMA_VIEW_H

#include "json/schema-rules.h"
#include "json/schema-types.h"

enum { SCHEMA_VIEW_PARTS = 16, SCHEMA_VIEW_BRANCHES = 4096, SCHEMA_VIEW_STEPS = 4096 };
enum { SCHEMA_VIEW_WORK = 1 << 24 };

enum { SCHEMA_VIEW_ANY_TYPE = JSON_SCHEMA_NULL - 1 }; /* all types but null */

struct schema_view {
    struct json_val parts[SCHEMA_VIEW_PARTS];
    size_t part_count;
    struct json_schema_rules *rules; /* of the document; borrowed */
    bool complete;
    bool never;              /* the schema `false`: nothing is valid */
    bool typed;              /* the types are restricted */
    unsigned types;          /* without null; "number" includes "integer" */
    unsigned part_types;     /* the same without what branches and conjuncts say */
    bool nullable;           /* null is valid */
    bool has_values;         /* enum or const */
    struct json_val *values; /* of the types, without null; in the arena */
    size_t value_count;
    /* The rest of anyOf or oneOf: several branches, not all of them plain. */
    struct json_val *branches; /* without a null branch; in the arena */
    size_t branch_count, branch_cap;
    enum json_keyword branch_keyword;
    unsigned overlap; /* types of values that two branches of oneOf may accept; no null */
    struct json_val *conjuncts; /* subschemas that apply as well; in the arena */
    size_t conjunct_count, conjunct_cap;
    uint64_t *work; /* of all views; borrowed */
};

enum schema_view_conjuncts {
    SCHEMA_VIEW_JOINED, /* elements of allOf are parts where possible */
    SCHEMA_VIEW_APART,  /* all of them are conjuncts */
};

/* Makes the view of a subschema; an absent one accepts everything. */
void schema_view_init(struct schema_view *v, struct json_schema_rules *rules,
                      struct json_val schema, enum schema_view_conjuncts conjuncts,
                      struct arena *a, uint64_t *work);

/* Returns whether the views have done all the work that they may do. */
bool schema_view_is_used_up(uint64_t work);

/* Returns whether it is nothing but a $ref whose target is not known: it may accept anything.
 */
bool schema_view_is_unresolved(const struct schema_view *v);

/* Returns whether it is nothing but a union: each branch says all about its values. */
bool schema_view_is_union(const struct schema_view *v);

/* Returns whether it says only which types are valid. */
bool schema_view_is_plain(const struct schema_view *v);

/* Returns the types of the branches that say nothing else. */
unsigned schema_view_plain_types(const struct schema_view *v);

/* Returns the value of a keyword in the first part that has it; absent: none has it. */
struct json_val schema_view_get(const struct schema_view *v, enum json_keyword keyword);

/* The same for an annotation or an unknown keyword. */
struct json_val schema_view_member(const struct schema_view *v, struct str name);

/* Returns the types that a subschema may accept, null included: all that its keywords do not
 * exclude. Adds its steps to `*work`. */
unsigned schema_view_types(struct json_schema_rules *rules, struct json_val schema,
                           uint64_t *work);

/* Follows $ref, and allOf, anyOf and oneOf with one element, that have no keyword beside them.
 */
struct json_val schema_view_core(struct json_schema_rules *rules, struct json_val schema);

#endif

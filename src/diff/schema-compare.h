/* diff/schema-compare.h - compares two JSON Schemas of a tool and reports each change.
 *
 * Knows the direction: the schema of an input is a demand on clients, that of an output a
 * promise to them. Which changes are breaking is decided by diff/contract-rules.h, not here.
 * Both schemas are seen through diff/schema-view.h, so another spelling is no change.
 *
 * Paths lead through the names of keywords and properties, as if each $ref were replaced by its
 * target. A definition that is used at several places is compared once, at the first of them.
 *
 * Bounded: beyond SCHEMA_COMPARE_WORK steps, SCHEMA_VIEW_WORK steps of views (16 of which are
 * one step) or SCHEMA_COMPARE_DEPTH levels the rest is not compared, and SCHEMA_TOO_COMPLEX is
 * reported. Otherwise linear, except for sorting and for
 * the search for renamed properties and changed branches, which are limited as well. */
#ifndef DIFF_SCHEMA_COMPARE_H
#define DIFF_SCHEMA_COMPARE_H

#include "json/path.h"

enum { SCHEMA_COMPARE_WORK = 1 << 20, SCHEMA_COMPARE_DEPTH = 256 };

/* "Added" and "removed" are seen from `before` to `after`. */
enum schema_change_kind {
    SCHEMA_PROPERTY_ADDED,
    SCHEMA_PROPERTY_ADDED_CLOSED, /* of an output: it had no further properties before */
    SCHEMA_PROPERTY_REQUIRED_ADDED,
    SCHEMA_PROPERTY_REMOVED,
    SCHEMA_PROPERTY_REMOVED_CLOSED,   /* of an input: it takes no further properties now */
    SCHEMA_PROPERTY_REQUIRED_REMOVED, /* of an output: it was promised */
    SCHEMA_PROPERTY_RENAMED,
    SCHEMA_REQUIRED_ADDED, /* a property that was optional */
    SCHEMA_REQUIRED_REMOVED,
    SCHEMA_TYPE_WIDENED,
    SCHEMA_TYPE_NARROWED,
    SCHEMA_TYPE_CHANGED,
    SCHEMA_ENUM_VALUES_ADDED,
    SCHEMA_ENUM_VALUES_REMOVED,
    SCHEMA_ENUM_SET, /* any value was valid before */
    SCHEMA_ENUM_UNSET,
    SCHEMA_NULLABLE_ADDED,
    SCHEMA_NULLABLE_REMOVED,
    SCHEMA_BOUND_LOOSENED, /* or removed */
    SCHEMA_BOUND_TIGHTENED,
    SCHEMA_BOUND_CHANGED, /* neither: multipleOf */
    SCHEMA_PATTERN_ADDED,
    SCHEMA_PATTERN_REMOVED,
    SCHEMA_PATTERN_CHANGED,
    SCHEMA_FORMAT_ADDED,
    SCHEMA_FORMAT_REMOVED,
    SCHEMA_FORMAT_CHANGED,
    SCHEMA_ADDITIONAL_OPENED,
    SCHEMA_ADDITIONAL_CLOSED,
    SCHEMA_BRANCH_ADDED, /* of anyOf or oneOf */
    SCHEMA_BRANCH_REMOVED,
    SCHEMA_CONJUNCT_ADDED, /* of allOf; or an anyOf where there was no restriction */
    SCHEMA_CONJUNCT_REMOVED,
    SCHEMA_NOT_JUDGED, /* a keyword changed that is not evaluated: if, not, $ref elsewhere */
    SCHEMA_TOO_COMPLEX,
    SCHEMA_DEFAULT_CHANGED,
    SCHEMA_DESCRIPTION_CHANGED,
    SCHEMA_TITLE_CHANGED,
    SCHEMA_EXAMPLES_CHANGED,
    SCHEMA_HEADER_ADDED, /* x-mcp-header, of an input */
    SCHEMA_HEADER_REMOVED,
    SCHEMA_HEADER_CHANGED,
    SCHEMA_EXTENSION_CHANGED, /* an unknown keyword */
    SCHEMA_CHANGE_KINDS,
};

/* Valid during the call. */
struct schema_change {
    enum schema_change_kind kind;
    struct json_location path; /* in the schema */
    struct str instance;       /* pattern (json/path.h) of the values that it is about */
    struct str before, after;  /* JSON; empty: none */
};

enum schema_direction { SCHEMA_INPUT, SCHEMA_OUTPUT };

struct schema_compare_events {
    void (*changed)(void *to, const struct schema_change *change);
};

/* Compares two schemas that exist. */
void schema_compare(struct json_val before, struct json_val after,
                    enum schema_direction direction, const struct schema_compare_events *events,
                    void *to);

#endif

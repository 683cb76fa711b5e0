/* json/diff.h - where two JSON values differ in meaning.
 *
 * Members are compared by name whatever their order, elements by index. The rules
 * are those of json_equal(): no difference is reported exactly when it says equal.
 *
 * Each difference is told once and as deep down as it goes: of two objects that
 * differ in one member only this member. Order of the left text, then what is new
 * on the right. Linear but for sorting; reports nothing after it is told to stop. */
#ifndef JSON_DIFF_H
#define JSON_DIFF_H

#include "json/canon.h"
#include "json/path.h"

enum json_diff_kind {
    JSON_DIFF_CHANGED, /* both of one type, true and false being one */
    JSON_DIFF_RETYPED,
    JSON_DIFF_ADDED,   /* only on the right; `left` is absent */
    JSON_DIFF_REMOVED, /* only on the left; `right` is absent */
};

struct json_difference {
    enum json_diff_kind kind;
    struct json_place place; /* valid during the call */
    struct json_val left, right;
};

/* Calls `found` for each difference; false from it ends the comparison, and then
 * false is returned. NULL rules: as for json_equal(). */
bool json_diff(struct json_val left, struct json_val right, const struct json_rules *rules,
               bool (*found)(void *arg, const struct json_difference *d), void *arg);

#endif

/* json/diff.h - reports where two JSON values differ in meaning.
 *
 * Members are compared by name in any order, elements by index. The rules are those of
 * json_equal(): it returns true exactly if no difference is reported.
 *
 * Each difference is reported once, as deep as possible: for two objects that differ in one
 * member, only this member. Order: that of the left text, then members that only the right one
 * has. Linear except for sorting. */
#ifndef JSON_DIFF_H
#define JSON_DIFF_H

#include "json/equal.h"
#include "json/path.h"

enum json_diff_kind {
    JSON_DIFF_CHANGED, /* same type; true and false count as one type */
    JSON_DIFF_TYPE_CHANGED,
    JSON_DIFF_ADDED,   /* only on the right; `left` is absent */
    JSON_DIFF_REMOVED, /* only on the left; `right` is absent */
};

struct json_difference {
    enum json_diff_kind kind;
    struct json_location location; /* valid during the call */
    struct json_val left, right;
};

/* Calls `found` for each difference until it returns false; then returns false. `rules` may be
 * NULL, as for json_equal(). */
bool json_diff(struct json_val left, struct json_val right, const struct json_rules *rules,
               bool (*found)(void *arg, const struct json_difference *d), void *arg);

#endif

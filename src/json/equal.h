/* json/equal.h - compares and hashes JSON values by meaning, not by spelling.
 *
 * The order of members and escapes do not matter; of duplicate keys the last counts. Values
 * that are json_equal() under some rules have the same json_hash() under them. */
#ifndef JSON_EQUAL_H
#define JSON_EQUAL_H

#include "json/json.h"

struct json_rules {
    bool numbers_by_value;  /* 2, 2.0 and 20e-1 are one; else number text must agree */
    const struct str *skip; /* members of the outermost object that do not count */
    size_t skip_count;
};

/* NULL rules: numbers by text, nothing skipped. */
uint64_t json_hash(struct json_val v, const struct json_rules *rules);
bool json_equal(struct json_val a, struct json_val b, const struct json_rules *rules);

#endif

/* diff/schema-bounds.h - compares the limits of two subschemas: minimum and maximum, lengths,
 * counts, multipleOf, uniqueItems. Another spelling of a limit is no change: above 0 and from 1
 * on, for integers; minLength 0 and none. */
#ifndef DIFF_SCHEMA_BOUNDS_H
#define DIFF_SCHEMA_BOUNDS_H

#include "diff/schema-compare.h"
#include "diff/schema-view.h"

struct schema_bounds_events {
    /* `old` and `new` are absent where there is no limit. */
    void (*changed)(void *to, enum schema_change_kind kind, struct str keyword,
                    struct json_val old, struct json_val new);
};

void schema_bounds_compare(const struct schema_view *before, const struct schema_view *after,
                           const struct schema_bounds_events *events, void *to);

#endif

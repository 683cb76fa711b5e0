/* diff/schema-properties.h - lists the properties of a view: names in `properties` and
 * `required`. */
#ifndef DIFF_SCHEMA_PROPERTIES_H
#define DIFF_SCHEMA_PROPERTIES_H

#include "diff/schema-view.h"

struct schema_property {
    struct str name;
    struct json_val schema; /* absent: only required */
    size_t position;
    bool required;
    bool renamed; /* set and read by the caller only */
};

struct schema_properties {
    struct schema_property *at; /* sorted by name, each once; in the arena */
    size_t count;
};

/* Lists the properties of a view. The first of several with a name that has a schema counts; it
 * is required if any of them is. Adds the number of names that it read to `*work`. */
struct schema_properties schema_properties_list(const struct schema_view *v, struct arena *a,
                                                uint64_t *work);

#endif

/* json/scan.h - layout of the scanner's nodes, for the modules of this folder.
 *
 * Other folders use json.h, which also declares json_scan() and json_scan_first(). */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include "json/json.h"

/* json_node.info: three bits of type, one flag, then the number of elements or
 * members. JSON_MAX_VALUES keeps that number far from the top. */
enum {
    JSON_INFO_ESCAPES = 8, /* a string or key with a backslash in it */
    JSON_INFO_COUNT_SHIFT = 4,
};

static inline const struct json_node *json_node_of(struct json_val v)
{
    return &v.doc->nodes[v.node];
}

#endif

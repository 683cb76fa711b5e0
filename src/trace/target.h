/* trace/target.h - what of the target of a request is a secret, by its looks or its name.
 *
 * Whoever hands out addresses puts keys into them: `/s/9f86d081884c7d65/mcp`, `?api_key=K`,
 * `?sessionId=I`. Of a path those parts count that look made up, of a query those values, too,
 * and all whose name says so. What has a mark in it was looked at before. */
#ifndef TRACE_TARGET_H
#define TRACE_TARGET_H

#include "base/unravel.h"

struct target_part {
    struct unravel_span span; /* never empty */
    struct str name;          /* of the value of a query; else empty */
    bool named;               /* it is a secret by that */
};

/* The first from `from` on; false if there is none. */
bool target_path(struct str path, size_t from, struct target_part *out);
bool target_query(struct str query, size_t from, struct target_part *out);

#endif

/* wire/sse.h - the items of a stream of server-sent events. */
#ifndef WIRE_SSE_H
#define WIRE_SSE_H

#include <stdint.h>

#include "base/str.h"

/* A block of fields, or a comment. The `at` of a text is NULL if it is absent, and not if it is
 * empty. */
struct sse_item {
    struct str event, data, id;
    int64_t retry;      /* milliseconds; -1: absent */
    struct str comment; /* the text after the colon, blanks included */
    uint64_t bytes;     /* set by the reader: size of its lines, each line end counted as 1 */
    bool too_long;      /* set by the reader: the texts were dropped */
};

#define SSE_ITEM_NONE ((struct sse_item){ .retry = -1 })

#endif

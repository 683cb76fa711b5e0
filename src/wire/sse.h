/* wire/sse.h - what a stream of server-sent events consists of. */
#ifndef WIRE_SSE_H
#define WIRE_SSE_H

#include <stdint.h>

#include "base/str.h"

/* A block of fields, or a comment. A text that is not there has `at` NULL, one that is
 * there and empty has not. */
struct sse_item {
    struct str event, data, id;
    int64_t retry;      /* milliseconds; -1: not there */
    struct str comment; /* what follows the colon, blanks too */
    uint64_t bytes;     /* read: its lines, each line end counted as one */
    bool too_long;      /* read: none of the above was kept */
};

#define SSE_ITEM_NONE ((struct sse_item){ .retry = -1 })

#endif

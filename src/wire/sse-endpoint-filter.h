/* wire/sse-endpoint-filter.h - finds the `endpoint` events of an SSE stream and lets the caller
 * replace their data while the stream is forwarded.
 *
 * Forwards all other bytes unchanged, as soon as they cannot belong to such an event: bytes
 * between events at once, an event when its type is another one or its data is a JSON message,
 * else when it ends. The output does not depend on how the input is split.
 *
 * At most SSE_ENDPOINT_HELD_MAX bytes of an event are held back. If an event turns out to be
 * `endpoint` after part of it was forwarded (it is longer, changed its type or contains a
 * message), it cannot be replaced: SSE_ENDPOINT_TOO_LATE, and its last line is not forwarded,
 * so the client never sees the event. */
#ifndef WIRE_SSE_ENDPOINT_FILTER_H
#define WIRE_SSE_ENDPOINT_FILTER_H

#include "base/buf.h"

enum {
    SSE_ENDPOINT_HELD_MAX = 64 << 10,
    SSE_ENDPOINT_FEED_MAX = 16 << 20, /* bytes of one call */
};

enum sse_endpoint_filter_next {
    SSE_ENDPOINT_MORE,     /* needs more input */
    SSE_ENDPOINT_FOUND,    /* get the data, call sse_endpoint_filter_replace(), then
                              sse_endpoint_filter_next() again */
    SSE_ENDPOINT_TOO_LATE, /* an event can no longer be replaced: abort the stream */
};

struct sse_endpoint_filter {
    struct buf held;
    size_t forwarded; /* bytes of `held` that were forwarded; a held block begins there */
    size_t line_at;   /* start of the current line in `held` */
    size_t data_at, data_end; /* of the data in a held block, relative to `forwarded` */
    bool has_data;            /* the current block has data */
    bool is_endpoint;         /* its type is `endpoint` */
    bool block_begun;         /* it has a line other than a comment before it */
    bool forwarding;          /* its bytes are not held back any more */
    bool in_line;             /* the start of the current line was examined and forwarded */
    bool after_cr;            /* the last line ended in CR: skip an LF */
    bool after_bom;           /* the start of the stream was checked for a byte order mark */
};

void sse_endpoint_filter_init(struct sse_endpoint_filter *f);
void sse_endpoint_filter_release(struct sse_endpoint_filter *f);

/* Only after sse_endpoint_filter_next() has returned SSE_ENDPOINT_MORE, or at the start. */
void sse_endpoint_filter_feed(struct sse_endpoint_filter *f, struct str bytes);

/* Adds the bytes to forward to `out`. */
enum sse_endpoint_filter_next sse_endpoint_filter_next(struct sse_endpoint_filter *f,
                                                       struct buf *out);

/* Returns the raw data of the event found; if it has several lines, with the bytes between. */
struct str sse_endpoint_filter_data(const struct sse_endpoint_filter *f);

/* Adds the event with the given data to `out`. */
void sse_endpoint_filter_replace(struct sse_endpoint_filter *f, struct str data,
                                 struct buf *out);

/* Ends the stream: adds the bytes held back. */
void sse_endpoint_filter_end(struct sse_endpoint_filter *f, struct buf *out);

#endif

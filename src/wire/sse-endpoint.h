/* wire/sse-endpoint.h - the event 'endpoint' that a stream of HTTP+SSE begins with, to be
 * changed on its way.
 *
 * Takes the bytes of a stream and lets them go on, each as it is, once it is sure that they
 * are not of that event: comments and other lines before the first event at once, the first
 * event when it is known not to be it. Only the value of its data is ever another.
 * However the input is cut, the same bytes come out.
 *
 * A first event of more than SSE_ENDPOINT_MAX bytes is none. Later events are not looked at. */
#ifndef WIRE_SSE_ENDPOINT_H
#define WIRE_SSE_ENDPOINT_H

#include "base/buf.h"

enum {
    SSE_ENDPOINT_MAX = 64 << 10,
    SSE_ENDPOINT_FED_MAX = 16 << 20, /* at once */
};

enum sse_endpoint_next {
    SSE_ENDPOINT_MORE,  /* it is not known yet */
    SSE_ENDPOINT_NONE,  /* there is none; what was held back has gone on: feed no more */
    SSE_ENDPOINT_FOUND, /* see sse_endpoint_said(); then sse_endpoint_replace() */
};

struct sse_endpoint {
    struct buf held;
    size_t line;       /* where the line begins that is being looked at */
    size_t data, end;  /* the value of the data, from its first line to its last; if has_data */
    bool has_data;     /* of the block at hand; as are */
    bool has_type, is; /* it has a type, and that is 'endpoint' */
    bool begun;        /* it has a line, of whichever kind */
    bool after_cr;     /* an LF now belongs to the line before */
    bool after_bom;    /* no byte order mark will come */
};

void sse_endpoint_init(struct sse_endpoint *f);
void sse_endpoint_release(struct sse_endpoint *f);

/* Adds to `out` what goes on. */
enum sse_endpoint_next sse_endpoint_feed(struct sse_endpoint *f, struct str bytes,
                                         struct buf *out);

/* What it says, as it stands there; of several lines with what stands between them. */
struct str sse_endpoint_said(const struct sse_endpoint *f);

/* Adds the event with other data, and all that followed it. Feed no more. */
void sse_endpoint_replace(struct sse_endpoint *f, struct str data, struct buf *out);

/* The stream ends: adds what was held back. */
void sse_endpoint_end(struct sse_endpoint *f, struct buf *out);

#endif

/* wire/sse-endpoint.h - the events 'endpoint' of a stream that may be HTTP+SSE, to be changed
 * on their way.
 *
 * Takes the bytes of a stream and lets them go on, each as it is, once it is sure that they
 * are not of such an event: what stands between events at once, an event as soon as its type
 * is another or its data can be no address, else with its end. Only the value of the data is
 * ever another. However the input is cut, the same bytes come out.
 *
 * Of an event no more than SSE_ENDPOINT_MAX bytes are held back. One that is 'endpoint' after
 * all when it has gone on, since it is longer, was of another type before or holds a message,
 * is too late to be changed; but its reader never gets the line that would end it. */
#ifndef WIRE_SSE_ENDPOINT_H
#define WIRE_SSE_ENDPOINT_H

#include "base/buf.h"

enum {
    SSE_ENDPOINT_MAX = 64 << 10,
    SSE_ENDPOINT_FED_MAX = 16 << 20, /* at once */
};

enum sse_endpoint_next {
    SSE_ENDPOINT_MORE,  /* all that was fed has gone on, or waits for more */
    SSE_ENDPOINT_FOUND, /* see sse_endpoint_said(); then sse_endpoint_replace(), and go on */
    SSE_ENDPOINT_LATE,  /* there is one that cannot be changed any more: go on no more */
};

struct sse_endpoint {
    struct buf held;
    size_t gone;      /* of that, what has gone on; then comes the block at hand, if it waits */
    size_t line;      /* where the line begins that is being looked at */
    size_t data, end; /* in a block that waits: its data, from the first line to the last */
    bool has_data;    /* of the block at hand; as are */
    bool is;          /* its type is 'endpoint' */
    bool begun;       /* it has a line, of whichever kind */
    bool flows;       /* its bytes do not wait */
    bool in_line;     /* what the line at hand began with was seen, and has gone on */
    bool after_cr;    /* an LF now belongs to the line before */
    bool after_bom;   /* no byte order mark will come */
};

void sse_endpoint_init(struct sse_endpoint *f);
void sse_endpoint_release(struct sse_endpoint *f);

/* Not before sse_endpoint_next() has said that it wants more. */
void sse_endpoint_feed(struct sse_endpoint *f, struct str bytes);

/* Adds to `out` what goes on. */
enum sse_endpoint_next sse_endpoint_next(struct sse_endpoint *f, struct buf *out);

/* What it says, as it stands there; of several lines with what stands between them. */
struct str sse_endpoint_said(const struct sse_endpoint *f);

/* Adds the event with other data. */
void sse_endpoint_replace(struct sse_endpoint *f, struct str data, struct buf *out);

/* The stream ends: adds what was held back. */
void sse_endpoint_end(struct sse_endpoint *f, struct buf *out);

#endif

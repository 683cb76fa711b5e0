/* wire/lines.h - cut a byte stream into newline-ended messages (MCP stdio).
 *
 * Pure: knows no descriptor, no JSON, no clock. However the input is chunked, the
 * same lines come out in the same order. A line that would need more than `max`
 * bytes to be kept is not kept: its length is told instead.
 *
 * Ownership: fed bytes are borrowed until lines_next() says LINES_MORE. A line
 * points into them or into the framer and is valid until the next call. */
#ifndef WIRE_LINES_H
#define WIRE_LINES_H

#include <stdint.h>

#include "base/buf.h"

struct lines {
    struct buf pending; /* the unfinished line, from earlier chunks */
    struct str input;   /* what is left of the chunk; borrowed */
    uint64_t skipped;   /* bytes of the line that is too long; 0: none is */
    bool handed_out;    /* pending was given to the caller as a line */
};

enum lines_next {
    LINES_MORE,    /* feed me */
    LINES_LINE,    /* a whole line, without its newline */
    LINES_TOO_LONG /* a line ended that was not kept; its length was `skipped` */
};

void lines_init(struct lines *l, size_t max);
void lines_release(struct lines *l);

void lines_feed(struct lines *l, struct str bytes);
enum lines_next lines_next(struct lines *l, struct str *line, uint64_t *skipped);

/* The stream is over: the line without a newline, if there is one. LINES_MORE
 * means there is none. */
enum lines_next lines_end(struct lines *l, struct str *line, uint64_t *skipped);

#endif

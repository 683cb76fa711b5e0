/* wire/lines.h - splits a byte stream into lines (the messages of MCP over stdio).
 *
 * Does no I/O and knows no JSON. The lines do not depend on how the input is split. A line of
 * more than `max` bytes is dropped and only its length is reported.
 *
 * Fed bytes are borrowed until lines_next() returns LINES_MORE. A line points into them or into
 * this struct and is valid until the next call. */
#ifndef WIRE_LINES_H
#define WIRE_LINES_H

#include <stdint.h>

#include "base/buf.h"

struct lines {
    struct buf pending; /* the unfinished line of earlier calls */
    struct str input;   /* the fed bytes not consumed yet; borrowed */
    uint64_t skipped;   /* bytes of the current line if it is too long; else 0 */
    bool handed_out; /* set when `pending` was returned as a line; cleared by the next call */
};

enum lines_next {
    LINES_MORE,    /* needs more input */
    LINES_LINE,    /* a complete line, without its newline */
    LINES_TOO_LONG /* a dropped line ended; `*skipped` is its length */
};

void lines_init(struct lines *l, size_t max);
void lines_release(struct lines *l);

void lines_feed(struct lines *l, struct str bytes);
enum lines_next lines_next(struct lines *l, struct str *line, uint64_t *skipped);

/* Ends the stream. Returns the last line if it has no newline; LINES_MORE if there is none. */
enum lines_next lines_end(struct lines *l, struct str *line, uint64_t *skipped);

#endif

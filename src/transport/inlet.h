/* transport/inlet.h - what a peer sends, told line by line.
 *
 * A last line without its newline is still what the peer said. Knows neither the peer
 * nor where the bytes come from. */
#ifndef TRANSPORT_INLET_H
#define TRANSPORT_INLET_H

#include "wire/lines.h"

struct inlet_events {
    void (*line)(void *to, struct str line);    /* without newline; borrowed */
    void (*too_long)(void *to, uint64_t bytes); /* a line that was not kept */
};

struct inlet {
    struct lines lines;
    const struct inlet_events *events;
    void *to;
};

/* `events` is borrowed for the inlet's life. */
void inlet_init(struct inlet *in, size_t max_line, const struct inlet_events *events, void *to);
void inlet_release(struct inlet *in);

void inlet_feed(struct inlet *in, struct str bytes);
void inlet_end(struct inlet *in); /* nothing more will come; harmless if said twice */

#endif

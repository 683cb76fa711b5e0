/* cmd/inspect-cassette.h - a cassette as mcp-recorder's own `inspect` prints it.
 *
 * To the letter, with three exceptions: after the arrow of a lifecycle line stands a
 * blank, as after all others; a date the cassette does not have is "unknown", not the
 * present moment; and texts from the file are escaped for the terminal. */
#ifndef CMD_INSPECT_CASSETTE_H
#define CMD_INSPECT_CASSETTE_H

#include "format/cassette-gather.h"

struct inspect_cassette {
    struct sink sink; /* takes the records of the file */
    struct cassette_gather *gather;
    struct inspect_cassette_lines {
        struct cassette_sink sink;
        struct buf text; /* a line for each interaction */
        uint64_t count[CASSETTE_LIFECYCLE + 1];
    } lines;
};

void inspect_cassette_init(struct inspect_cassette *c);
void inspect_cassette_release(struct inspect_cassette *c);

/* After the last record. */
void inspect_cassette_add(struct buf *to, struct inspect_cassette *c, const char *path);

#endif

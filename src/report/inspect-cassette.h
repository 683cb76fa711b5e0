/* report/inspect-cassette.h - prints a cassette like mcp-recorder's `inspect`.
 *
 * The output is identical, with three exceptions: a lifecycle line has a blank after its arrow,
 * like all others; a missing date is "unknown" instead of the current time; text of the file is
 * escaped for the terminal. */
#ifndef REPORT_INSPECT_CASSETTE_H
#define REPORT_INSPECT_CASSETTE_H

#include "format/cassette-pair.h"

struct inspect_cassette {
    struct sink sink; /* put the records of the file here */
    struct cassette_pair *pairs;
    struct inspect_cassette_lines {
        struct cassette_sink sink;
        struct buf text; /* one line per interaction */
        uint64_t count[CASSETTE_LIFECYCLE + 1];
    } lines;
};

void inspect_cassette_init(struct inspect_cassette *c);
void inspect_cassette_release(struct inspect_cassette *c);

/* Appends the report. Call it once, after the last record. */
void inspect_cassette_write(struct buf *to, struct inspect_cassette *c, const char *path);

#endif

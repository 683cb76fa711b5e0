/* trace/part.h - the parts of a recording that not every format can keep.
 *
 * A format says which parts it keeps, a record says which it has: what a conversion
 * loses is the difference, counted record by record and told to the user. */
#ifndef TRACE_PART_H
#define TRACE_PART_H

#include "base/buf.h"
#include "trace/record.h"

enum part {
    PART_BYTES = 1u << 0,     /* messages to the byte, not only in meaning */
    PART_TIME = 1u << 1,      /* when each message passed */
    PART_LATENCY = 1u << 2,   /* how long each answer took */
    PART_SERVER = 1u << 3,    /* notifications and requests of the server's, and the answers */
    PART_PENDING = 1u << 4,   /* requests never answered, answers to what is not there */
    PART_BATCH = 1u << 5,     /* which messages came in one array */
    PART_RAW = 1u << 6,       /* bytes that are no message, nor JSON otherwise */
    PART_STDERR = 1u << 7,    /* what the server wrote to standard error */
    PART_PROCESS = 1u << 8,   /* when the server started and ended, and how */
    PART_HTTP = 1u << 9,      /* status, headers, streams, sessions around messages; our own */
    PART_GAP = 1u << 10,      /* that something was not recorded */
    PART_NAME = 1u << 11,     /* name of the recording */
    PART_TAGS = 1u << 12,     /* its tags */
    PART_COMMAND = 1u << 13,  /* how the server was started, word by word */
    PART_REDACTED = 1u << 14, /* which values are placeholders */
    PART_SIDE = 1u << 15,     /* which side sent a message */
    PART_END = 1u << 16,      /* how and when the recording ended */
    PART_ORDER = 1u << 17,    /* in which order messages passed, also of calls that overlap */
    PART_CLOCK = 1u << 18,    /* times to the microsecond */
    PART_CONN = 1u << 19,     /* which of several connections a message belongs to */
    PART_VALUE = 1u << 20,    /* JSON that is no message, in the place of one */
    PART_MEMBERS = 1u << 21,  /* members of lines that nobody knows, whatever the format */
};

enum { PART_COUNT = 22 };

/* The parts a record has that stand in it alone. PART_BYTES, PART_SIDE, PART_PENDING and
 * PART_ORDER are no record's own. */
unsigned part_of(const struct record *r);

/* Whether a line is JSON on its own, but no message. */
bool part_is_value(struct str line);

/* "stderr": for tables and for --json. */
const char *part_name(enum part p);

/* "lines of standard error": what it is, for people. */
const char *part_about(enum part p);

/* "12 lines of standard error", "the recording's name": so much of it, in a sentence. */
void part_add(struct buf *to, enum part p, uint64_t count);

#endif

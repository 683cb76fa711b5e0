/* trace/join.h - recordings made into one: a sink in front of a sink.
 *
 * The records of several lanes come in, mixed in any way; out comes one recording. The
 * first header stands for all, the others are left out. So are all footers: at the end
 * comes one with the totals of everything. Numbers by which messages are told apart
 * (conn, session, exchange, stream, batch) are kept distinct, `seq` rises, `us` counts
 * from the earliest start and does not step back.
 *
 * A header in the middle of a lane starts a recording of its own, as in files that were
 * put together with cat. A single recording that is whole comes out as it went in. The
 * parts of a recording that went on in other files are one: their numbers mean the same.
 *
 * Bounded: a message that was delivered again says so only if the first delivery is
 * among the latest JOIN_RECENT of its lane, once numbers had to be changed. */
#ifndef TRACE_JOIN_H
#define TRACE_JOIN_H

#include "trace/facts.h"
#include "trace/moment.h"

enum { JOIN_RECENT = 1 << 16 };

enum join_number {
    JOIN_CONN,
    JOIN_SESSION,
    JOIN_EXCHANGE,
    JOIN_STREAM,
    JOIN_BATCH,
    JOIN_NUMBERS
};

struct join_lane {
    struct moment time;
    unsigned parts;              /* enum part: what its format keeps */
    bool headed;                 /* there was a header */
    bool begun, footed;          /* since its latest one */
    bool series;                 /* it is one of several parts ... */
    int64_t series_us;           /* ... of the recording of that date */
    struct join_lane *numbers;   /* the lane whose numbers it shares; NULL: its own */
    uint64_t base[JOIN_NUMBERS]; /* what earlier recordings of the lane have used */
    uint64_t top[JOIN_NUMBERS];  /* the highest so far, base included */
    struct join_seq *recent;     /* JOIN_RECENT of them, by old number; NULL: none yet */
};

struct join {
    struct sink sink; /* put records here */
    struct sink *to;

    /* Set before the first record. */
    bool whole;       /* make up a header and a footer where there are none */
    bool dated;       /* the earliest start is known; else it is that of the first */
    int64_t start_us; /* since 1970 */

    /* Its own. */
    struct join_lane *lanes, *lane;
    size_t lane_count;
    uint64_t recordings, records;
    bool torn; /* a recording had no footer, and could have had one */
    bool renumbered, timed;
    bool parts; /* there were parts of one recording */
    uint64_t seq, messages[2], errors;
    int64_t last_us;      /* the greatest `us` */
    struct moment latest; /* of all lanes: the greatest moment */
    struct record footer; /* the latest of them, its texts in `kept` */
    bool footed;
    struct facts facts;
    struct pairing pairs;
    struct json json;
    struct arena scratch, kept;
};

void join_init(struct join *j, size_t lanes, struct sink *to);
void join_release(struct join *j);

/* The records that follow are of this lane, whose format keeps `parts`. Before that
 * they are of the first, of which everything is expected. */
void join_from(struct join *j, size_t lane, unsigned parts);

/* Messages so far. */
static inline uint64_t join_messages(const struct join *j)
{
    return j->messages[TO_SERVER] + j->messages[TO_CLIENT];
}

/* Nothing more will come: writes the footer, unless a recording broke off. */
bool join_finish(struct join *j, struct err *e) MUST_CHECK;

#endif

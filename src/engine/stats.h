/* engine/stats.h - what a recording holds, in numbers.
 *
 * A sink: pour all records in, in their order, then call stats_finish() and read. What
 * belongs to what is found by trace/grouping.h; here it is added up.
 * Sees every record once and keeps none, so that memory is bounded whatever comes:
 * of names the first so many get a row of their own and the others share one, of
 * texts STATS_TEXT bytes are kept.
 *
 * Every header starts a recording of its own: nothing that waits lives beyond it. */
#ifndef ENGINE_STATS_H
#define ENGINE_STATS_H

#include "engine/census.h"
#include "trace/array.h"
#include "trace/facts.h"
#include "trace/grouping.h"
#include "trace/part.h"
#include "trace/record.h"

enum {
    STATS_TOOLS = 1024,
    STATS_NOTIFICATIONS = 128,
    STATS_CODES = 64,
    STATS_SESSIONS = 64,
    STATS_TEXT = 256,
};

enum { STATS_LINES = RECORD_UNKNOWN + 1, STATS_KINDS = MCP_BATCH + 1 };

struct stats_notification {
    enum record_dir dir;
    struct str method; /* empty in the shared row */
    uint64_t count;
};

struct stats_tool {
    struct str name;            /* empty in the shared row */
    bool advertised;            /* a tools/list had it */
    uint64_t calls;             /* a retry is none */
    uint64_t spelling, meaning; /* hashes of the latest definition; 0: none yet */
};

struct stats_code {
    enum record_dir dir; /* TO_CLIENT: the server said it */
    bool whole;          /* it is a whole number: `code` */
    int64_t code;
    uint64_t count;
};

struct stats_peer {
    struct str name, version; /* empty: not said */
};

/* From one initialize to the next on the same connection. */
struct stats_session {
    uint64_t conn;
    uint64_t session; /* on HTTP; 0: it has no number, or not yet */
    int64_t first_us, last_us;
    uint64_t messages, requests, errors; /* requests: of the client */
    struct stats_peer client, server;
    struct str protocol;
};

struct stats_header {
    bool there, dated;
    int64_t recorded_us; /* wall clock, since 1970 */
    struct str version, name, upstream, transport;
    struct stats_peer producer;
    struct str command, tags; /* JSON arrays; empty: none, or too long to be kept */
};

/* What may be odd about a recording. */
enum stats_odd {
    STATS_NO_HEADER,
    STATS_EXTRA_HEADER,
    STATS_NO_FOOTER,
    STATS_AFTER_FOOTER,
    STATS_FOOTER_DIFFERS,
    STATS_DAMAGED_END,
    STATS_GAP,
    STATS_UNKNOWN_LINE,
    STATS_NOT_JSONRPC,
    STATS_SERVER_NOISE,
    STATS_CLIENT_NOISE,
    STATS_UNASKED_ANSWER,
    STATS_DUPLICATE_ANSWER,
    STATS_LATE_ANSWER,
    STATS_UNANSWERED,
    STATS_ORPHAN,
    STATS_EVICTED,
    STATS_ID_IN_USE,
    STATS_DUPLICATE_KEY,
    STATS_SEQ_ORDER,
    STATS_TIME_ORDER,
    STATS_SHORT_BATCH,
    STATS_UNLISTED_TOOL,
    STATS_TOOL_CHANGED,
    STATS_SERVER_EXIT,
    STATS_HTTP_FAULT,
    STATS_LONE_SURROGATE, /* only if `thorough` */
    STATS_TOO_DEEP,       /* the same */
    STATS_ODDS,
};

struct stats_finding {
    uint64_t count;
    uint64_t seq;       /* of the first message it was seen in; 0: none */
    struct str example; /* the first, in a few words, often the file's; may be empty; of
                         * STATS_UNANSWERED the first of which it is known why */
};

/* What is known since the latest header. */
struct stats_part {
    bool footed, exited, stderr_open;
    bool on_http; /* there may have been no process */
    uint64_t messages[2], errors, seq;
    uint64_t gap_messages; /* that gaps stand for */
    int64_t us, last_us;   /* since the start: of the latest line, and the greatest */
    bool dated;            /* start_wall_us is known */
    int64_t start_wall_us;
};

struct stats {
    struct sink sink; /* put records here */

    unsigned parts; /* enum part: what such a file can hold, so that its absence is odd */
    bool thorough;  /* look at every value of every message */

    struct stats_header header; /* the first */
    uint64_t lines[STATS_LINES];
    uint64_t messages[2][STATS_KINDS]; /* by direction and kind */
    uint64_t tool_errors, http_errors; /* those of JSON-RPC: `codes` */
    uint64_t redelivered;
    uint64_t stderr_lines, gap_messages, gap_bytes;
    bool timed;          /* something had a time */
    int64_t duration_us; /* of several recordings the sum */
    struct stats_finding odd[STATS_ODDS];
    struct stats_peer client, server; /* the latest */
    struct str protocol;

    struct census census; /* operations */
    struct roster notifications, tools, codes;
    bool listed;                                       /* there was an answer to tools/list */
    struct stats_session sessions[STATS_SESSIONS + 1]; /* the last one: all others */
    uint64_t session_count;

    /* Its own. */
    struct operation_sink events;
    struct grouping grouping;
    struct array_watch arrays;
    const struct mcp_message *message; /* the one at hand */
    struct str asked;                  /* the method it answers; empty: none */
    struct stats_part part;
    struct facts facts;
    struct arena texts, scratch;
    size_t first_session; /* of this part */
    bool begun;           /* there was a line */
};

void stats_init(struct stats *s); /* of a recording that may hold everything */
void stats_release(struct stats *s);

/* The file's last `bytes` could not be read. */
void stats_damaged_end(struct stats *s, uint64_t bytes);

/* Nothing more will come: fills in what only the end can tell. */
void stats_finish(struct stats *s);

#endif

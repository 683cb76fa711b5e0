/* ops/stats.h - statistics and findings of a recording.
 *
 * A sink: put all records in order, then call stats_finish() and read the members. Uses
 * ops/op-builder.h for attribution.
 * Keeps no record, so memory is bounded: the first names get a row each and all others share
 * one; STATS_TEXT bytes of each text are kept.
 *
 * Every header starts another recording and ends all open operations. */
#ifndef OPS_STATS_H
#define OPS_STATS_H

#include "ops/batch.h"
#include "ops/op-builder.h"
#include "ops/op-stats.h"
#include "trace/features.h"
#include "trace/record.h"
#include "trace/recording-info.h"

enum {
    STATS_TOOLS = 1024,
    STATS_NOTIFICATIONS = 128,
    STATS_CODES = 64,
    STATS_SESSIONS = 64,
    STATS_TEXT = 256,
};

enum { STATS_LINE_KINDS = RECORD_UNKNOWN + 1, STATS_MESSAGE_KINDS = MCP_BATCH + 1 };

struct stats_notification {
    enum record_dir dir;
    struct str method; /* empty in the shared row */
    uint64_t count;
};

struct stats_tool {
    struct str name;           /* empty in the shared row */
    bool advertised;           /* a tools/list result had it */
    uint64_t calls;            /* without retries */
    uint64_t definition_bytes; /* of the largest; in the shared row: of all, in each list */
    uint64_t text_hash, value_hash; /* of the latest definition; 0: none yet */
};

struct stats_code {
    enum record_dir dir; /* TO_CLIENT: sent by the server */
    bool is_integer;     /* `code` is valid */
    int64_t code;
    uint64_t count;
};

struct stats_peer {
    struct str name, version; /* empty: unknown */
};

/* From one initialize to the next on the same connection. */
struct stats_session {
    uint64_t conn;
    uint64_t session; /* over HTTP; 0: no number, or not yet */
    int64_t first_us, last_us;
    uint64_t messages, requests, errors; /* requests: of the client */
    struct stats_peer client, server;
    struct str protocol;
};

struct stats_header {
    bool present, has_date;
    int64_t recorded_us; /* wall clock, since 1970 */
    struct str version, name, upstream, transport;
    struct stats_peer producer;
    struct str command, tags; /* JSON arrays; empty: none, or too long to be kept */
};

/* Kinds of findings. */
enum stats_finding_kind {
    STATS_NO_HEADER,
    STATS_EXTRA_HEADER,
    STATS_NO_FOOTER,
    STATS_AFTER_FOOTER,
    STATS_FOOTER_DIFFERS,
    STATS_DAMAGED_END,
    STATS_GAP,
    STATS_UNKNOWN_LINE,
    STATS_NOT_JSONRPC,
    STATS_SERVER_NON_MESSAGE,
    STATS_CLIENT_NON_MESSAGE,
    STATS_UNMATCHED_RESPONSE,
    STATS_DUPLICATE_RESPONSE,
    STATS_LATE_RESPONSE,
    STATS_UNANSWERED,
    STATS_ORPHAN,
    STATS_EVICTED,
    STATS_ID_IN_USE,
    STATS_DUPLICATE_KEY,
    STATS_SEQ_ORDER,
    STATS_TIME_ORDER,
    STATS_INCOMPLETE_BATCH,
    STATS_UNLISTED_TOOL,
    STATS_TOOL_CHANGED,
    STATS_SERVER_EXIT,
    STATS_HTTP_FAILURE,
    STATS_LONE_SURROGATE, /* only if `thorough` */
    STATS_TOO_DEEP,       /* only if `thorough`, too */
    STATS_FINDING_COUNT,
};

struct stats_finding {
    uint64_t count;
    uint64_t seq, line; /* of the first message it was seen in; 0: none */
    struct str example; /* short text of the first, often from the file; may be empty; of
                         * STATS_UNANSWERED the first with a reason */
};

/* State since the latest header. */
struct stats_recording {
    bool seen_footer, server_exited, stderr_in_line;
    bool on_http; /* there may be no server process */
    uint64_t messages[2], errors, seq;
    uint64_t gap_messages; /* messages in gaps */
    int64_t us, last_us;   /* of the latest line; the greatest */
    bool start_known;      /* `start_wall_us` is valid */
    int64_t start_wall_us;
};

struct stats {
    struct sink sink; /* put records here */

    unsigned features; /* enum feature: kept by the format; absence of others is no finding */
    bool thorough;     /* check every value of every message */
    struct operation_sink *observer; /* borrowed: gets all events of operations; NULL: none */

    struct stats_header header; /* the first one */
    uint64_t lines[STATS_LINE_KINDS];
    uint64_t messages[2][STATS_MESSAGE_KINDS]; /* by direction and kind */
    uint64_t tool_errors, http_errors;         /* JSON-RPC errors are in `codes` */
    uint64_t redelivered;
    uint64_t stderr_lines, gap_messages, gap_bytes;
    bool has_times;      /* a record had a time */
    int64_t duration_us; /* sum of all recordings */
    struct stats_finding findings[STATS_FINDING_COUNT];
    struct stats_peer client, server; /* the latest */
    struct str protocol;

    struct op_stats op_stats; /* operations */
    struct capped_table notifications, tools, codes;
    bool tools_listed;                                 /* a tools/list result was seen */
    struct stats_session sessions[STATS_SESSIONS + 1]; /* the last row is shared */
    uint64_t session_count;

    /* Private. */
    struct operation_sink op_events;
    struct op_builder builder;
    struct batch_check batch_check;
    const struct mcp_message *message; /* the current one */
    struct str answered_method;        /* method that it answers; empty: none */
    struct stats_recording current;
    struct recording_info info;
    struct arena texts, scratch;
    size_t first_session; /* of the current recording */
    bool seen_line;       /* set by the first record */
};

void stats_init(struct stats *s); /* with all features */
void stats_release(struct stats *s);

/* Adds the finding that the last `bytes` of the file could not be read. */
void stats_damaged_end(struct stats *s, uint64_t bytes);

/* Returns the bytes of the definitions of all tools, each in its largest version. */
uint64_t stats_definition_bytes(const struct stats *s);

/* At the end: completes findings and totals. */
void stats_finish(struct stats *s);

#endif

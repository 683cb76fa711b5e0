/* trace/record.h - struct record: one recorded event, passed between all parts of the program.
 *
 * Transports and file readers produce records; writers, replay, statistics and reports consume
 * them. A value that a source does not know is absent, never invented: a number is present if
 * its bit is in `has`, a text if `at` is not NULL, a JSON value if json_exists().
 *
 * Ownership: a record and everything it points to is valid only during the call that passes
 * it. */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

enum record_kind {
    RECORD_HEADER,
    RECORD_MESSAGE, /* one JSON-RPC message; a batch is one record per element */
    RECORD_RAW,     /* bytes that are no JSON-RPC message, or not of a client */
    RECORD_STDERR,
    RECORD_PROC, /* a server process started or ended */
    RECORD_HTTP_REQUEST,
    RECORD_HTTP_RESPONSE,
    RECORD_HTTP_END,
    RECORD_SSE, /* an event or comment that carries no message */
    RECORD_GAP, /* messages were not recorded here */
    RECORD_FOOTER,
    RECORD_UNKNOWN, /* a line of an unknown type */
};

enum record_dir { TO_SERVER, TO_CLIENT };

enum record_has {
    HAS_US = 1u << 0,
    HAS_WALL = 1u << 1,
    HAS_CONN = 1u << 2,
    HAS_SESSION = 1u << 3,
    HAS_EXCHANGE = 1u << 4,
    HAS_STREAM = 1u << 5,
    HAS_SEQ = 1u << 6,
    HAS_LATENCY = 1u << 7,
    HAS_REDELIVERS = 1u << 8,
    HAS_FROM = 1u << 9,
    HAS_STATUS = 1u << 10,
    HAS_EXIT_CODE = 1u << 11,
    HAS_SIGNAL = 1u << 12,
    HAS_N = 1u << 13,
    HAS_RETRY = 1u << 14,
    HAS_TOTALS = 1u << 15,
    HAS_ERRORS = 1u << 16,
    HAS_PART = 1u << 17,
    HAS_COUNT = 1u << 18,
};

struct record_header {
    struct str version, name, tags /* JSON */, upstream, thoughtjack_version,
        producer /* JSON */, command /* JSON */, transport;
    struct str source; /* JSON: what it was converted from, see recording.md */
    uint64_t part;     /* number of a rotated file, from 1; all have the same date */
};

struct mcp_message;

struct record_message {
    uint64_t seq, latency_ms, redelivers;
    uint64_t line; /* of the file that it was read from, from 1; 0: unknown */
    enum record_dir dir;
    bool ids_as_text;                  /* its file has ids without a type: 1 is "1" */
    struct json_val msg;               /* an object; no line break in its text */
    struct str event, batch, redacted; /* JSON */
    const struct mcp_message *parsed;  /* `msg` classified; NULL: not done yet */
};

struct record_bytes {    /* RECORD_RAW and RECORD_STDERR */
    enum record_dir dir; /* RECORD_RAW */
    struct str bytes;
    struct str why; /* RECORD_RAW: why it is no message */
    struct str by;  /* RECORD_RAW: "mcpreel" for messages between mcpreel itself and a server */
    /* RECORD_RAW, with HAS_COUNT: the record stands for this many lines, which were not kept.
     */
    uint64_t count, count_bytes;
};

struct record_proc {
    struct str event; /* "start", "exit", or "failed": it could not be started */
    int64_t exit_code, signal;
    struct str why; /* further details of its end */
};

/* `why` of exchanges and processes that ended because recording stopped. */
#define RECORD_WHY_STOPPED "mcpreel was ended"

/* Statuses of final HTTP responses: readers reject others, replay sends them. */
enum { RECORD_STATUS_MIN = 200, RECORD_STATUS_MAX = 599 };

struct record_http {
    struct str method, path, query, state, host, origin, body; /* request */
    struct str kind;                      /* request: its kind in the format it was read from */
    struct str media, resumes /* JSON */; /* response */
    struct str by, headers /* JSON */;
    struct str why; /* end: why it was aborted */
    uint64_t status;
    uint64_t took_ms; /* response, with HAS_LATENCY */
    bool auth, mints_session, clean;
};

struct record_sse {
    uint64_t n, retry;
    struct str id, event, data, comment;
    uint64_t count, count_bytes; /* with HAS_COUNT: the record stands for this many comments */
};

struct record_gap {
    enum record_dir dir;
    uint64_t messages, bytes;
    struct str why;
};

struct record_footer {
    uint64_t messages, duration_ms, client_messages, server_messages, errors;
    int64_t exit_code;
    struct str protocol, server_info, client_info; /* the last two: JSON */
};

struct record {
    enum record_kind kind;
    unsigned has;
    int64_t us;      /* monotonic, since the recording started */
    int64_t wall_us; /* since 1970 */
    uint64_t conn, session, exchange, stream;
    union {
        struct record_header header;
        struct record_message message;
        struct record_bytes bytes;
        struct record_proc proc;
        struct record_http http;
        struct record_sse sse;
        struct record_gap gap;
        struct record_footer footer;
        struct str unknown_type; /* the type's name */
    };
    struct str unknown_members; /* JSON: members unknown to its format, see
                                   trace/unknown-members.h */
    uint64_t unread_values;     /* values the reader could not use; a note was printed */
};

/* A consumer of records. Returns false, with an error, if it cannot take more. */
struct sink {
    bool (*put)(struct sink *self, const struct record *r, struct err *e);
};

#endif

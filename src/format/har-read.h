/* format/har-read.h - finds the MCP traffic in a HAR document.
 *
 * Keeps the entries that carry JSON-RPC: a POST with messages in its body or in its response, a
 * GET with an event stream of messages, and on the URL of another such entry a GET with any
 * event stream and a DELETE. All others are only counted. Each kept entry is one exchange,
 * which consists of steps. The steps of all exchanges are in one order: the recorded one in a
 * file of mcpreel, else that of the times, in milliseconds. A HAR has one time for a whole
 * response, so the events of a stream share it, unless the file has the time of each event.
 *
 * A body that is no message is kept as bytes. Headers and the query of a URL may be secrets, so
 * they are not kept. */
#ifndef FORMAT_HAR_READ_H
#define FORMAT_HAR_READ_H

#include "format/format.h"

/* The member of the log and of an entry in which mcpreel writes what HAR has no place for. */
#define HAR_EXTRA "_mcpreel"

/* In the order of the steps of an exchange. */
enum har_step_kind {
    HAR_STEP_HEADER, /* of a recording that follows another in the same file */
    HAR_STEP_REQUEST,
    HAR_STEP_SENT, /* a message to the server */
    HAR_STEP_RESPONSE,
    HAR_STEP_RECEIVED, /* a message to the client */
    HAR_STEP_EVENT,    /* an event without a message, or a comment */
    HAR_STEP_END,
};

struct har_exchange {
    struct str method, path, body; /* of the request */
    struct str session;            /* identifies the session in this file; `at` is NULL: none */
    bool mints_session;            /* the response assigned the session */
    bool is_stream;                /* the response is an event stream */
    struct str media;              /* of the response */
    uint64_t status;               /* 0: there was no response */
    struct str response_by, end_by, why;
    bool clean;
    uint64_t number, stream; /* for the caller; start as 0 */
};

struct har_step {
    enum har_step_kind kind;
    struct har_exchange *exchange;
    int64_t order; /* number in the recording, or milliseconds since 1970 */
    size_t place;  /* in the file */
    unsigned has;  /* as in struct record */
    int64_t us, wall_us;
    uint64_t conn, latency_ms;
    struct str message, batch, redacted; /* JSON */
    struct str bytes, why;               /* instead of a message: a body that is none */
    struct str event;                    /* JSON: of a message in a stream */
    struct record_sse sse;               /* of HAR_STEP_EVENT */
    const struct record *header;         /* of HAR_STEP_HEADER */
};

struct har_document {
    struct record header;
    bool is_stdio; /* the exchanges were composed: only the messages were recorded */
    struct har_step *steps;
    size_t step_count, step_cap;
    bool is_restored;  /* set if every step has what mcpreel recorded about it */
    uint64_t left_out; /* entries without MCP messages */
};

/* Reads the document. The steps borrow from `a` and from the document. Returns false after
 * format_error(); the caller calls har_read_release() in any case. */
bool har_read(const struct window *w, struct json_val root, struct arena *a,
              struct har_document *out, struct err *e) MUST_CHECK;
void har_read_release(struct har_document *d);

#endif

/* record/http-recorder.h - turns HTTP exchanges into records.
 *
 * Takes headers and bodies of HTTP requests and responses, each piece before it is forwarded,
 * and makes the records from which replay can rebuild the server: requests by session,
 * responses, every event of every stream with its number, and how the exchange ended. Messages
 * go to a recorder, which numbers and times them. Does no I/O.
 *
 * A session of HTTP+SSE is the stream of a GET: it begins with its `endpoint` event, and
 * messages that are posted to that endpoint belong to it.
 *
 * Compressed bodies are decompressed for the recording. For paths other than the MCP endpoint
 * (logins) only headers are recorded, never a body or a query. Bodies and events of more than
 * `max_body` bytes are recorded as a gap.
 *
 * A record that cannot be written does not stop anything; http_recorder_check() reports it. */
#ifndef RECORD_HTTP_RECORDER_H
#define RECORD_HTTP_RECORDER_H

#include "record/header-secrets.h"
#include "record/recorder.h"
#include "record/sse-endpoints.h"
#include "wire/origin.h"

struct http_recorder {
    struct recorder *recorder; /* borrowed */
    size_t max_body;
    struct buf spare_body; /* memory, kept for the next body */
    struct seen_secrets
        *seen_secrets; /* receives the secrets in headers and URLs; borrowed; may be NULL */
    struct seen_secrets_refs server_secrets; /* secrets of the server URL */
    bool redacts_urls;                       /* set by http_recorder_redact_urls() */
    const struct url *server_url; /* borrowed; NULL: `endpoint` events are not parsed */
    struct session_ids sessions;
    struct sse_endpoints sse_endpoints;
    struct recent_keys recent_events; /* session and event id to position and message */
    struct buf headers;               /* current headers, as JSON */
    uint64_t exchange_count, stream_count;
    uint64_t too_long; /* count of bodies and events over `max_body` */
    bool failed;       /* a record was not written; cleared by http_recorder_check() */
    struct err error;  /* the first failure since then */
    struct err decompress_error; /* ERR_OK, or the first reason why a response could not be
                                    decompressed */
};

/* `seen_secrets` belongs to the redactor in front of the file: without it, repeated secrets
 * reach the file. NULL: nothing is written. */
void http_recorder_init(struct http_recorder *t, struct recorder *recorder, size_t max,
                        struct seen_secrets *seen_secrets);
void http_recorder_release(struct http_recorder *t);

/* Redacts the secrets of the server URL and of all request URLs. Those in the URL of an
 * HTTP+SSE session are always redacted. */
void http_recorder_redact_urls(struct http_recorder *t, struct str server);

/* Returns whether all records since the last call were written; else sets `*e` to the first
 * error. */
bool http_recorder_check(struct http_recorder *t, struct err *e);

struct http_recorder_request {
    uint64_t conn;
    struct str method, path, query; /* `query.at` NULL: none */
    const struct headers *headers;
    enum origin_kind host, origin;
    bool is_endpoint; /* its path is the MCP endpoint */
    bool has_body;    /* its headers announce a body */
};

/* Returns whether a request posts to the endpoint of an HTTP+SSE session, open or ended. */
bool http_recorder_is_sse_post(const struct http_recorder *t, struct str method,
                               struct str path, struct str query);

/* One HTTP request and its response. Lives until http_recorder_end(). */
struct http_recorder_exchange;

struct http_recorder_exchange *http_recorder_begin(struct http_recorder *t,
                                                   const struct http_recorder_request *q);

/* Record a piece of the request body, and its end. The response may start before that: the body
 * is recorded after the response headers then, as far as it came. */
void http_recorder_request_data(struct http_recorder_exchange *x, struct str bytes);
void http_recorder_request_end(struct http_recorder_exchange *x, struct recorder_time now);

/* Returns the JSON-RPC id of the request in the body, as JSON; empty: it is no request, or a
 * batch. Borrowed until the response starts. */
struct str http_recorder_request_id(const struct http_recorder_exchange *x);

enum http_recorder_by {
    HTTP_RECORDER_BY_SERVER,
    HTTP_RECORDER_BY_CLIENT,
    HTTP_RECORDER_BY_ERROR,
    HTTP_RECORDER_BY_MCPREEL
};

/* Records status and headers of the response, by HTTP_RECORDER_BY_SERVER or
 * HTTP_RECORDER_BY_MCPREEL. */
void http_recorder_response(struct http_recorder_exchange *x, unsigned status,
                            const struct headers *fields, enum http_recorder_by by,
                            struct recorder_time now);
void http_recorder_response_data(struct http_recorder_exchange *x, struct str bytes,
                                 struct recorder_time now);

/* Records the response body at its end. Optional: http_recorder_end() does the same, but then
 * the message is recorded together with the end of the exchange. */
void http_recorder_response_end(struct http_recorder_exchange *x, struct recorder_time now);

/* Records the end of the exchange and frees `x`. `clean`: the response was complete. `why` says
 * what went wrong; may be empty. */
void http_recorder_end(struct http_recorder_exchange *x, enum http_recorder_by by, bool clean,
                       struct str why, struct recorder_time now);

#endif

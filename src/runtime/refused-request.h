/* runtime/refused-request.h - warns the user that an HTTP server rejects initialize.
 *
 * Observes the redacted records of a recording in progress. For the latest initialize, or any
 * request as long as the server has sent no JSON-RPC message, it logs:
 *
 * - an HTTP status of 400 or more, or a page instead of a JSON-RPC message, with the beginning
 *   of the body and a guess where the MCP endpoint is;
 * - the JSON-RPC error of an initialize.
 *
 * Each status or error code is logged once. Redirects and status 405 are reported elsewhere
 * (mcphttp/url-rewrite.h, runtime/http-sse-hint.h). */
#ifndef RUNTIME_REFUSED_REQUEST_H
#define RUNTIME_REFUSED_REQUEST_H

#include "base/buf.h"
#include "base/log.h"
#include "trace/record.h"
#include "wire/url.h"

enum { REFUSED_REQUEST_TEXT_MAX = 200, REFUSED_REQUEST_METHOD_MAX = 64 };

struct refused_request {
    const struct log *log;
    struct url url;  /* of the server */
    bool log_at_end; /* set by the owner: log HTTP responses only in refused_request_end() */

    bool watching; /* an exchange is observed: the next fields belong to it */
    bool is_initialize;
    uint64_t exchange, status;
    bool other_media;                        /* the media type is neither JSON nor SSE */
    char method[REFUSED_REQUEST_METHOD_MAX]; /* of the request */
    char text[REFUSED_REQUEST_TEXT_MAX + 1]; /* of the response */

    bool served;  /* set by the server's first JSON-RPC message, or 'endpoint' of HTTP+SSE */
    bool refused; /* set by the first rejection or redirect, logged or not */
    bool log_pending;       /* a response is to be logged at the end */
    uint64_t logged_status; /* the latest HTTP status that was logged; 0: none */
    int64_t logged_code;
};

/* `url` is the server URL, already validated; borrowed. */
void refused_request_init(struct refused_request *q, const struct log *log, struct str url);
void refused_request_note(struct refused_request *q, const struct record *r);
void refused_request_end(struct refused_request *q);

/* Returns whether the server rejected or redirected a request and never sent a JSON-RPC
 * message. */
bool refused_request_never_served(const struct refused_request *q);

#endif

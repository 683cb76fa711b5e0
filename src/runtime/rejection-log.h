/* runtime/rejection-log.h - logs how an HTTP server rejects requests, initialize above all.
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
#ifndef RUNTIME_REJECTION_LOG_H
#define RUNTIME_REJECTION_LOG_H

#include "base/buf.h"
#include "base/log.h"
#include "trace/record.h"
#include "wire/url.h"

enum { REJECTION_LOG_TEXT_MAX = 200, REJECTION_LOG_METHOD_MAX = 64 };

struct rejection_log {
    const struct log *log;
    struct url url;  /* of the server */
    bool log_at_end; /* set by the owner: log HTTP responses only in rejection_log_end() */

    bool watching; /* an exchange is observed: the next fields belong to it */
    bool is_initialize;
    uint64_t exchange, status;
    bool other_media;                      /* the media type is neither JSON nor SSE */
    char method[REJECTION_LOG_METHOD_MAX]; /* of the request */
    char text[REJECTION_LOG_TEXT_MAX + 1]; /* of the response */

    bool served;   /* set by the server's first JSON-RPC message, or 'endpoint' of HTTP+SSE */
    bool rejected; /* set by the first rejection or redirect, logged or not */
    bool log_pending;       /* a response is to be logged at the end */
    uint64_t logged_status; /* the latest HTTP status that was logged; 0: none */
    int64_t logged_code;
};

/* `url` is the server URL, already validated; borrowed. */
void rejection_log_init(struct rejection_log *q, const struct log *log, struct str url);
void rejection_log_note(struct rejection_log *q, const struct record *r);
void rejection_log_end(struct rejection_log *q);

/* Returns whether the server rejected or redirected a request and never sent a JSON-RPC
 * message. */
bool rejection_log_never_served(const struct rejection_log *q);

#endif

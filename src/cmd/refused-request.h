/* cmd/refused-request.h - tells the user that an HTTP server refuses to initialize.
 *
 * Watches the records of a recording that is being made, after redaction. For the latest
 * initialize, or any request as long as the server has sent no JSON-RPC message, it tells:
 *
 * - an HTTP status of 400 or more, and a page in place of a JSON-RPC message, with the
 *   beginning of the body, and where else the MCP endpoint may be;
 * - the JSON-RPC error that an initialize got.
 *
 * The same status or error code is reported once. Redirects and a POST that is not allowed
 * (405) are reported elsewhere (engine/redirect.h, cmd/old-server.h). */
#ifndef CMD_REFUSED_REQUEST_H
#define CMD_REFUSED_REQUEST_H

#include "base/buf.h"
#include "base/log.h"
#include "trace/record.h"
#include "wire/url.h"

enum { REFUSED_WORDS_MAX = 200, REFUSED_METHOD_MAX = 64 };

struct refused_request {
    const struct log *log;
    struct url url; /* of the server */
    bool at_end;    /* set by the owner: tell HTTP responses only in refused_request_end() */

    bool watching; /* an exchange is being watched: the fields below are of it */
    bool is_initialize;
    uint64_t exchange, status;
    bool page;                         /* the media type is neither JSON nor SSE */
    char method[REFUSED_METHOD_MAX];   /* of the request */
    char words[REFUSED_WORDS_MAX + 1]; /* of the response */

    bool served;   /* set by the server's first JSON-RPC message, or 'endpoint' of HTTP+SSE */
    bool refused;  /* set by the first refusal or redirect, told or not */
    bool waits;    /* there is a response to be told at the end */
    uint64_t told; /* the HTTP status that was told last; 0: none */
    int64_t told_code;
};

/* `url`: of the server, which can be parsed; borrowed. */
void refused_request_init(struct refused_request *q, const struct log *log, struct str url);
void refused_request_see(struct refused_request *q, const struct record *r);
void refused_request_end(struct refused_request *q);

/* Whether the server refused or redirected a request and never spoke MCP. */
bool refused_request_all(const struct refused_request *q);

#endif

/* mcphttp/request-validate.h - validates an HTTP request by the rules of the protocol, and
 * says how a server rejects it.
 *
 * Lenient where real clients are sloppy and nothing depends on it. Does not know how a recorded
 * server deviated from the rules. */
#ifndef MCPHTTP_REQUEST_VALIDATE_H
#define MCPHTTP_REQUEST_VALIDATE_H

#include "mcphttp/param-headers.h"

/* Properties of the server. */
struct request_rules {
    bool stateful, stateless;  /* the protocols that it speaks */
    bool uses_session_ids;     /* it issues session ids and requires them */
    bool any_session_id;       /* session ids are not checked, and DELETE is allowed */
    bool has_get_stream;       /* GET opens an SSE stream */
    bool get_accepts_wildcard; /* even if Accept does not name text/event-stream */
    struct str versions;       /* supported, as a JSON array */
    /* Borrowed; NULL: Mcp-Param headers are not checked. */
    const struct param_headers *param_headers;
};

/* Status and JSON-RPC error of a rejection. `status` 0: the request is valid. */
struct http_rejection {
    unsigned status;
    int64_t code;           /* of the JSON-RPC error */
    struct str text;        /* its message */
    struct str data;        /* JSON; may be empty */
    struct str allow;       /* 405: value of the header */
    struct str retry_after; /* 503: value of the header */
};

/* Validates a request. Strings of the rejection are static, or allocated in `a`. */
struct http_rejection http_request_validate(const struct request_rules *rules,
                                            const struct http_request *c, struct arena *a);

/* The rejection of an unknown or ended session. */
struct http_rejection http_rejection_no_session(void);

/* HTTP status of a response that is one JSON-RPC message. It depends on the message in the
 * stateless protocol only. */
unsigned http_response_status(bool stateless, struct str message);

#endif

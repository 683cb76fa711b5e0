/* mcphttp/http-request.h - the parts of an HTTP request, live or recorded, that an MCP server
 * looks at. */
#ifndef MCPHTTP_HTTP_REQUEST_H
#define MCPHTTP_HTTP_REQUEST_H

#include "engine/engine.h"
#include "mcp/message.h"
#include "mcp/version.h"
#include "mcphttp/session-ids.h"
#include "trace/parse-messages.h"
#include "wire/media-type.h"
#include "wire/origin.h"

/* Everything is borrowed. */
struct http_request {
    struct str method;
    const struct headers *headers;
    struct media_type_accept accept; /* the parsed Accept header */
    enum origin_kind host, origin;
    enum session_state session_state;
    bool to_sse_endpoint; /* HTTP+SSE: a POST to the endpoint of a session */
    enum parse_kind body_kind;
    bool initialize_in_batch;          /* PARSE_BATCH: it contains initialize */
    const struct mcp_message *message; /* PARSE_MESSAGE */
    struct str raw;                    /* PARSE_OTHER: the body */
};

/* Everything but the body and the session. */
struct http_request http_request_from_event(const struct event_request *r);

/* Parses the body, with `j`; sets `*m` if it is a message. */
void http_request_parse_body(struct http_request *c, struct json *j, struct str body,
                             struct mcp_message *m, struct arena *a);

/* Number of responses that the client expects to `body`, the root of the parsed body. */
size_t http_request_response_count(const struct http_request *c, struct json_val body,
                                   struct arena *a);

/* Value of a header; empty: none. */
struct str http_request_header(const struct http_request *c, struct str name);

/* The version in MCP-Protocol-Version, and the one in the message's _meta. */
enum mcp_version http_request_header_version(const struct http_request *c);
enum mcp_version http_request_message_version(const struct http_request *c, struct arena *a);

/* The version that the client uses: of the header, else the one that initialize asks for, else
 * `negotiated`. */
enum mcp_version http_request_client_version(const struct http_request *c,
                                             enum mcp_version negotiated, struct arena *a);

/* True if header or message names a version of the stateless protocol. */
bool http_request_is_stateless(const struct http_request *c, struct arena *a);

/* Hash of everything that a server may reject the request for. Equal for requests that differ
 * in ids, tokens and personal values only. 0: none (a batch). */
uint64_t http_request_hash(const struct http_request *c, struct arena *a);

#endif

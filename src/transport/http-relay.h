/* transport/http-relay.h - forwards HTTP between clients and one upstream server.
 *
 * Requests and responses pass unchanged: headers in their order, bodies and streams piece by
 * piece, each side read only as fast as the other takes. The owner gets a copy of everything
 * before it is forwarded: the end of a message (the last byte of a body, the blank line of an
 * event) never reaches its reader before the owner has it. Knows no JSON and writes no file.
 *
 * - '/' and the path of the target URL are the MCP endpoint, in any spelling (url_same_path());
 *   the spelling is forwarded. Other paths are forwarded to the origin of the target. With
 *   `base_path`, a path whose last segment is 'mcp' or 'sse' is the endpoint, too: it is
 *   appended to `base_path`, unless the target ends with it ('/mcp' for '/v1/mcp'). The query
 *   is kept; that of the target comes first.
 * - The server gets its own Host, or the client's with `keep_host`.
 * - A request that is not allowed gets a local response, as does every request while the server
 *   is unreachable: 502, 504 if connecting timed out, 503 if no descriptor is left. If the
 *   server fails, the rest of the request is read first, for the recording: up to LIMIT_MESSAGE
 *   bytes, within the time limit of a body.
 * - If a client aborts, its request is aborted at the server. A response that the server cuts
 *   off is aborted, too. No request is sent twice.
 * - The server is offered those of the client's content codings that the owner can decompress.
 * - 'Expect: 100-continue' is answered here. Redirects are forwarded.
 * - A `struct http_relay_rewriter` may change heads and small bodies (URLs of a login, say),
 *   and the owner the bytes of a stream. */
#ifndef TRANSPORT_HTTP_RELAY_H
#define TRANSPORT_HTTP_RELAY_H

#include "base/arena.h"
#include "base/buf.h"
#include "transport/http-access.h"
#include "transport/http-client.h"
#include "transport/http-server.h"

struct http_relay;

/* One request and its response, as the owner sees them. */
struct http_relay_exchange {
    void *user;          /* for the owner to set */
    uint64_t number;     /* from 1 */
    uint64_t connection; /* of the client, from 1 */
    enum origin_kind host, origin;
    bool is_endpoint; /* for the MCP endpoint, or `is_to_sse_endpoint` said so */
    struct http_access_decision access; /* result of the access check */

    /* For the owner to set: */
    bool no_compression; /* in `request`: offer the server no compression */
    bool is_rewritten;   /* in `response_head`: call `rewrite_stream` for its body */
};

enum http_relay_cause {
    HTTP_RELAY_BY_SERVER,       /* its response is complete, or it cut the response off */
    HTTP_RELAY_BY_CLIENT,       /* it aborted */
    HTTP_RELAY_BY_SERVER_ERROR, /* the server is unreachable, or its response invalid */
    HTTP_RELAY_BY_RELAY,        /* not allowed, timed out, or shutting down */
};

struct http_relay_end {
    enum http_relay_cause cause;
    bool complete;    /* the response is complete */
    const char *text; /* if it is not: the reason, for users; borrowed */
};

struct http_relay_events {
    /* Returns whether a request goes to an endpoint that the server announced (HTTP+SSE): its
     * target is then forwarded unchanged. May be NULL: there are none. */
    bool (*is_to_sse_endpoint)(void *to, const struct request_head *r);
    /* The head of a request; `r` is borrowed for the event. */
    void (*request)(void *to, struct http_relay_exchange *p, const struct request_head *r);
    void (*request_body)(void *to, struct http_relay_exchange *p, struct str bytes);
    /* The request is complete. Returns the id of its JSON-RPC request, as JSON, for a local
     * response; empty if there is none or more than one. Valid until a response begins. */
    struct str (*request_complete)(void *to, struct http_relay_exchange *p);
    /* The head of the server's response, and that of the request again; borrowed. */
    void (*response_head)(void *to, struct http_relay_exchange *p,
                          const struct request_head *asked, const struct response_head *r);
    void (*response_body)(void *to, struct http_relay_exchange *p, struct str bytes);
    /* Replaces bytes of a response with `is_rewritten` set, after `response_body` got them. The
     * new bytes are borrowed until the next call. `last`: no others follow. Returns false to
     * abort the response after these bytes, with the reason for users in `*why`. Not called
     * for a response with a length. */
    bool (*rewrite_stream)(void *to, struct http_relay_exchange *p, struct str *bytes,
                           bool last, const char **why);
    /* Instead of `response_head`: the relay responds itself, with a JSON-RPC error whose
     * message is `text`, or with a redirect. */
    void (*local_response)(void *to, struct http_relay_exchange *p, unsigned status,
                           const char *text);
    /* The last event of a request. Comes once, before the client can see the end. */
    void (*end)(void *to, struct http_relay_exchange *p, const struct http_relay_end *end);
    /* Everything reported since the last call is forwarded next: the owner must have written it
     * when this returns. */
    void (*commit_records)(void *to);
    /* A client was rejected before it sent a valid request; for the log. */
    void (*rejected)(void *to, uint64_t connection, const struct http_exchange_failure *why);
};

enum { HTTP_RELAY_BUFFERED_MAX = 256 << 10 };

/* Changes what is forwarded. The events get everything as it came. New texts may be put into
 * the arena, which lives as long as the head. `r` is the head of the request; its body may not
 * have come yet. */
struct http_relay_rewriter {
    /* Adds the URL to which the client is redirected with a local 302; nothing: the request is
     * forwarded. */
    void (*redirect)(void *to, const struct http_relay_exchange *p,
                     const struct request_head *r, struct buf *location);
    /* May change the target and headers that go to the server. Returns true to buffer the body
     * and have `request_body` called before anything is sent. */
    bool (*request)(void *to, const struct http_relay_exchange *p, const struct request_head *r,
                    struct outgoing_request *a, struct arena *text);
    /* May change the headers that go to the client. Returns true for `response_body`. */
    bool (*response)(void *to, const struct http_relay_exchange *p,
                     const struct request_head *r, struct http_exchange_response *a,
                     struct arena *text);
    /* Add the body to send instead of a buffered one; nothing: it is sent unchanged. Not called
     * for a body of more than HTTP_RELAY_BUFFERED_MAX bytes, which is forwarded. */
    void (*request_body)(void *to, const struct http_relay_exchange *p,
                         const struct request_head *r, struct str body, struct buf *out);
    void (*response_body)(void *to, const struct http_relay_exchange *p,
                          const struct request_head *r, struct str body, struct buf *out);
};

struct http_relay_config {
    const struct http_relay_rewriter *rewriter; /* borrowed; may be NULL */
    void *rewriter_to;
    struct http_server_config listen;
    struct http_client_config server; /* its URL is the target */
    const struct http_access *access; /* borrowed for the relay's life */
    bool keep_host;                   /* send the server the client's Host */
    const char *base_path;            /* see above; borrowed for the relay's life; or NULL */
};

/* Starts listening. ERR_USAGE for an invalid URL, header or address; ERR_IO if the address
 * cannot be listened on. */
bool http_relay_open(struct http_relay **out, struct loop *l,
                     const struct http_relay_config *config,
                     const struct http_relay_events *events, void *to,
                     struct err *e) MUST_CHECK;

const struct url_authority *http_relay_address(const struct http_relay *r); /* borrowed */
size_t http_relay_active_count(const struct http_relay *r); /* unfinished requests */

/* Accepts no more requests; unfinished ones have `grace_ms`. Calls `done` when all connections
 * are closed, not before this returns. */
void http_relay_stop(struct http_relay *r, uint64_t grace_ms, void (*done)(void *to), void *to);

/* Closes everything at once. Unfinished requests get their `end` event and no other. NULL is
 * fine. */
void http_relay_close(struct http_relay *r);

#endif

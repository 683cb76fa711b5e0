/* bridge/http-to-stdio.h - connects any number of HTTP clients with servers on stdio.
 *
 * An engine (engine/engine.h): HTTP requests and lines of servers go in; HTTP responses,
 * streams, lines for servers and the actions to start or end a server come out. Does no I/O.
 *
 * A client that sends initialize gets a server of its own and a session, whose id is in the
 * response. A DELETE ends both. If the server exits, its open requests are answered with an
 * error and the session becomes unknown, so that its client initializes again. Clients without
 * a session share a server: one for the stateful and one for the stateless protocol, each
 * opened by mcpreel's own handshake. Before the first stateless request is forwarded,
 * server/discover asks whether the server supports that protocol; if not, the client gets the
 * error that makes it fall back to initialize.
 *
 * At most `max_servers` run. A client that needs another one replaces the session that has been
 * idle longest, if no response of it is pending; else it gets 503 with Retry-After. A server
 * that is ending still counts: the new one starts when it has exited, and lines for it are
 * queued.
 *
 * A server message is sent on the response of the request it belongs to (bridge/id-map.h). If
 * it cannot be attributed, it goes to the only open request; else to the client's GET stream;
 * else to its oldest open request; else it is kept until a stream opens, up to a limit.
 * Notifications that no request causes, such as list_changed, go to the GET stream first.
 *
 * A GET without a session on a path that ends in HTTP_TO_STDIO_SSE_PATH opens an HTTP+SSE
 * session (2024-11-05): the stream is the session, has a server of its own, and ends with it.
 * All other paths are the MCP endpoint, except those below /.well-known/. */
#ifndef BRIDGE_HTTP_TO_STDIO_H
#define BRIDGE_HTTP_TO_STDIO_H

#include "bridge/backends.h"
#include "engine/engine.h"
#include "mcphttp/http-request.h"

/* The end of a path on which a GET without a session opens an HTTP+SSE session. */
#define HTTP_TO_STDIO_SSE_PATH "/sse"

/* A parsed HTTP request of a client. Does not say whether it is valid, or which server it goes
 * to. Must not be copied: `http` points to `message`. */
struct http_to_stdio_request {
    uint64_t exchange;
    struct http_request http;
    struct mcp_message message;
    uint64_t session;      /* number of its session; 0: none, or an unknown id */
    struct str request_id; /* JSON-RPC id, as JSON; empty: no request, or a batch */
    bool opens_sse;        /* it opens an HTTP+SSE session */
};

/* Parses `ev`, an EVENT_HTTP_REQUEST, and scans its body into `json`. Borrows from all of
 * them. */
void http_to_stdio_parse_request(struct http_to_stdio_request *q, const struct event *ev,
                                 const struct session_ids *ids, struct json *json,
                                 struct arena *a);

bool http_to_stdio_is_initialize(const struct http_to_stdio_request *q);

/* Returns whether a path is the MCP endpoint, and not one below /.well-known/. */
bool http_to_stdio_is_mcp_path(struct str path);

struct http_to_stdio_options {
    size_t max_servers;
    void (*random)(void *to, size_t size); /* unpredictable bytes, for session ids */
    /* Behave like mcp-recorder: a DELETE without a session is answered 200, and a notification
     * without one 502 if no server is left. */
    bool mcp_recorder_compat;
};

/* Whether the servers support the stateless protocol: unknown until the first handshake. */
enum http_to_stdio_stateless {
    HTTP_TO_STDIO_STATELESS_UNKNOWN,
    HTTP_TO_STDIO_STATELESS_YES,
    HTTP_TO_STDIO_STATELESS_NO
};

struct http_to_stdio {
    struct action_sink client_actions; /* marks actions for clients before they go to `out` */
    struct action_sink *out;           /* borrowed */
    struct http_to_stdio_options options;
    struct pending_responses responses;
    struct legacy_sse sse;
    struct backends backends;
    enum http_to_stdio_stateless stateless;
    struct buf versions; /* stateless protocol versions of the server: a JSON array */
    struct param_headers param_headers; /* Mcp-Param headers of its tools */
    struct json json;                   /* body of the current request */
    struct arena arena;                 /* for one step */
    struct str
        mcpreel_reason; /* set while mcpreel itself answers a client: the reason; else empty */
    bool closed;
    int64_t now_us;
};

void http_to_stdio_init(struct http_to_stdio *f, const struct http_to_stdio_options *options,
                        struct action_sink *out);
void http_to_stdio_release(struct http_to_stdio *f);

/* Handles an event. EVENT_OPENED starts a spare server, so that a command that cannot be
 * started is noticed at once. EVENT_INPUT_CLOSED ends all servers and finishes. */
void http_to_stdio_step(struct http_to_stdio *f, const struct event *ev);

/* Returns the number of the session that a server belongs to; 0: none, or none yet. */
uint64_t http_to_stdio_session(const struct http_to_stdio *f, uint64_t server);

#endif

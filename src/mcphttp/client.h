/* mcphttp/client.h - sends the JSON-RPC messages of a client to an HTTP server.
 *
 * The client, which knows no HTTP, sends lines (EVENT_CLIENT_LINE). They become HTTP requests
 * (ACTION_HTTP_REQUEST), and messages in the HTTP responses (EVENT_REQUEST_SENT,
 * _RESPONSE_HEAD, _RESPONSE_DATA, _RESPONSE_END, _REQUEST_FAILED) become messages for the
 * client (ACTION_SEND). The client's messages decide which protocol is used:
 *
 * - Stateful: initialize begins a session. The session id and the negotiated version are sent
 *   with everything after it. Unless `no_get_stream` is set, a GET stream is opened after
 *   notifications/initialized and again whenever it ends. A broken stream with event ids is
 *   resumed.
 * - Stateless: a request that names its version itself. Its headers repeat values of the body.
 *   notifications/cancelled for it is not sent: its exchange is aborted, which means the same.
 * - A stateless tools/call that the server rejects for missing headers (MCP_HEADER_MISMATCH) is
 *   held while tools/list is fetched. If the schemas name other headers, the call is sent once
 *   more, with them. The client sees nothing of this.
 * - If the server rejects initialize with 400, 404 or 405, an HTTP+SSE server (2024-11-05) is
 *   probed for. An endpoint at another origin is refused. The session ends with its stream:
 *   then nothing is sent until the next initialize.
 *
 * Order: while initialize is pending, only responses of the client are sent. A message is sent
 * when the one before it is sent completely; after a notification, when the server has
 * responded to that, or after two seconds. Apart from that, up to MCP_CLIENT_REQUESTS_MAX
 * exchanges are open at once.
 *
 * Nothing else is sent twice. A request that gets no response gets an error under its id, with
 * the reason; ACTION_INVALID_RESPONSE is put before if the server's response was invalid. If
 * the server ended the session (404), the client has to initialize again.
 *
 * End: after EVENT_INPUT_CLOSED open requests are awaited, at most ten seconds without activity
 * and one hour in all; then they get an error. After EVENT_CLIENT_CLOSED they are not awaited;
 * they get its `why` as an error if that is not empty. Then the session is deleted, and
 * ACTION_FINISH is put. */
#ifndef MCPHTTP_CLIENT_H
#define MCPHTTP_CLIENT_H

#include "mcphttp/client-deliver.h"
#include "mcphttp/client-pending.h"

enum { MCP_CLIENT_REQUESTS_MAX = 128 };

enum mcp_client_transport {
    MCP_CLIENT_STREAMABLE,
    MCP_CLIENT_SSE_PROBE, /* HTTP+SSE, before the endpoint event */
    MCP_CLIENT_SSE,       /* HTTP+SSE */
};

enum mcp_client_state {
    MCP_CLIENT_OPEN,
    MCP_CLIENT_INPUT_CLOSED, /* the client sends nothing more; open requests are awaited */
    MCP_CLIENT_ENDING,       /* nothing is awaited but the response to DELETE */
    MCP_CLIENT_DONE,
};

struct mcp_client {
    struct actions actions;
    const struct url *url; /* borrowed */
    struct json json;      /* scans the client's messages */
    struct arena arena;    /* cleared with each event */
    struct client_session session;
    struct client_deliver deliver;
    struct client_schemas schemas;
    struct client_exchanges exchanges;
    struct client_exchange *current;      /* its SSE events are being handled */
    struct client_exchange *get_stream;   /* NULL: none; in HTTP+SSE the session's stream */
    struct client_exchange *send_barrier; /* the next message waits for it; NULL: nothing */
    /* The tools/list for held calls; NULL: none is open. */
    struct client_exchange *schema_request;
    /* MCP_CLIENT_SSE_PROBE: the initialize to send when the endpoint is known. */
    struct client_exchange *pending_initialize;

    struct client_queue send_queue; /* lines that must not be sent yet */
    uint64_t ended_exchange;        /* its EVENT_RESPONSE_END is being handled; 0: none */

    enum mcp_client_transport transport;
    enum mcp_client_state state;
    bool session_ended; /* set when the server ended the session; cleared by initialize */
    bool no_get_stream; /* set by the owner at the start: HTTP+SSE only has a GET stream */
    struct str reconnect_hint; /* for the log: how to get a new session; borrowed, may be set */
    struct buf error_text;     /* the last failure that was described */
    struct buf sse_probe_error; /* why the HTTP+SSE probe failed; cleared by initialize */
    int64_t now_us;
    uint64_t timer_count;                   /* number of the last timer */
    uint64_t barrier_timer, shutdown_timer; /* 0: not set */
    bool activity_since_timer; /* set by activity; cleared when `shutdown_timer` is set */
    int64_t input_closed_us;   /* time of EVENT_INPUT_CLOSED */

    uint64_t requests_sent, responses_received; /* HTTP, for the report */
};

/* `url` must have a path. */
void mcp_client_init(struct mcp_client *s, const struct url *url, struct action_sink *out);
void mcp_client_release(struct mcp_client *s);

void mcp_client_step(struct mcp_client *s, const struct event *ev);

/* True if requests were sent and none of them got an HTTP response. */
static inline bool mcp_client_never_answered(const struct mcp_client *s)
{
    return s->requests_sent && !s->responses_received;
}

#endif

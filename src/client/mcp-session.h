/* client/mcp-session.h - the client's side of one MCP session, on any transport: sends requests
 * under its own ids, pairs the responses, and limits how long it waits for them.
 *
 * An engine (engine/engine.h) that other engines are made of: verify, and later scenarios, lock
 * and diff. The owner passes every event to mcp_session_step() and gets calls of struct
 * mcp_session_events. It composes the messages itself, or lets the session do so. ping is
 * answered here; the owner answers every other server request.
 *
 * A request has a number from 1 on, which is its JSON-RPC id and its progress token, unless
 * `first_id` says otherwise. An error that
 * mcphttp/client composed because a request got no HTTP response is no response of the server:
 * it is reported as a loss. So is a request that the server sends back: a response to it would
 * come back, too, and look like the response to ours. */
#ifndef CLIENT_MCP_SESSION_H
#define CLIENT_MCP_SESSION_H

#include "base/map.h"
#include "engine/actions.h"
#include "mcp/message.h"

enum mcp_session_loss {
    SESSION_TIMED_OUT, /* the time limit of the request is over; it was cancelled */
    SESSION_CLOSED,    /* the server closed its output or exited */
    SESSION_LOST,      /* the transport failed, HTTP answered with an error status, or with
                          something that is no MCP */
    SESSION_ECHOED,    /* the server sent the request back, as no MCP server does */
};

struct mcp_session_events {
    /* The server responded; `took_us` after the request was sent. */
    void (*response)(void *to, uint64_t request, const struct mcp_message *m, int64_t took_us);
    /* No response will come. `http_status` is 0 if there was none. */
    void (*no_response)(void *to, uint64_t request, enum mcp_session_loss loss, struct str why,
                        unsigned http_status);
    /* `request` is the open request whose progress token the notification has; else 0. */
    void (*notification)(void *to, const struct mcp_message *m, uint64_t request);
    void (*server_request)(void *to, const struct mcp_message *m);
    /* The server sent something that the protocol does not allow: `what`. */
    void (*violation)(void *to, struct str what, struct str text);
};

struct mcp_session {
    struct actions actions;
    const struct mcp_session_events *events;
    void *to;
    struct map pending; /* number to struct mcp_session_request, in order of sending */
    size_t open_count;  /* pending requests that are not cancelled */
    uint64_t last_request;
    uint64_t
        first_id; /* JSON-RPC id of request number 1: 1, or set by the owner at the start */
    int64_t timeout_us; /* of a request; 0: none */
    int64_t now_us;
    uint64_t timer_count; /* number of the last timer */
    bool timer_set;
    bool closed;         /* the server sends nothing more */
    bool loss_announced; /* set by EVENT_UPSTREAM_LOST until the next message */
    struct arena arena;  /* for one event */
};

/* `timeout_us` limits the wait for each response; 0: no limit. */
void mcp_session_init(struct mcp_session *s, struct action_sink *out, int64_t timeout_us,
                      const struct mcp_session_events *events, void *to);
void mcp_session_release(struct mcp_session *s);

void mcp_session_step(struct mcp_session *s, const struct event *ev);

/* Adds a request that the owner composes and sends with mcp_session_send(). Returns its
 * number. */
uint64_t mcp_session_add_request(struct mcp_session *s, struct str method);

/* Returns the number that the next request gets. */
static inline uint64_t mcp_session_next_request(const struct mcp_session *s)
{
    return s->last_request + 1;
}
void mcp_session_send(struct mcp_session *s, struct str message);

/* Composes and sends. `params` is JSON; empty: none. */
uint64_t mcp_session_request(struct mcp_session *s, struct str method, struct str params);
void mcp_session_notify(struct mcp_session *s, struct str method, struct str params);

/* Stops waiting for a request without telling the server: the owner sends
 * notifications/cancelled itself. Its response is ignored. */
void mcp_session_forget(struct mcp_session *s, uint64_t request);

/* Sends notifications/cancelled and stops waiting. Its response is ignored. mcphttp/client
 * aborts the HTTP request of a stateless call instead, so that the end of the session does not
 * wait for it. */
void mcp_session_cancel(struct mcp_session *s, uint64_t request, struct str reason);

/* Respond to a server request; `id` and `result` are JSON. */
void mcp_session_respond(struct mcp_session *s, struct str id, struct str result);
void mcp_session_reject(struct mcp_session *s, struct str id, int64_t code, struct str message);

#endif

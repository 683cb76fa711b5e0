/* trace/message-owner.h - decides which client request a server message belongs to.
 *
 * The one decision for operations (ops/op-builder.h) and the index of a replay
 * (index/index-build.h). For server requests, and for notifications that name no request
 * themselves by a progress token, an id or a subscription. In this order:
 *
 * 1. The message came on a stream with exactly one open request: that request.
 * 2. The message names a task: the request that waits for the result of the task.
 * 3. Else the candidates are the requests in flight on its stream; if none is open on it, like
 *    on that of a GET, those of its session or connection; without sessions, those of the same
 *    protocol (stateful or stateless) on the server, but no initialize. Pings, server/discover
 *    and subscriptions are never candidates. For a server request those count first whose
 *    method allows the server to send requests: calls, reads, results of tasks.
 *    One candidate is the owner, inferred; several make the message ambiguous.
 *
 * The two users read the result differently. Operations show a link only if it is certain or
 * inferred. A replay has to send every message at some point: it also sends a message with an
 * OWNER_CONCURRENT request, and finds the owner of an ambiguous server request by later
 * messages (index/attribute.h).
 *
 * Looks at no more than MESSAGE_OWNER_MAX open requests. Pure. */
#ifndef TRACE_MESSAGE_OWNER_H
#define TRACE_MESSAGE_OWNER_H

#include "trace/pairing.h"

enum { MESSAGE_OWNER_MAX = 256 };

enum owner_kind {
    OWNER_NONE,       /* no request could own it */
    OWNER_AMBIGUOUS,  /* several could; `request` is the oldest of them */
    OWNER_CONCURRENT, /* the only candidate; but it has a stream of its own, and the message
                         came on another one, or the client is unknown (HTTP without sessions)
                       */
    OWNER_INFERRED,   /* the only candidate */
    OWNER_CERTAIN,    /* by stream or task; on a stream it may be detached */
};

struct message_owner {
    enum owner_kind kind;
    const struct pairing_request *request; /* NULL if OWNER_NONE */
    struct scope_ref scope;                /* where open requests were looked for */
    bool any_open;                         /* a request that owns messages is in flight there */
};

/* Finds the owner of a server message. `is_request`: it is a server request. `task`: the id of
 * the task that it names; may be empty. */
struct message_owner message_owner_find(const struct pairing *pairs,
                                        const struct scope_chain *scopes, bool is_request,
                                        struct str task);

/* The same as if no request was open on the stream of the message: rules 2 and 3 among the
 * requests of its session, connection or server. */
struct message_owner message_owner_in_session(const struct pairing *pairs,
                                              const struct scope_chain *scopes, bool is_request,
                                              struct str task);

/* Whether the server may send requests while it works on a request of this method. */
bool message_owner_allows_requests(const struct mcp_method *known);

/* Whether a request is a subscription, whose stream belongs to the whole session. */
static inline bool message_owner_is_subscription(const struct pairing_request *q)
{
    return q->known && q->known->class == MCP_CLASS_LISTEN;
}

#endif

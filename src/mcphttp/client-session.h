/* mcphttp/client-session.h - composes the client's HTTP requests from what it knows of the
 * server: URL, session id, negotiated version, Mcp-Param headers.
 *
 * A message that names its protocol version is stateless: its headers repeat values of the
 * body. All others belong to the session. The caller decides what is sent, and when. */
#ifndef MCPHTTP_CLIENT_SESSION_H
#define MCPHTTP_CLIENT_SESSION_H

#include "engine/engine.h"
#include "mcphttp/param-headers.h"
#include "wire/url.h"

/* The result of initialize; empty: not known. */
struct client_negotiated {
    struct str session_id;
    struct str version;
};

/* The protocol version that a message names in _meta; empty: none. */
struct str client_session_message_version(const struct mcp_message *m, struct arena *a);

/* Adds the headers for a POST of `m`; NULL: of a batch. `version` is empty for a message of the
 * stateful protocol. The values are borrowed, or allocated in `a`. */
void client_session_post_headers(struct headers *to, const struct client_negotiated *negotiated,
                                 const struct param_headers *params,
                                 const struct mcp_message *m, struct str version,
                                 struct arena *a);

/* Adds the headers for a GET. `last_event_id` is empty unless a stream is resumed. */
void client_session_get_headers(struct headers *to, const struct client_negotiated *negotiated,
                                struct str last_event_id);

void client_session_delete_headers(struct headers *to,
                                   const struct client_negotiated *negotiated);

struct client_session {
    struct buf target;              /* path and query of the URL */
    struct buf sse_endpoint;        /* HTTP+SSE: target of the endpoint event; or empty */
    struct buf session_id, version; /* from the response to initialize; or empty */
    struct buf stateless_version;   /* of the last stateless request; or empty */
    struct param_headers param_headers;
};

/* `url` must have a path. */
void client_session_init(struct client_session *p, const struct url *url);
void client_session_release(struct client_session *p);

/* Sets one of the bufs above; it becomes empty if `value` cannot be sent in a header. */
void client_session_set_value(struct buf *to, struct str value);

/* Forgets session id and versions, for another initialize. */
void client_session_reset(struct client_session *p);

/* Compose a request. Its strings are borrowed from `p` or allocated in the arena; the caller
 * releases its headers. */
void client_session_compose_get(const struct client_session *p, struct str last_event_id,
                                struct action_request *out);
void client_session_compose_delete(const struct client_session *p, struct action_request *out);

/* `m` is the message in `text`, NULL for a batch. True: the message is stateless. */
bool client_session_compose_post(struct client_session *p, const struct mcp_message *m,
                                 struct str text, struct arena *a, struct action_request *out);

#endif

/* mcphttp/legacy-sse.h - sessions of HTTP+SSE clients (2024-11-05), on the server's side.
 *
 * A GET opens a stream and with it a session. The first event names the endpoint to POST
 * messages to: LEGACY_SSE_PATH with a random session id in the query. Each POST is accepted at
 * once; all messages of the server are sent on the stream. Events have no ids: the session ends
 * with its stream.
 *
 * Composes responses and events and puts them into a sink. The caller decides which requests
 * are allowed, which path opens a stream, and how many sessions there may be. */
#ifndef MCPHTTP_LEGACY_SSE_H
#define MCPHTTP_LEGACY_SSE_H

#include "mcphttp/http-response.h"
#include "mcphttp/session-ids.h"

#define LEGACY_SSE_PATH "/message"

struct legacy_sse_session {
    void *owner;       /* for the caller */
    uint64_t exchange; /* of its stream */
    char id[SESSION_ID_LEN + 1];
};

struct legacy_sse {
    struct action_sink *out;                    /* borrowed */
    void (*fill_random)(void *to, size_t size); /* cryptographically random bytes */
    struct map by_id, by_exchange;              /* to struct legacy_sse_session */
    struct http_response response;
    struct buf text; /* the event being composed */
};

void legacy_sse_init(struct legacy_sse *s, struct action_sink *out,
                     void (*fill_random)(void *to, size_t size));
void legacy_sse_release(struct legacy_sse *s); /* with all sessions */

/* Opens the stream on `exchange`, and a session. */
struct legacy_sse_session *legacy_sse_open(struct legacy_sse *s, uint64_t exchange);

/* True if a request is a message to a session, even to an unknown one. */
bool legacy_sse_is_message(struct str method, struct str path, struct str query);

/* The session id in the query of such a request. */
struct str legacy_sse_session_id(struct str query);

/* The session that a query names; NULL: none. */
struct legacy_sse_session *legacy_sse_find(const struct legacy_sse *s, struct str query);

/* The session whose stream is on `exchange`; NULL: none. */
struct legacy_sse_session *legacy_sse_find_exchange(const struct legacy_sse *s,
                                                    uint64_t exchange);

/* Responds to a POST with 202. */
void legacy_sse_accept(struct legacy_sse *s, uint64_t exchange);

/* Sends a message on the session's stream. */
void legacy_sse_send(struct legacy_sse *s, const struct legacy_sse_session *x,
                     struct str message);

/* Frees the session: ends its stream, or after its client disconnected. */
void legacy_sse_end(struct legacy_sse *s, struct legacy_sse_session *x);
void legacy_sse_remove(struct legacy_sse *s, struct legacy_sse_session *x);

#endif

/* record/sse-endpoints.h - tracks the URLs to which clients of HTTP+SSE servers post messages.
 *
 * An HTTP+SSE server sends an `endpoint` event at the start of each stream. mcpreel resolves
 * its URL like a client would, remembers it, since messages that are posted there belong to the
 * session of that stream, and sends the client a URL that leads through mcpreel.
 *
 * The session id may be anywhere in the URL, so the whole URL is a secret: only a hash is kept,
 * as with other session ids, and recorded URLs have placeholders for everything that may be the
 * id. */
#ifndef RECORD_SSE_ENDPOINTS_H
#define RECORD_SSE_ENDPOINTS_H

#include "mcphttp/session-ids.h"
#include "mcphttp/url-rewrite.h"

/* A parsed endpoint event. */
struct sse_endpoints_event {
    struct str target;     /* path and query at the server */
    struct str client_url; /* URL for the client (mcphttp/url-rewrite.h) */
};

/* Parses the data of an endpoint event. ERR_PEER if it points to another server or cannot be
 * parsed; the message has no more of it than its origin. The result borrows from `a` and
 * `said`. */
bool sse_endpoints_parse(struct sse_endpoints_event *out, struct str said,
                         const struct url *server, const struct url_rewrite_client *client,
                         struct arena *a, struct err *e) MUST_CHECK;

struct sse_endpoints {
    struct session_ids *ids;  /* borrowed: numbers all sessions of the recording */
    struct recent_keys paths; /* of all endpoints */
    struct recent_keys
        ended_sessions; /* numbers of sessions; a session may have several endpoints */
};

void sse_endpoints_init(struct sse_endpoints *p, struct session_ids *ids);
void sse_endpoints_release(struct sse_endpoints *p);

/* Adds the endpoint of a stream and returns the number of its session: `session`, or a new one
 * if that is 0. If two streams have the same endpoint, messages belong to the later one. */
uint64_t sse_endpoints_add(struct sse_endpoints *p, struct str target, uint64_t session);

/* Ends all endpoints of a session, because its stream has ended. */
void sse_endpoints_end_session(struct sse_endpoints *p, uint64_t session);

/* Finds the session of a POST. SESSION_NONE: no endpoint has that path. */
enum session_state sse_endpoints_find(const struct sse_endpoints *p, struct str path,
                                      struct str query, uint64_t *session);

/* Copies an endpoint, or a part of it, with placeholders for random segments of the path and
 * for the values of the query. */
struct str sse_endpoints_mask(struct str text, struct arena *a);
struct str sse_endpoints_mask_query(struct str query, struct arena *a);

#endif

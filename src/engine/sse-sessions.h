/* engine/sse-sessions.h - clients that speak HTTP+SSE, as 2024-11-05 has it; the server's side.
 *
 * A session is the stream of a GET. Its first event tells where messages are to be posted: to
 * SSE_SESSIONS_PATH, with an id in the query that nobody can guess. Each of them is accepted
 * at once; all that the server says goes out on the stream. Events have no ids: when the
 * stream is gone, so is the session.
 *
 * Composes what is to be sent and puts it into a sink. Which request is let in, which path
 * opens a stream and how many sessions there may be is for others to say. */
#ifndef ENGINE_SSE_SESSIONS_H
#define ENGINE_SSE_SESSIONS_H

#include "engine/http-answer.h"
#include "engine/session-ids.h"

#define SSE_SESSIONS_PATH "/message"

struct sse_session {
    void *user;        /* the owner's */
    uint64_t exchange; /* of its stream */
    char id[SESSION_ID_LEN + 1];
};

struct sse_sessions {
    struct action_sink *out;               /* borrowed */
    void (*random)(void *to, size_t size); /* bytes nobody can guess */
    struct map by_id, by_exchange;         /* to struct sse_session */
    struct http_answer answer;
    struct buf text;
};

void sse_sessions_init(struct sse_sessions *s, struct action_sink *out,
                       void (*random)(void *to, size_t size));
void sse_sessions_release(struct sse_sessions *s); /* and all sessions */

/* A stream begins on an exchange, and with it a session. */
struct sse_session *sse_sessions_open(struct sse_sessions *s, uint64_t exchange);

/* Whether a request is a message to a session, be it one that is not there. */
bool sse_sessions_means(struct str method, struct str path, struct str query);

/* The id that the query of such a request has. */
struct str sse_sessions_id(struct str query);

/* The session that a query names; NULL: there is none. */
struct sse_session *sse_sessions_find(const struct sse_sessions *s, struct str query);

/* The session whose stream is on an exchange; NULL: none is. */
struct sse_session *sse_sessions_on(const struct sse_sessions *s, uint64_t exchange);

/* What was posted was taken. */
void sse_sessions_accept(struct sse_sessions *s, uint64_t exchange);

void sse_sessions_send(struct sse_sessions *s, const struct sse_session *x, struct str message);

/* The server ends it, or its client has gone. Gives `x` back. */
void sse_sessions_end(struct sse_sessions *s, struct sse_session *x);
void sse_sessions_gone(struct sse_sessions *s, struct sse_session *x);

#endif

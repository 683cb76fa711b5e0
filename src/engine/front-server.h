/* engine/front-server.h - one of the servers behind an HTTP front: whom it is for, and what
 * waits for it or for its client. */
#ifndef ENGINE_FRONT_SERVER_H
#define ENGINE_FRONT_SERVER_H

#include "engine/http-turns.h"
#include "engine/server-link.h"
#include "engine/sse-sessions.h"
#include "engine/unheard.h"
#include "mcp/version.h"
#include "trace/limits.h"

enum front_role { SPARE, OF_SESSION, SHARED_LEGACY, SHARED_MODERN };

struct front_server {
    uint64_t number;
    enum front_role role;
    bool waiting;  /* it has no process yet: all that may run do. What is asked waits */
    bool greeting; /* by us: what is asked waits */
    bool ending;
    struct server_link link; /* unless it is a spare */
    struct buf asked;        /* while it waits or is greeted: lines, after a byte each */
    uint64_t timer;          /* of the greeting */
    int64_t used_us;         /* when somebody last had to do with it */
    int64_t replied_us;      /* see front_server_may_reply() */

    /* Of one that is for a session: */
    uint64_t session; /* 0: it has no name yet */
    char id[SESSION_ID_LEN + 2];
    enum mcp_version version; /* that was agreed on */
    struct http_turn *ear;    /* for what answers nothing; NULL: its client does not listen */
    struct unheard unheard;   /* while it does not */
    struct sse_session *sse;  /* it speaks HTTP+SSE; NULL: it does not */
};

struct front_server *front_server_new(uint64_t number);
void front_server_free(struct front_server *s);

/* Greeted, it takes no more than so many bytes. */
#define FRONT_SERVER_ASKED LIMIT_LINE

/* The oldest of what its client has not heard, if that is too much; the caller's to free. */
#define FRONT_SERVER_UNHEARD ((size_t)4 << 20)
struct unheard_item *front_server_excess(struct front_server *s);

/* Its session is that of a client that speaks HTTP+SSE, whose stream begins now. */
void front_server_open_sse(struct front_server *s, struct sse_sessions *sse, uint64_t exchange,
                           struct session_ids *ids);

/* What such a session is called among all of them, by its id. */
struct str front_server_sse_name(struct str id, struct arena *a);

/* What it was asked is answered with an error: with a status of its own, unless the answer has
 * begun. Who has taken its request back would not know what that is about. */
void front_server_fail(struct front_server *s, struct http_turns *t, struct sse_sessions *sse,
                       const struct http_verdict *v);

/* Of servers by their number, the one that nobody waits for, and has not for the longest time;
 * NULL: there is none. */
struct front_server *front_server_idle(const struct map *servers, const struct http_turns *t);

/* Where something goes that it says to the client of its session, and that belongs to no
 * request for sure: to the only one that is open, else to the stream that the client listens
 * on, else to the oldest request; `apart`: to that stream first. Who is there comes before who
 * may come back. NULL: there is nobody, or not yet. */
struct http_turn *front_server_whom(const struct front_server *s, const struct http_turns *t,
                                    bool apart);

/* Whether mcpreel may respond to one more request of the server in the place of its clients.
 * At most FRONT_SERVER_REPLIES at once, then one more for each second: a server that sends a
 * request for every response must not keep itself and mcpreel busy. */
enum { FRONT_SERVER_REPLIES = 100 };
bool front_server_may_reply(struct front_server *s, int64_t now_us);

/* What one that is shared is greeted with: of the era without sessions it is asked whether it
 * speaks that. Its answer has FRONT_SERVER_HELLO_ID. */
#define FRONT_SERVER_HELLO_ID "\"mcpreel-greeting\""
struct str front_server_hello(const struct front_server *s);

/* Whether that is an answer that it can be used after; else `*v` is what those are told who
 * wait for it. Of one of the era without sessions, in which revisions it speaks that: a JSON
 * array. */
#define FRONT_SERVER_MODERN "[\"2026-07-28\"]"
bool front_server_greeted(const struct front_server *s, const struct mcp_message *m,
                          struct str *versions, struct http_verdict *v, struct arena *a);

/* Whether a request was refused for the revision it was in. */
bool front_server_wants_other(const struct mcp_message *m);

#endif

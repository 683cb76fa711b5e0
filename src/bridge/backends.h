/* bridge/backends.h - manages the stdio server processes ("backends") behind the HTTP bridge:
 * which run, for which client each one is, and what is sent to it.
 *
 * A backend is the spare, belongs to one session, or is shared by all clients without a
 * session: one for the stateful and one for the stateless protocol. At most `max` processes
 * run. A backend that is ending frees its slot at once; the new one is created with
 * `start_deferred` and its process starts when the old process has exited. Up to `max` further
 * backends may be ending. Lines for a backend that has no process yet, or has not answered
 * mcpreel's handshake, wait in its send queue.
 *
 * Does no I/O: puts actions into a sink (start a server, send a line, report an undelivered
 * message). Does not know which HTTP responses wait for a backend; the caller ends those before
 * it retires the backend. */
#ifndef BRIDGE_BACKENDS_H
#define BRIDGE_BACKENDS_H

#include "base/line-queue.h"
#include "bridge/id-map.h"
#include "mcp/version.h"
#include "mcphttp/legacy-sse.h"
#include "mcphttp/pending-responses.h"
#include "trace/limits.h"

enum backend_role {
    BACKEND_SPARE,
    BACKEND_SESSION,
    BACKEND_SHARED_STATEFUL,
    BACKEND_SHARED_STATELESS
};

/* One server process: the client it serves, and the messages that wait for it or for that
 * client. */
struct backend {
    uint64_t number;
    enum backend_role role;
    bool start_deferred; /* set at creation if `max` processes run; cleared when its process
                            starts. Lines are queued meanwhile */
    bool in_handshake;   /* set while mcpreel's own handshake is unanswered. Lines are queued
                            meanwhile */
    bool ending;
    struct id_map ids;        /* not initialized while it is the spare */
    struct buf send_queue;    /* lines that wait, each after a byte that says whose it is */
    uint64_t handshake_timer; /* 0: none was set */
    int64_t last_used_us;     /* time of the last client activity */
    int64_t response_due_us;  /* see backend_may_respond() */

    /* Only with BACKEND_SESSION: */
    uint64_t session; /* number of the session; 0 until it has an id */
    char id[SESSION_ID_LEN + 2];
    enum mcp_version version;            /* negotiated by initialize */
    struct pending_response *get_stream; /* the client's GET stream; NULL: it has none */
    struct message_queue undelivered;    /* messages for a client without a stream */
    struct legacy_sse_session
        *sse; /* the session's HTTP+SSE stream; NULL: it uses Streamable HTTP */
};

struct backend *backend_new(uint64_t number);
void backend_free(struct backend *s);

/* Limit of the send queue, in bytes: clients are rejected with 503 beyond it. */
#define BACKEND_SEND_QUEUE_MAX LIMIT_LINE

/* Takes the oldest undelivered message if there are more than MESSAGE_QUEUE_MAX or
 * BACKEND_UNDELIVERED_MAX bytes of them; else returns NULL. The caller frees it. */
#define BACKEND_UNDELIVERED_MAX ((size_t)4 << 20)
struct message_queue_item *backend_take_excess(struct backend *s);

/* Opens an HTTP+SSE session on the exchange, whose response is the stream of that session. */
void backend_open_sse(struct backend *s, struct legacy_sse *sse, uint64_t exchange,
                      struct session_ids *ids);

/* Returns the key of an HTTP+SSE session in `struct session_ids`. No Mcp-Session-Id header can
 * have that value. */
struct str backend_sse_session_id(struct str id, struct arena *a);

/* Answers all open requests of the backend with an error: as an HTTP status if no response has
 * started, else as a JSON-RPC error in the stream. A request that its client has cancelled gets
 * no JSON-RPC error. */
void backend_fail_requests(struct backend *s, struct pending_responses *t,
                           struct legacy_sse *sse, const struct http_rejection *v);

/* Returns the least recently used backend for which no client waits, or NULL. */
struct backend *backend_find_idle(const struct map *servers, const struct pending_responses *t);

/* Returns the response on which to send a message that cannot be attributed to a request: the
 * only open request, else the GET stream, else the oldest open request; with `other_stream` the
 * GET stream first. Connected clients take precedence over disconnected ones that may resume.
 * NULL: there is no such response. */
struct pending_response *backend_find_stream(const struct backend *s,
                                             const struct pending_responses *t,
                                             bool other_stream);

/* Returns whether mcpreel may respond to one more server request on behalf of its clients. At
 * most BACKEND_RESPONSES_MAX at once, then one more for each second: a server that sends a
 * request for every response must not keep itself and mcpreel busy. */
enum { BACKEND_RESPONSES_MAX = 100 };
bool backend_may_respond(struct backend *s, int64_t now_us);

/* Returns the request with which mcpreel opens a shared backend: initialize, or server/discover
 * for the stateless protocol. The response has the id BACKEND_HANDSHAKE_ID. */
#define BACKEND_HANDSHAKE_ID "\"mcpreel-greeting\""
struct str backend_handshake_request(const struct backend *s);

/* Returns whether the response to the handshake makes the backend usable; else sets `*v` to the
 * rejection for the clients that wait. Sets `*versions` to the stateless protocol versions of
 * the server, a JSON array. */
#define BACKEND_STATELESS_VERSIONS "[\"2026-07-28\"]"
bool backend_check_handshake(const struct backend *s, const struct mcp_message *m,
                             struct str *versions, struct http_rejection *v, struct arena *a);

/* Returns whether a response is the error "unsupported protocol version". */
bool backend_is_version_error(const struct mcp_message *m);

struct backends {
    struct action_sink *out; /* borrowed */
    size_t max;
    struct map all;      /* number to struct backend, including those that are ending */
    struct map sessions; /* number to struct backend */
    struct map timers;   /* handshake timer to struct backend */
    struct session_ids ids;
    size_t active;                    /* not ending; including those without a process */
    size_t processes;                 /* started and not exited */
    uint64_t last_number, last_timer; /* counters */
    struct backend *spare;            /* NULL: there is none */
    struct backend *shared[2]; /* for clients without a session: stateful, stateless; or NULL */
};

void backends_init(struct backends *f, size_t max, struct action_sink *out);
void backends_release(struct backends *f);

/* Find a backend by its number, or by that of its session. NULL: there is none. */
struct backend *backends_find(const struct backends *f, uint64_t number);
struct backend *backends_find_session(const struct backends *f, uint64_t session);

/* Says whether another backend can be created: yes, if another one retires first, or not at all
 * because too many are ending. */
enum backends_capacity { BACKENDS_ROOM, BACKENDS_ROOM_IF_ONE_RETIRES, BACKENDS_NO_ROOM };
enum backends_capacity backends_room(const struct backends *f);

/* Starts a spare for the first client. There must be room. */
void backends_start_spare(struct backends *f, int64_t now_us);

/* Returns a backend for that role: the spare, or a new one. There must be a spare or room. */
struct backend *backends_assign(struct backends *f, enum backend_role role, int64_t now_us);

/* Registers a backend by the number of its session. */
void backends_add_session(struct backends *f, struct backend *s);

/* Puts an action about a backend into the sink. */
void backends_put_action(struct backends *f, enum action_kind kind, const struct backend *s,
                         struct str text);

/* Puts an action for a message between mcpreel itself and a backend: ACTION_SEND_UPSTREAM,
 * ACTION_UNDELIVERED. */
void backends_put_mcpreel_action(struct backends *f, enum action_kind kind,
                                 const struct backend *s, struct str text);

/* Sends the handshake and starts its timer; does both later if the backend has no process
 * yet. */
void backends_start_handshake(struct backends *f, struct backend *s);

/* After the response to the handshake: the first stops its timer, the second ends it and sends
 * the queued lines. A notification that has to precede those lines is sent in between. */
void backends_stop_handshake_timer(struct backends *f, struct backend *s);
void backends_flush_queue(struct backends *f, struct backend *s);

/* Takes the backend whose handshake timed out; NULL: it has answered or is ending. */
struct backend *backends_take_timer(struct backends *f, uint64_t timer);

/* Sends or queues a line of a client, or with `by_mcpreel` a line of mcpreel itself. Ignores an
 * empty line. */
void backends_send(struct backends *f, struct backend *s, struct str text, bool by_mcpreel);

/* Keeps a message until its client opens a stream; reports those beyond the limit as
 * undelivered. */
void backends_keep_undelivered(struct backends *f, struct backend *s, struct str text);

/* Marks a backend as ending, ends its session and reports its kept messages as undelivered. */
void backends_retire(struct backends *f, struct backend *s);

/* Frees a retired backend whose process has exited, and starts the oldest deferred one. */
void backends_remove(struct backends *f, struct backend *s);

#endif

/* replay/session.h - replay state of one connected client.
 *
 * A client is assigned one recorded session by its first matched request
 * (replay/session-assign.h) and uses its calls; every initialize resets what it has used.
 * Stateless requests (2026-07-28) are matched against the stateless calls first; all clients
 * share the set of stateless calls already used. initialize, server/discover, ping and
 * notifications are answered for every client and use nothing. An unmatched request gets an
 * error that names the nearest recorded call, or is forwarded to the passthrough server.
 *
 * Does no I/O. Owns its player and its used set; borrows everything in `struct
 * replay_shared`. */
#ifndef REPLAY_SESSION_H
#define REPLAY_SESSION_H

#include "match/match.h"
#include "replay/passthrough.h"
#include "replay/player.h"
#include "replay/replay-report.h"
#include "replay/session-assign.h"
#include "replay/version-bridge.h"

enum session_on_miss {
    ON_MISS_ERROR,       /* an error, and the replay ends unless `fail_at_end` */
    ON_MISS_WARN,        /* an error, and the replay goes on */
    ON_MISS_PASSTHROUGH, /* the upstream answers */
};

/* Shared by all clients of a replay. */
struct replay_shared {
    const struct index *index;
    struct matcher *matcher;
    struct replay_report *report;
    struct passthrough *passthrough;
    struct actions *actions;
    enum session_on_miss on_miss;
    bool fail_at_end;         /* goes on after a miss, ends with exit code 1 */
    bool mcp_recorder_errors; /* error texts like those of mcp-recorder */
    bool hide_details;        /* LOG_DEBUG is not shown */
    double pace;
    uint64_t last_timer; /* the latest timer that was set */
    struct session_assign session_assign;
    struct used_set stateless_used; /* used by stateless requests */
    uint32_t discover_call;         /* recorded call; 0: none */
    uint32_t ping_call[2];          /* the same, in the stateful and the stateless protocol */
    uint64_t refused_clients;       /* version refused, and not served since */
    bool shared_refused;            /* the same for the shared session */
    struct version_bridge version_bridge; /* warnings about their versions */
    int exit_code;                        /* of the replay, so far */
    bool must_end;                        /* set by a miss or a read error */
};

struct session {
    struct replay_shared *shared; /* borrowed */
    struct player player;
    struct used_set used_set;
    uint32_t recorded_session; /* index; until `assigned` the next client's, too */
    bool assigned;             /* set by the first matched request, cleared by initialize */
    bool initialized;          /* set by initialize */
    enum mcp_version requested_version; /* set by initialize */
    bool stateless_request;             /* the current request is stateless */
    bool is_shared;                     /* by clients that cannot be distinguished */
    bool version_refused; /* set when a version was refused, cleared when a request is served */
    bool input_closed;    /* the client closed its input */
    bool warned_ambiguous; /* the warning about redacted values was logged */
    struct arena arena;    /* for one message */
};

void session_shared_init(struct replay_shared *h); /* after the caller has filled in the rest */
void session_shared_release(struct replay_shared *h);

void session_init(struct session *s, struct replay_shared *host);
void session_release(struct session *s);

/* Sends the preamble: messages that the recorded server sent unasked. */
void session_open(struct session *s, int64_t now_us);
void session_handle_record(struct session *s, const struct record *r, int64_t now_us);

/* The same for a message of an HTTP exchange, classified already as `as`. */
void session_handle_message(struct session *s, uint64_t exchange, struct json_val v,
                            const struct mcp_message *as, int64_t now_us);

/* The client closed its input. `hurry`: sends delayed steps at once. */
void session_close(struct session *s, bool hurry, int64_t now_us);

/* Over HTTP: the client closed an exchange; or it has no stream for server requests on it. */
void session_handle_exchange_closed(struct session *s, uint64_t exchange, int64_t now_us);
void session_handle_unaskable(struct session *s, uint64_t exchange, int64_t now_us);
void session_handle_timer(struct session *s, uint64_t timer, int64_t now_us);

#endif

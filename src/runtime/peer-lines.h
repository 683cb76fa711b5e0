/* runtime/peer-lines.h - connects a peer to an engine: the server's messages become events, its
 * stderr goes to the log.
 *
 * The engine gets EVENT_UPSTREAM_LOST if a message was lost or an HTTP server ended the
 * session, before the error response that it causes. */
#ifndef RUNTIME_PEER_LINES_H
#define RUNTIME_PEER_LINES_H

#include "runtime/driver.h"
#include "runtime/peer.h"

enum { PEER_LINES_NOISE_MAX = 200 }; /* bytes of `first_noise` */

struct peer_lines_events {
    void (*closed)(void *to); /* no message follows; once. May be NULL */
    /* It ended; once, last. `why` is a sentence with the last line of its stderr, valid until
     * peer_lines_release(). */
    void (*exited)(void *to, struct str why);
};

struct peer_lines {
    struct driver_lines lines;
    enum log_level stderr_level; /* level at which its stderr is logged */
    struct str reconnect_hint;   /* as of struct peer_owner; may be set before the start, */
    struct traffic_recorder *recorder; /* and so may these three */
    bool no_get_stream;
    uint64_t conn;
    const struct peer_lines_events *events;
    void *to;
    struct peer *peer; /* NULL until the start */
    struct buf exit_reason;
    struct buf first_noise; /* the beginning of its first line that cannot be a message */
    bool exited;
};

/* Messages become events of the kind `kind`. */
void peer_lines_init(struct peer_lines *s, struct driver *driver, enum event_kind kind,
                     enum log_level level, const struct peer_lines_events *events, void *to);
void peer_lines_release(struct peer_lines *s);

/* As peer_start(). Call it once at most. */
bool peer_lines_start(struct peer_lines *s, struct loop *l, const struct peer_target *target,
                      struct err *e) MUST_CHECK;

/* As those of a peer; may be called from the engine's step. They do nothing if the server does
 * not run; peer_lines_end() returns false then. */
void peer_lines_send(struct peer_lines *s, struct str message);
bool peer_lines_end(struct peer_lines *s, bool await);
void peer_lines_stop(struct peer_lines *s);

#endif

/* cmd/server.h - a server that we start, as a peer of an engine.
 *
 * What it says is told to the engine; what it says on stderr goes to the log. */
#ifndef CMD_SERVER_H
#define CMD_SERVER_H

#include "base/buf.h"
#include "cmd/hearing.h"

struct server_events {
    void (*closed)(void *to); /* it says nothing more; once. May be NULL */
    /* It is no more; once, and last. `why` is a sentence with its last words, and lasts as
     * long as the server. */
    void (*gone)(void *to, struct str why);
};

struct server {
    struct hearing hearing;
    enum log_level level; /* of its stderr */
    const struct server_events *events;
    void *to;
    const char *name;
    struct stdio_child *child;
    struct buf why;
    bool ended;

    /* How it went: */
    int code, signum;      /* as stdio_child has them */
    struct buf last_words; /* the last line of its stderr */
};

/* What it says are events of the kind `as`. */
void server_init(struct server *s, struct drive *drive, enum event_kind as,
                 enum log_level level, const struct server_events *events, void *to);
void server_release(struct server *s); /* one that is not gone is killed */

/* Once at most. ERR_PEER if it cannot be started. `argv` is borrowed. */
bool server_start(struct server *s, struct loop *l, char *const *argv,
                  struct err *e) MUST_CHECK;

void server_send(struct server *s, struct str message); /* lost if there is none */

/* Nothing more will be sent to it. False if it is gone already or never ran; else it will
 * be gone. */
bool server_end(struct server *s);
void server_stop(struct server *s); /* its end is wanted now; it runs */

#endif

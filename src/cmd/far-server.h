/* cmd/far-server.h - a server at a URL, as a peer of an engine: what it says is told to the
 * engine, as what a server says that we start (cmd/server.h).
 *
 * It is never gone by itself: a request that it does not answer is answered with an error. That
 * no answer to a message began, or that it has ended the session, the engine is told as well
 * (EVENT_UPSTREAM_LOST): it has to begin anew, with the next request. The log hears of each
 * only with -v: the engine says it once. */
#ifndef CMD_FAR_SERVER_H
#define CMD_FAR_SERVER_H

#include "cmd/hearing.h"
#include "cmd/server-at.h"
#include "loop/timer.h"

struct far_server {
    struct hearing hearing;
    struct app app; /* as the engine has it, but for the log */
    struct log log;
    struct server_at at;
    struct timer *soon;     /* when the engine is done with what it does */
    struct buf waiting;     /* lines for the server until then, each with a newline */
    void (*gone)(void *to); /* after far_server_end(); once */
    void *to;
    bool runs;
    bool ended; /* the session, and the engine knows */
    bool lost;  /* what was asked last, and so it does */
};

/* What it says are events of the kind `as`. */
void far_server_init(struct far_server *s, struct drive *drive, enum event_kind as,
                     void (*gone)(void *to), void *to);
void far_server_release(struct far_server *s);

/* Once at most. `where` is borrowed during the call. */
bool far_server_start(struct far_server *s, struct loop *l, const struct remote *where,
                      struct err *e) MUST_CHECK;

/* At any time, the engine's steps included; lost if there is none. */
void far_server_send(struct far_server *s, struct str message);

/* Nothing more will be sent, and nothing is waited for. False if it never ran; else `gone`
 * will be called. */
bool far_server_end(struct far_server *s);

#endif

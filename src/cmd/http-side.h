/* cmd/http-side.h - the clients of an engine, on HTTP.
 *
 * Whole requests become events; the answers and streams that the engine wishes go out. Who
 * is not let in (by Host and Origin) never reaches the engine, nor does what is too long. The
 * pages that are let in can see their answers (wire/cors.h); what their browsers ask about that
 * is answered here. A client that does not take what it is sent is given up: to the engine it
 * has gone.
 *
 * Somebody may watch what passes, each thing before it does. */
#ifndef CMD_HTTP_SIDE_H
#define CMD_HTTP_SIDE_H

#include "base/map.h"
#include "cmd/drive.h"
#include "transport/http-gate.h"
#include "transport/http-server.h"
#include "wire/listen.h"

/* All of them, or none. What `asked` returns is handed in again; it is not heard of any more
 * after `refused`, `gone`, ACTION_ANSWER and ACTION_END. */
struct http_side_watch {
    void *(*asked)(void *to, const struct exchange *x);
    void (*sent)(void *to, void *seen, struct str bytes);
    void (*sent_all)(void *to, void *seen);
    void (*answered)(void *to, void *seen,
                     const struct action *a); /* what http_side_act() does */
    void (*refused)(void *to, void *seen, unsigned status,
                    const char *text); /* or answered without the engine */
    void (*gone)(void *to, void *seen, const struct exchange_fault *why);
};

struct http_side {
    struct drive *drive; /* borrowed */
    struct http_server *server;
    struct http_gate gate;
    struct http_asking *asking;  /* all that the engine has not ended */
    struct http_asking *at_hand; /* the one that it is being told of; NULL: none */
    struct map waiting;          /* those that it will answer later, by number */
    struct http_asking *answered;
    struct http_asking *spare;           /* for the next one; NULL: none */
    struct fields shared;                /* lines of the answer at hand */
    const struct http_side_watch *watch; /* the owner's to set before the loop runs; or NULL */
    void *to;
    uint64_t count;
    bool crowd;        /* somebody was told that there are too many */
    unsigned kept_out; /* why others were not let in, as far as the user was told */
    size_t body_max;   /* of a request */
    size_t queue_max;  /* untaken, before more is sent */
};

bool http_side_open(struct http_side *s, struct loop *l, struct drive *drive,
                    const struct listen *at, struct err *e) MUST_CHECK;
void http_side_close(struct http_side *s);

/* ACTION_ANSWER, ACTION_OPEN, ACTION_WRITE, ACTION_END; any other is not for clients. */
void http_side_act(struct http_side *s, const struct action *a);

/* Nobody is let in any more; `done` is called once all that was said has been taken. */
void http_side_finish(struct http_side *s, void (*done)(void *to), void *to);

#endif

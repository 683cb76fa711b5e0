/* cmd/as-client.h - an engine as the client of a server that we start, from its
 * start to its end.
 *
 * The session ends when the engine finishes, when the server does, or when it takes too
 * long; the server's stderr is logged at debug level. */
#ifndef CMD_AS_CLIENT_H
#define CMD_AS_CLIENT_H

#include "cmd/server.h"

struct as_client {
    struct drive drive;   /* its `actions` are what the engine is to be given as its sink */
    struct server server; /* says afterwards how it went */
    struct loop *loop;
    bool late;
};

void as_client_init(struct as_client *c, const struct app *app, drive_step_fn *step,
                    void *engine);
void as_client_release(struct as_client *c);

/* Runs the one session. ERR_PEER if the server cannot be started, or if the session is
 * not over after `limit_ms`. `argv` is borrowed. */
bool as_client_run(struct as_client *c, char *const *argv, uint64_t limit_ms,
                   struct err *e) MUST_CHECK;

#endif

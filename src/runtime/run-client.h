/* runtime/run-client.h - runs an engine as the client of a server, for one session.
 *
 * The session ends when the engine finishes, the server exits, or the time limit is reached.
 * The server's stderr is logged at debug level. */
#ifndef RUNTIME_RUN_CLIENT_H
#define RUNTIME_RUN_CLIENT_H

#include "runtime/peer-lines.h"

struct run_client {
    struct driver driver; /* `driver.actions` is the sink for the engine's actions */
    struct peer_lines server;
    struct loop *loop;
    bool timed_out;
};

void run_client_init(struct run_client *c, const struct app *app, driver_step_fn *step,
                     void *engine);
void run_client_release(struct run_client *c);

/* Runs the session. ERR_PEER if the server cannot be started, or if the session is not over
 * after `limit_ms`. `target` is borrowed. */
bool run_client_run(struct run_client *c, const struct peer_target *target, uint64_t limit_ms,
                    struct err *e) MUST_CHECK;

/* Returns the outcome of a run whose server was started; valid until run_client_release(). */
const struct peer_outcome *run_client_outcome(const struct run_client *c);

#endif

/* runtime/wait-ready.h - waits until an HTTP server can be reached: --wait-ready.
 *
 * Any HTTP response to a ping will do, except 502, 503 and 504, which a proxy sends as long as
 * the server behind it is not there. A server that is a process is not waited for. */
#ifndef RUNTIME_WAIT_READY_H
#define RUNTIME_WAIT_READY_H

#include "runtime/peer.h"

struct wait_ready {
    const struct app *app;
    const struct peer_target *target; /* borrowed */
    int64_t limit_us;                 /* 0: do not wait */
    int interrupted;                  /* result: the signal that ended the wait; 0: none */
};

/* Waits. ERR_PEER if the server could not be reached in time. */
bool wait_ready_run(struct wait_ready *r, struct err *e) MUST_CHECK;

#endif

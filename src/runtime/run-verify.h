/* runtime/run-verify.h - verifies every session of a recording against a server.
 *
 * Each recorded session gets its own process or HTTP session, one after another; the end of one
 * does not affect the others. Before each session the command of `--before` runs in a shell,
 * with its output on our standard error. */
#ifndef RUNTIME_RUN_VERIFY_H
#define RUNTIME_RUN_VERIFY_H

#include "runtime/run-client.h"
#include "verify/verify.h"

struct run_verify {
    const struct app *app;
    struct verify_config config;
    struct peer_target target;
    const char *before;    /* NULL: none */
    int64_t wait_ready_us; /* how long to wait for an HTTP server that cannot be reached yet */
    const struct verify_events *events;
    /* After each event, when what follows from it has been sent: the time to write the verdicts
     * that came meanwhile. May be NULL. */
    void (*stepped)(void *to);
    void *to; /* of `events` and `stepped` */

    /* Results: */
    uint32_t last_number; /* of the last call */
    uint64_t sessions;    /* that were begun */
    uint64_t rebound;     /* values of the live server that were sent */
    int interrupted;      /* the signal that ended the run; 0: none */
};

/* Runs all sessions. ERR_PEER if the server could not be started, reached or spoken to in any
 * session, or if the command of `before` failed; ERR_INPUT or ERR_IO if the recording could not
 * be read. After such an error, or a signal, no further session is run; its calls are blocked,
 * so that every call has a verdict. */
bool run_verify_run(struct run_verify *r, struct err *e) MUST_CHECK;

#endif

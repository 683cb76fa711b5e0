/* runtime/run-client.h - runs an engine as the client of a server, for one session.
 *
 * The engine gets EVENT_OPENED at the start, EVENT_RECORD for each message of the server,
 * EVENT_UPSTREAM_LOST if a message could not be delivered or an HTTP server ended the session
 * (before the error response that it causes), and EVENT_INPUT_CLOSED when no message follows:
 * a process closed its stdout, or an HTTP session was ended. ACTION_SEND and ACTION_FINISH are
 * its actions, beside timers and reports.
 *
 * The session ends when the engine finishes, the process exits, the time limit is reached, or a
 * signal comes. After ACTION_FINISH a process gets the time to exit, and an HTTP session is
 * deleted once open requests are answered (mcphttp/client.h). A run_client is for one session;
 * the next one needs a new one. */
#ifndef RUNTIME_RUN_CLIENT_H
#define RUNTIME_RUN_CLIENT_H

#include "runtime/peer-lines.h"

struct run_client_options {
    uint64_t limit_ms; /* 0: no limit */
    /* SIGINT, SIGTERM and SIGHUP end the server, a second one ends the run at once. Else they
     * have the effect they had before the run. */
    bool stop_on_signal;
    bool no_get_stream; /* as of struct peer_owner */
};

struct run_client {
    struct driver driver; /* `driver.actions` is the sink for the engine's actions */
    struct peer_lines server;
    struct loop *loop;
    bool timed_out;
    bool closed;     /* the server closed its output */
    bool ended;      /* the engine finished before that: the server's exit follows from it */
    int interrupted; /* the signal that ended the run; 0: none */
};

/* The server's stderr is logged at `stderr_level`. */
void run_client_init(struct run_client *c, const struct app *app, driver_step_fn *step,
                     void *engine, enum log_level stderr_level);
void run_client_release(struct run_client *c);

/* Runs the session; call it once. ERR_PEER if the process cannot be started, or if the session
 * is not over in time; ERR_USAGE for an invalid URL. A server that cannot be reached, and a
 * signal, are no errors: see the outcome and `interrupted`. `target` is borrowed until
 * run_client_release(). */
bool run_client_run(struct run_client *c, const struct peer_target *target,
                    const struct run_client_options *options, struct err *e) MUST_CHECK;

/* Returns the outcome of a run whose server was started; valid until run_client_release(). */
const struct peer_outcome *run_client_outcome(const struct run_client *c);

/* Sets `*e` to the reason why the server responded to no request: ERR_PEER. Returns false. */
bool run_client_explain_silence(const struct run_client *c, const struct peer_target *target,
                                struct err *e);

#endif

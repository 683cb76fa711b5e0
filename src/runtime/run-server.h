/* runtime/run-server.h - runs an engine as a server, on our standard input and output or over
 * HTTP.
 *
 * Ends when the engine finishes and its clients have read everything. On a signal the engine
 * gets EVENT_INPUT_CLOSED with `shutting_down`; a second signal ends the run at once. With
 * --end-with-stdin the end of standard input is as the first signal. */
#ifndef RUNTIME_RUN_SERVER_H
#define RUNTIME_RUN_SERVER_H

#include "runtime/http-clients.h"
#include "runtime/listen-config.h"
#include "runtime/peer-lines.h"

/* Where to listen for HTTP clients. */
struct run_server_listen {
    struct listen_address address;
    const struct listen_config *args; /* how to announce it; borrowed */
    struct str path;                  /* announced with it; empty: '/mcp' */
};

struct run_server {
    struct driver driver; /* `driver.actions` is the sink for the engine's actions */
    struct driver_lines lines;
    struct loop *loop;
    struct stdio_client *client;
    const struct run_server_listen *listen; /* borrowed; NULL: standard input and output */
    struct http_clients http_clients;
    struct stdin_end *stdin_end; /* NULL: not watched */
    struct peer_target upstream_target;
    struct peer_lines upstream; /* started by ACTION_START_UPSTREAM */
    bool upstream_ended;
    struct err upstream_error; /* why it could not be started */
    bool stop_requested;       /* set by the first signal */
    struct err stdout_error;   /* ERR_OK, or why standard output cannot be written */
};

/* `upstream` is the server that the engine may start. It and `listen` may be NULL. */
void run_server_init(struct run_server *s, const struct app *app, driver_step_fn *step,
                     void *engine, const struct peer_target *upstream,
                     const struct run_server_listen *listen);

/* Runs the session and releases everything. Returns the engine's exit code, or that of `*e` if
 * there was no session or standard output failed. */
int run_server_run(struct run_server *s, struct err *e);

#endif

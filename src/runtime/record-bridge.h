/* runtime/record-bridge.h - records the session of a stdio client with an HTTP server: forwards
 * its messages over HTTP, and records the HTTP side.
 *
 * A problem with the recording never stops the session. */
#ifndef RUNTIME_RECORD_BRIDGE_H
#define RUNTIME_RECORD_BRIDGE_H

#include "runtime/record-output.h"
#include "runtime/remote-config.h"

/* Runs until the client closes or a signal arrives. Returns 0, EXIT_SERVER if the server never
 * served anything, the code of `*e` if there was no session, or RECORD_OUTPUT_FAILED, with `*e`
 * set if standard output failed. */
int record_bridge_run(const struct app *app, struct record_path *target,
                      const struct record_settings *settings,
                      const struct remote_config *server, struct err *e);

#endif

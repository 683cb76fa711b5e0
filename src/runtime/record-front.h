/* runtime/record-front.h - records sessions of HTTP clients with servers on stdio: starts the
 * servers, runs the engine bridge/http-to-stdio, and records the HTTP side.
 *
 * A problem with the recording never stops a session. In the recording, `conn` of a process
 * record is the number of the server, with its session once it has one. */
#ifndef RUNTIME_RECORD_FRONT_H
#define RUNTIME_RECORD_FRONT_H

#include "runtime/listen-config.h"
#include "runtime/record-output.h"

struct record_front_settings {
    struct listen_address address;
    const struct listen_config *listening; /* borrowed */
    size_t max_servers;
    bool mcp_recorder_compat; /* see bridge/http-to-stdio.h */
};

/* Runs until a signal ends it, and returns 0 then. Else returns the code of `*e` (126 or 127 if
 * the server cannot be executed or found), or RECORD_OUTPUT_FAILED. */
int record_front_run(const struct app *app, struct record_path *target,
                     const struct record_settings *settings,
                     const struct record_front_settings *front, struct err *e);

#endif

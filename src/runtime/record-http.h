/* runtime/record-http.h - records sessions of HTTP clients with an HTTP server, through an HTTP
 * relay.
 *
 * A problem with the recording never stops a session. */
#ifndef RUNTIME_RECORD_HTTP_H
#define RUNTIME_RECORD_HTTP_H

#include "runtime/listen-config.h"
#include "runtime/record-output.h"
#include "runtime/remote-config.h"

struct record_http_settings {
    bool listens;   /* false: the client is on standard input and output */
    bool keep_host; /* forward the client's Host */
    struct listen_address address;
    const struct listen_config *listening; /* borrowed */
    const struct remote_config *server;    /* borrowed */
};

/* Runs until a signal ends it, and returns 0 then. Else returns the code of `*e`, or
 * RECORD_OUTPUT_FAILED. */
int record_http_run(const struct app *app, struct record_path *target,
                    const struct record_settings *settings,
                    const struct record_http_settings *http, struct err *e);

#endif

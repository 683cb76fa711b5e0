/* runtime/record-kinds.h - records with the kind of session that fits the client and the
 * server. */
#ifndef RUNTIME_RECORD_KINDS_H
#define RUNTIME_RECORD_KINDS_H

#include "runtime/record-front.h"
#include "runtime/record-http.h"

struct record_kinds_settings {
    struct record_http_settings http; /* `server` only if there is no command */
    size_t max_servers;
    bool mcp_recorder_compat; /* see bridge/http-to-stdio.h */
};

/* Records until the session ends, and returns what its kind returns. */
int record_kinds_run(const struct app *app, struct record_path *target,
                     const struct record_settings *settings,
                     const struct record_kinds_settings *kinds, struct err *e);

#endif

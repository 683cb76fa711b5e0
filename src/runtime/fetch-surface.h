/* runtime/fetch-surface.h - fetches the surface of a server that it starts or connects to.
 *
 * Runs the engine diff/surface-fetch for one session and ends the server. Secrets are removed
 * from the surface: a server may repeat credentials of its client in a description. */
#ifndef RUNTIME_FETCH_SURFACE_H
#define RUNTIME_FETCH_SURFACE_H

#include "mcp/surface.h"
#include "mcp/version.h"
#include "redact/redactor.h"
#include "runtime/peer.h"

struct fetch_surface {
    const struct app *app;
    const struct peer_target *target; /* borrowed */
    struct redactor *redactor;        /* borrowed; NULL: nothing is redacted */
    enum mcp_version version;         /* to request; MCP_VERSION_UNKNOWN: any */
    int64_t timeout_us;               /* of each request */
    int64_t wait_ready_us; /* how long to wait for an HTTP server that cannot be reached yet */
};

/* Adds what the server says to `to`, which is new. ERR_PEER if the server cannot be started,
 * reached or spoken to, or rejects a request; ERR_IO if a signal ended it. */
bool fetch_surface_run(const struct fetch_surface *f, struct surface *to,
                       struct err *e) MUST_CHECK;

#endif

/* runtime/run-scenario.h - runs the engine of a scenario with a server, and writes the
 * recording.
 *
 * The file gets its name when the scenario has succeeded, and replaces an older one then. After
 * a failure, and if nothing was recorded, the older one stays. A cassette has the messages
 * only, as mcp-recorder writes it: not the GET and DELETE of an HTTP session. */
#ifndef RUNTIME_RUN_SCENARIO_H
#define RUNTIME_RUN_SCENARIO_H

#include "format/format.h"
#include "redact/redaction.h"
#include "runtime/record-output.h"
#include "runtime/run-client.h"
#include "scenario/scenario.h"

struct run_scenario {
    const struct app *app;
    struct peer_target target;
    const struct scenario_plan *plan;
    uint32_t ordinal, first_number; /* as of scenario_init() */
    int64_t timeout_us;
    const struct record_settings *settings; /* what the header says; the redaction is for this
                                               scenario alone */
    const char *path;
    const struct format *format;
    const struct scenario_events *events;
    void *to;

    /* Results: */
    uint32_t last_number; /* of the last verdict */
    bool failed;
    bool spoke;            /* the server responded to a request */
    bool written;          /* the file was written or replaced */
    uint64_t interactions; /* requests and notifications of the client in it */
    struct err why;        /* if it failed without a response, or the server exited: how */
    int interrupted;       /* the signal that ended the run; 0: none */
};

/* Runs the scenario. A scenario that fails is no error. ERR_IO or ERR_USAGE if the file cannot
 * be written; ERR_USAGE for an invalid URL. */
bool run_scenario_run(struct run_scenario *r, struct err *e) MUST_CHECK;

#endif

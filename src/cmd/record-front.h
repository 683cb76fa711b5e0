/* cmd/record-front.h - recorded sessions of clients that come over HTTP to a server on stdio:
 * servers that we start, an engine that brings both together, a tap on the side of HTTP, and
 * the file.
 *
 * As everywhere, the sessions come before their recording. Processes stand in it by number, as
 * `conn` of their lines, with the number of their session once it has one. */
#ifndef CMD_RECORD_FRONT_H
#define CMD_RECORD_FRONT_H

#include "cmd/listening.h"
#include "cmd/reel.h"

struct record_front_settings {
    struct listen at;
    const struct listening_args *listening; /* borrowed */
    size_t max_servers;
    bool seed; /* as mcp-recorder (engine/http-front.h) */
};

/* Until a signal ends it, which is how it is meant to end: 0 then. Else why there was no
 * session (`*e` then; 126 or 127 if the server cannot be executed or found), or
 * RECORD_SESSION_FAILED. */
int record_front_run(const struct app *app, struct record_place *place,
                     const struct record_settings *how,
                     const struct record_front_settings *front, struct err *e);

#endif

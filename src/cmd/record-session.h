/* cmd/record-session.h - one recorded session: a relay, a tap on it, and the file.
 *
 * The session comes before its recording. No trouble of the file stops it or changes a
 * byte of it; what went wrong is told, each kind once. */
#ifndef CMD_RECORD_SESSION_H
#define CMD_RECORD_SESSION_H

#include "cmd/reel.h"

/* Until the server has ended. The exit code is the server's, or says why there was no
 * session (`*e` then), or RECORD_SESSION_FAILED. */
int record_session_run(const struct app *app, struct record_place *place,
                       const struct record_settings *how, struct err *e);

/* The exit code for a server that could not be started, as shells have it: not found, or found
 * and not to be executed; the rest is trouble of the usual kinds. */
int record_session_start_failure(int errnum, const struct err *e);

#endif

/* cmd/record-bridge.h - a recorded session of a stdio client with a server on HTTP: what the
 * client says goes to the server over HTTP, and the tap stands on that side.
 *
 * The session comes before its recording, as anywhere. */
#ifndef CMD_RECORD_BRIDGE_H
#define CMD_RECORD_BRIDGE_H

#include "cmd/reel.h"
#include "cmd/remote.h"

/* Until the client has gone, or a signal ends it: 0 then, or EXIT_SERVER if the server never
 * answered anything. Else why there was no session or not all of it (`*e` then), or
 * RECORD_SESSION_FAILED. */
int record_bridge_run(const struct app *app, struct record_place *place,
                      const struct record_settings *how, const struct remote *server,
                      struct err *e);

#endif

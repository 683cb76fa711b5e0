/* cmd/record-http.h - recorded sessions of clients that come over HTTP: an HTTP relay, a
 * tap on it, and the file.
 *
 * As with stdio, the sessions come before their recording. */
#ifndef CMD_RECORD_HTTP_H
#define CMD_RECORD_HTTP_H

#include "cmd/listening.h"
#include "cmd/reel.h"
#include "cmd/remote.h"

struct record_http_settings {
    bool listens;   /* else the client is on standard input and output */
    bool keep_host; /* the server gets the client's Host */
    struct listen at;
    const struct listening_args *listening; /* borrowed */
    const struct remote *server;            /* borrowed */
};

/* Until a signal ends it, which is how it is meant to end: 0 then. Else why there was no
 * session (`*e` then), or RECORD_SESSION_FAILED. */
int record_http_run(const struct app *app, struct record_place *place,
                    const struct record_settings *how, const struct record_http_settings *http,
                    struct err *e);

#endif

/* cmd/record-oauth.h - an HTTP relay through which clients can log in.
 *
 * Puts the addresses of engine/oauth into what passes the relay, and that of engine/redirect
 * into what the endpoint answers, and tells the user once of what it cannot mend. What has an
 * address changed is not to be kept by anybody: our port is another server's tomorrow. So of
 * metadata no copy is asked about or promised for later, and it is asked for unpacked. */
#ifndef CMD_RECORD_OAUTH_H
#define CMD_RECORD_OAUTH_H

#include "cmd/app.h"
#include "engine/oauth.h"
#include "transport/http-relay.h"

struct record_oauth {
    const struct app *app; /* borrowed */
    struct oauth oauth;
};

/* `url`: of the server; one that can be parsed. */
void record_oauth_init(struct record_oauth *o, const struct app *app, struct str url);
void record_oauth_release(struct record_oauth *o);

/* For the relay, with a struct record_oauth. */
extern const struct http_relay_changes record_oauth_changes;

#endif

/* runtime/record-oauth.h - lets clients log in through an HTTP relay.
 *
 * Applies record/oauth-rewrite to all other paths and the redirects of mcphttp/url-rewrite to
 * the MCP endpoint, and logs once what cannot be rewritten. Rewritten metadata must not be
 * cached, since another server may use our port tomorrow: conditional request headers and
 * caching response headers are removed, and metadata is requested without compression. */
#ifndef RUNTIME_RECORD_OAUTH_H
#define RUNTIME_RECORD_OAUTH_H

#include "record/oauth-rewrite.h"
#include "runtime/app.h"
#include "transport/http-relay.h"

struct record_oauth {
    const struct app *app; /* borrowed */
    struct oauth oauth;
};

/* `url` is the server URL, already validated. */
void record_oauth_init(struct record_oauth *o, const struct app *app, struct str url);
void record_oauth_release(struct record_oauth *o);

/* The rewriter for the relay; its context is a struct record_oauth. */
extern const struct http_relay_rewriter record_oauth_changes;

#endif

/* engine/http-endpoint.h - where a server that speaks HTTP+SSE wants messages to go, read by
 * who speaks to it: nowhere but to that server itself. */
#ifndef ENGINE_HTTP_ENDPOINT_H
#define ENGINE_HTTP_ENDPOINT_H

#include "base/arena.h"
#include "base/buf.h"
#include "wire/url.h"

/* What the event `said` comes to at `server`, with its query. ERR_PEER: it leads elsewhere, or
 * nowhere; what is told of it is never more than its origin. `a` is for the time of the call.
 */
bool http_endpoint_read(struct buf *target, struct str said, const struct url *server,
                        struct arena *a, struct err *e) MUST_CHECK;

/* The same words for who reads it otherwise; always false. It could not be read, as `*e` tells,
 * or is empty; it means another server. */
bool http_endpoint_unread(struct str said, struct err *e);
bool http_endpoint_elsewhere(const struct url *meant, struct arena *a, struct err *e);

#endif

/* runtime/peer-http.h - the transport of a peer that is an HTTP server.
 *
 * Runs the engine mcphttp/client and executes its HTTP requests. With a recorder, every piece
 * is recorded before it is sent or delivered.
 *
 * Such a server does not exit by itself: a request without a response is answered with an
 * error, and after a lost session the next initialize begins another. */
#ifndef RUNTIME_PEER_HTTP_H
#define RUNTIME_PEER_HTTP_H

#include "runtime/peer.h"

/* As peer_start(). `remote` is borrowed during the call. */
bool peer_http_start(struct peer **out, const struct remote_config *remote,
                     const struct peer_owner *owner, struct err *e) MUST_CHECK;

#endif

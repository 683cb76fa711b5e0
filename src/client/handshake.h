/* client/handshake.h - the texts with which a client begins a session, and when it tries the
 * other protocol.
 *
 * The stateful protocol begins with initialize; in the stateless one every request has the same
 * in _meta, and server/discover is the first. A client that does not know the server sends
 * initialize, and server/discover if that is rejected. `capabilities` is a JSON object. */
#ifndef CLIENT_HANDSHAKE_H
#define CLIENT_HANDSHAKE_H

#include "mcp/version.h"
#include "json/write.h"

/* Appends the params of initialize. */
void handshake_write_initialize(struct buf *to, enum mcp_version version,
                                struct str capabilities);

/* Appends the value of _meta in a stateless request. */
void handshake_write_meta(struct buf *to, enum mcp_version version, struct str capabilities);

/* Returns whether an HTTP status may mean that a server has no initialize. */
bool handshake_is_rejection(unsigned http_status);

#endif

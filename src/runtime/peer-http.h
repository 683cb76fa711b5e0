/* runtime/peer-http.h - the transport of a peer that is an HTTP server.
 *
 * Runs the engine mcphttp/client and executes its HTTP requests. With an http_recorder, every
 * piece is recorded before it is sent or delivered.
 *
 * Such a server does not exit by itself: a request without a response is answered with an
 * error, and after a lost session the next initialize begins another. */
#ifndef RUNTIME_PEER_HTTP_H
#define RUNTIME_PEER_HTTP_H

#include "record/http-recorder.h"
#include "runtime/peer.h"

/* As peer_start(). `remote` is borrowed during the call. */
bool peer_http_start(struct peer **out, const struct remote_config *remote,
                     const struct peer_owner *owner, struct err *e) MUST_CHECK;

/* Records the exchanges of a peer. The functions get the `to` of the peer's owner. */
struct peer_http_recording {
    struct http_recorder *recorder;        /* borrowed */
    struct recorder_time (*now)(void *to); /* the time of a record */
    void (*commit)(void *to); /* a piece was recorded and is about to go on; may be NULL */
};

/* Call it before the first message; `p` was started with a URL. */
void peer_http_record(struct peer *p, const struct peer_http_recording *recording);

#endif

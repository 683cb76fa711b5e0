/* tests/unit/http-replay.h - the bytes of a recording, replayed over HTTP in one process.
 *
 * Reads a native recording, loads it into the script and the HTTP script, and sends the replay
 * engine HTTP requests: an initialize, every recorded HTTP request (of a recording made on
 * stdio, every message of the client as a POST), two GETs and a DELETE. Responses are composed
 * by transport/exchange.h, as `replay --listen` does it. All timers run out at once.
 *
 * BUG() if the engine acts on an exchange that is over, a request gets no response although
 * every recorded request has one, or the replay does not end. Knows nothing of cmocka. */
#ifndef HTTP_REPLAY_H
#define HTTP_REPLAY_H

#include "engine/http-mock.h"

struct http_replay {
    struct err error;      /* why the recording was refused */
    size_t responses;      /* HTTP responses that were sent */
    size_t held;           /* requests without one when the replay was ended */
    struct buf last_bytes; /* of the last HTTP response to a recorded request */
};

/* False: the recording was refused, `error` says why. */
bool http_replay_run(struct http_replay *r, struct str recording,
                     const struct mock_options *how);
void http_replay_release(struct http_replay *r);

#endif

/* tests/unit/http-replay-rig.h - replays the bytes of a recording over HTTP in one process.
 *
 * Reads a native recording, loads it into the script and the HTTP script, and sends the replay
 * engine HTTP requests: an initialize, every recorded HTTP request (of a recording made on
 * stdio, every message of the client as a POST), two GETs and a DELETE. Responses are composed
 * by transport/http-exchange.h, as `replay --listen` does it. All timers run out at once.
 *
 * BUG() if the engine acts on an exchange that is over, a request gets no response although
 * every recorded request has one, or the replay does not end. Knows nothing of cmocka. */
#ifndef HTTP_REPLAY_RIG_H
#define HTTP_REPLAY_RIG_H

#include "replay/http-replay.h"

struct http_replay_rig {
    struct err error;      /* why the recording was refused */
    size_t responses;      /* HTTP responses that were sent */
    size_t unanswered;     /* requests without one when the replay was ended */
    struct buf last_bytes; /* of the last HTTP response to a recorded request */
};

/* False: the recording was rejected, `error` has the reason. */
bool http_replay_rig_run(struct http_replay_rig *r, struct str recording,
                         const struct replay_options *how);
void http_replay_rig_release(struct http_replay_rig *r);

#endif

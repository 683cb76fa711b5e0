/* replay/anomaly-response.h - sends a recorded HTTP response that deviates from the protocol.
 *
 * index/http-index.h keeps such a response whole: status, headers, and its body or the events
 * of its stream. Borrows everything. */
#ifndef REPLAY_ANOMALY_RESPONSE_H
#define REPLAY_ANOMALY_RESPONSE_H

#include "index/http-index.h"
#include "mcphttp/event-streams.h"
#include "mcphttp/http-response.h"

/* Sends all of it on `exchange`. `id` is the live request's, as JSON text: a message under the
 * recorded request's id is sent under this one. */
void anomaly_response_send(struct http_response *a, struct event_streams *streams,
                           const struct http_index *http, const struct http_anomaly *anomaly,
                           uint64_t exchange, struct str id);

#endif

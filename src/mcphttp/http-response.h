/* mcphttp/http-response.h - composes HTTP responses to clients, and puts them into an engine's
 * sink.
 *
 * Streams are opened here and sent by mcphttp/event-streams.h. Everything is borrowed; there is
 * one buffer for composed bodies. */
#ifndef MCPHTTP_HTTP_RESPONSE_H
#define MCPHTTP_HTTP_RESPONSE_H

#include "engine/engine.h"
#include "mcphttp/request-validate.h"

struct http_response {
    struct action_sink *out; /* borrowed */
    struct headers headers;  /* of the response being composed */
    struct buf text;
};

void http_response_init(struct http_response *a, struct action_sink *out);
void http_response_release(struct http_response *a);

/* Begin the headers of a response, and add one. A header with an empty value is left out. */
void http_response_start(struct http_response *a, struct str type, struct str session_id);
void http_response_header(struct http_response *a, struct str name, struct str value);

/* Sends a whole response with those headers. */
void http_response_send(struct http_response *a, uint64_t exchange, unsigned status,
                        struct str body);

/* Adds a response to the array that answers a batch; `left` responses are missing, with this
 * one. True: it was the last, and `*message` is the whole array. */
bool http_response_add_to_batch(struct buf *batch, size_t left, struct str *message);

/* Opens an SSE stream. Replaces the headers. */
void http_response_open_stream(struct http_response *a, uint64_t exchange,
                               struct str session_id);

/* Compose a JSON-RPC error, and send one as a whole response. An empty `id` is null. */
struct str http_response_error_text(struct http_response *a, const struct http_rejection *v,
                                    struct str id);
void http_response_reject(struct http_response *a, uint64_t exchange,
                          const struct http_rejection *v, struct str id);

#endif

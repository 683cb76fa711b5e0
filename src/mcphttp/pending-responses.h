/* mcphttp/pending-responses.h - HTTP responses that wait for the messages of a server.
 *
 * A response is JSON if nothing is sent before it and the client accepts JSON. Otherwise it is
 * an SSE stream, which opens with the first message. A stream with event ids is kept while its
 * client is disconnected; when the client resumes it, missed events are sent, and the response
 * goes on under the exchange of its request.
 *
 * Does not know sessions or the content of messages. */
#ifndef MCPHTTP_PENDING_RESPONSES_H
#define MCPHTTP_PENDING_RESPONSES_H

#include "mcphttp/event-streams.h"
#include "mcphttp/http-response.h"

struct pending_response {
    uint64_t request_exchange;   /* exchange of the request; identifies the response */
    void *owner;                 /* for the caller */
    struct event_stream *stream; /* NULL: nothing was sent yet */
    size_t responses_left;       /* JSON-RPC responses to come; 0: a GET stream */
    bool accepts_json, accepts_sse;
    bool disconnected;             /* set when the client closes; cleared when it resumes */
    uint64_t events_at_disconnect; /* number of the last event that was sent before */
    struct buf batch_body;         /* the array, while a batch is answered */

    /* Set by the caller before anything is sent: */
    uint64_t session;      /* of the stream; 0: none */
    struct str session_id; /* for the Mcp-Session-Id header; borrowed; empty: none */
    bool stateless;        /* the HTTP status depends on the JSON-RPC error */
    bool is_batch;         /* the responses are one array */
    bool has_ids;          /* events have ids */
    bool supports_priming; /* the client's version allows events without data */
};

struct pending_responses {
    struct map by_request; /* exchange of the request to struct pending_response */
    struct map by_resumed; /* exchange on which it was resumed to struct pending_response */
    struct event_streams streams;
    struct http_response response;
};

void pending_init(struct pending_responses *t, struct action_sink *out);
void pending_release(struct pending_responses *t);

/* Adds the response to a request whose Accept header is `accept`. */
struct pending_response *pending_add(struct pending_responses *t, uint64_t exchange,
                                     const struct media_type_accept *accept, void *owner);
struct pending_response *pending_find(const struct pending_responses *t,
                                      uint64_t request_exchange);

/* Returns any response of an owner; NULL: there is none. */
struct pending_response *pending_find_owned(const struct pending_responses *t,
                                            const void *owner);

/* Whether a client waits for a response of an owner. */
bool pending_has_client(const struct pending_responses *t, const void *owner);

/* Returns the writer of responses, for those that are sent at once. */
static inline struct http_response *pending_http_response(struct pending_responses *t)
{
    return &t->response;
}

/* True if a message can be sent before the response. */
bool pending_can_stream(const struct pending_response *x);

/* Sends a message before the response, and opens the stream for it. */
void pending_send(struct pending_responses *t, struct pending_response *x, struct str message);

/* Sends one of the `responses_left`. Frees `x` after the last one. */
void pending_respond(struct pending_responses *t, struct pending_response *x,
                     struct str message);

/* Opens the stream before there is a message. */
void pending_open_stream(struct pending_responses *t, struct pending_response *x);

/* Resumes the stream of an event id on `exchange`. NULL: the id is unknown and nothing was
 * done; or, with `*over`, the stream had ended and the missed events were sent. */
struct pending_response *pending_resume(struct pending_responses *t, uint64_t session,
                                        struct str event, uint64_t exchange,
                                        struct str session_id, bool *over);

/* Resumes a disconnected stream for a client without Last-Event-ID: sends the events since the
 * disconnect. */
void pending_rejoin(struct pending_responses *t, struct pending_response *x, uint64_t exchange);

/* Notes that the client of `exchange` disconnected, and returns its response; NULL: none. */
struct pending_response *pending_disconnect(struct pending_responses *t, uint64_t exchange);

/* Ends and frees the response: with an error if nothing was sent yet. */
void pending_reject(struct pending_responses *t, struct pending_response *x,
                    const struct http_rejection *v, struct str id);

/* Frees the response and its stream, and ends its exchange if that is a stream. */
void pending_remove(struct pending_responses *t, struct pending_response *x);

#endif

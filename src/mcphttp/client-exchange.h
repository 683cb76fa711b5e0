/* mcphttp/client-exchange.h - one HTTP request of the client, and the requests that resume its
 * response.
 *
 * Keeps the list of open exchanges, sends and aborts them, and decides when a response stream
 * may be resumed. Does not interpret the messages in a response. */
#ifndef MCPHTTP_CLIENT_EXCHANGE_H
#define MCPHTTP_CLIENT_EXCHANGE_H

#include "engine/actions.h"
#include "mcphttp/client-response.h"

enum client_exchange_kind {
    CLIENT_EXCHANGE_POST,
    CLIENT_EXCHANGE_GET, /* the stream of unsolicited messages; in HTTP+SSE of all messages */
    CLIENT_EXCHANGE_DELETE,
};

struct client_exchange {
    struct client_exchange *next;
    enum client_exchange_kind kind;
    uint64_t exchange; /* number of the HTTP request that is open; 0: none */
    /* 0: none. While the HTTP request is open: a GET waits for the endpoint event, a POST for
     * the end of its stream after its last response. While none is open: the delay before the
     * stream is resumed or opened again. */
    uint64_t timer;
    int64_t started_us;
    unsigned failed_tries; /* to resume, in a row */
    unsigned empty_polls;  /* resumed in a row, and got nothing but a new event id */
    bool has_initialize;   /* the body is initialize, */
    bool has_initialized;  /* or notifications/initialized */
    bool has_no_request;   /* the body has no request: notifications or responses only */
    bool stateless;        /* the message names its protocol version itself */
    bool request_sent;     /* set by EVENT_REQUEST_SENT; cleared by each send */
    bool resuming;         /* set when a broken response stream is resumed */
    bool was_held;         /* set with `held`, never cleared: a call is held once */
    bool held;             /* waits for tool schemas; cleared when sent again or failed */
    bool finished;         /* to be freed */
    /* Gets the responses, borrowed; NULL: they are for the client. */
    struct client_schemas *schemas;
    struct client_response response;
    struct buf unexpected_id; /* of a response to no pending request; or empty */
    struct buf param_headers; /* its Mcp-Param headers, to see whether schemas change them */
    char *body;               /* copy of the message, if it may be sent again; or NULL */
    size_t body_len;
};

struct client_exchanges {
    struct client_exchange *first; /* the latest */
    uint64_t exchange_count;       /* HTTP requests sent; the number of the last one */
};

struct client_exchange *client_exchange_add(struct client_exchanges *all,
                                            enum client_exchange_kind kind);
struct client_exchange *client_exchange_find(const struct client_exchanges *all,
                                             uint64_t exchange);
struct client_exchange *client_exchange_find_timer(const struct client_exchanges *all,
                                                   uint64_t timer);

/* Number of POSTs whose response is still needed. */
size_t client_exchange_count_open(const struct client_exchanges *all);

/* True if a POST without a request has got no HTTP response yet. */
bool client_exchange_has_notification(const struct client_exchanges *all);

/* An exchange that is held; NULL: none. */
struct client_exchange *client_exchange_find_held(const struct client_exchanges *all);

void client_exchange_free_finished(struct client_exchanges *all);
void client_exchange_release_all(struct client_exchanges *all);

/* Copies the message, unless there is a copy. */
void client_exchange_keep_body(struct client_exchange *t, struct str text);

/* Sends `request` under the next exchange number. */
void client_exchange_send(struct client_exchanges *all, struct client_exchange *t,
                          struct actions *actions, const struct action_request *request,
                          int64_t now_us);

/* Writes why there is no response: `why` if that is not empty, else by what came. `hint` is
 * empty unless the session has ended: then it says how to get another. */
void client_exchange_describe_failure(const struct client_exchange *t, struct str hint,
                                      struct str why, struct buf *to);

/* Finishes the exchange and aborts its HTTP request, for `why` if that is not empty. */
void client_exchange_abort(struct client_exchange *t, struct actions *actions, struct str why);
void client_exchange_abort_all(struct client_exchanges *all, struct actions *actions,
                               struct str why);

/* Notes the id of a response to no pending request, shortened for a message to the user. */
void client_exchange_set_unexpected(struct client_exchange *t, struct str id);

/* Delay before the stream is resumed or opened again: the server's `retry`, with a lower limit,
 * and doubled for each failed or empty try. */
int64_t client_exchange_retry_delay_us(const struct client_exchange *t);

/* True if a response stream that ended can be resumed, and has not failed too often. */
bool client_exchange_can_resume(const struct client_exchange *t);

/* Counts the response that ended or failed. A new event, or ten seconds, resets the counters. A
 * new event id alone counts as an empty poll: the server is still working, and may be polled as
 * long as a request is pending. Anything else is a failed try. */
void client_exchange_count_try(struct client_exchange *t, int64_t now_us);

#endif

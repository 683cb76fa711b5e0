/* transport/http-client.h - sends HTTP/1.1 requests to one server.
 *
 * Requests and responses pass unchanged: headers in their order, with duplicates and spelling
 * kept. Redirects are not followed, bodies not decoded, cookies not stored; nothing is added
 * but what is named here. A response may take any time; only connecting has a limit.
 *
 * No request is sent twice: if the server closes the connection without a response, the request
 * fails and the caller decides. A connection is reused only for the same `reuse_key`, so that
 * state that one client left on it (a login, say) never reaches another client. It is closed
 * when it was idle for longer than servers usually wait.
 *
 * Knows no MCP and no clients. */
#ifndef TRANSPORT_HTTP_CLIENT_H
#define TRANSPORT_HTTP_CLIENT_H

#include "loop/loop.h"
#include "transport/upstream-conn.h"
#include "wire/request-write.h"
#include "wire/response-read.h"
#include "wire/url.h"

struct http_client;
struct http_transfer;

struct http_client_config {
    struct str url;               /* of the server; its path is not used */
    struct headers extra_headers; /* replace those of the same name in every request */
    struct str cacert;            /* a file of trusted certificates; empty: the system's */
    unsigned connect_ms;          /* limit for connecting; 0: 30 s */
};

/* Does not connect yet. Copies everything. Proxies come from the environment. The userinfo of
 * the URL is sent as Authorization, unless `extra_headers` has one. ERR_USAGE for an invalid
 * URL or header; the file of certificates is read when connecting. */
bool http_client_new(struct http_client **out, struct loop *l,
                     const struct http_client_config *config, struct err *e) MUST_CHECK;

/* All transfers must be closed before. NULL is fine. */
void http_client_free(struct http_client *c);

const struct url *http_client_url(const struct http_client *c); /* borrowed */

/* Why there is no response, or an incomplete one. */
enum http_client_error {
    HTTP_CLIENT_UNKNOWN_HOST = UPSTREAM_CONN_UNKNOWN_HOST,
    HTTP_CLIENT_UNREACHABLE = UPSTREAM_CONN_UNREACHABLE,
    HTTP_CLIENT_REFUSED = UPSTREAM_CONN_REFUSED,
    HTTP_CLIENT_TIMEOUT = UPSTREAM_CONN_TIMEOUT,
    HTTP_CLIENT_TLS = UPSTREAM_CONN_TLS,
    HTTP_CLIENT_PROXY = UPSTREAM_CONN_PROXY,
    HTTP_CLIENT_NO_FDS = UPSTREAM_CONN_NO_FDS,
    HTTP_CLIENT_NO_RESPONSE =
        UPSTREAM_CONN_ERROR_COUNT, /* the server closed the connection without one */
    HTTP_CLIENT_TRUNCATED,         /* the response has begun, but is incomplete */
    HTTP_CLIENT_INVALID_RESPONSE,  /* not valid HTTP */
};

struct http_transfer_events {
    /* The head of the response, borrowed for the event; 1xx are skipped. `body` is the complete
     * body if it has a length and came with the head (no `data` follows then), else empty. */
    void (*head)(void *to, const struct response_head *head, struct str body);
    void (*data)(void *to, struct str bytes); /* a part of the body; borrowed */
    /* The queue is empty again. May be NULL. */
    void (*drained)(void *to);
    /* The response is complete; the rest of the request body is not sent. Once, and last. */
    void (*complete)(void *to);
    /* There will be no complete response; `why` is for users. Once, and last; never before
     * http_transfer_start() returns. */
    void (*failed)(void *to, enum http_client_error fault, const struct err *why);
};

/* Sends the head of a request. Only transfers of the same `reuse_key` share connections. Copies
 * everything but `events`. The target is a path with its query, or '*'; a request without Host
 * gets the server's. A transfer may be closed in any event. */
struct http_transfer *http_transfer_start(struct http_client *c, uint64_t reuse_key,
                                          const struct outgoing_request *request,
                                          const struct http_transfer_events *events, void *to);

/* Sends a part of the body, in all exactly as much as the framing says. Queues what the server
 * does not take, also while connecting. Drops everything after the transfer is over. */
void http_transfer_send(struct http_transfer *t, struct str bytes);
void http_transfer_finish(struct http_transfer *t); /* ends the body; not needed without one */

size_t http_transfer_queued(const struct http_transfer *t); /* bytes not sent yet */

/* Turns reading of the response on or off; it is on at first. */
void http_transfer_read(struct http_transfer *t, bool on);

/* No event comes after this. Aborts a transfer that is not over: the connection is closed at
 * once. NULL is fine. */
void http_transfer_close(struct http_transfer *t);

/* Closes the idle connections of a key. Its transfers go on. */
void http_client_close_idle(struct http_client *c, uint64_t reuse_key);

#endif

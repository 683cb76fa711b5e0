/* runtime/http-clients.h - serves the HTTP clients of an engine.
 *
 * Complete requests become events; the engine's actions become HTTP responses and streams.
 * Requests with a rejected Host or Origin, and bodies over `body_max`, are answered here and
 * never reach the engine, nor do CORS preflights (wire/cors.h). A client that does not read its
 * stream is disconnected at `queue_max` queued bytes; the engine gets EVENT_CLIENT_CLOSED then.
 *
 * An observer sees everything before it is sent or dispatched. */
#ifndef RUNTIME_HTTP_CLIENTS_H
#define RUNTIME_HTTP_CLIENTS_H

#include "base/map.h"
#include "runtime/driver.h"
#include "transport/http-access.h"
#include "transport/http-server.h"
#include "wire/listen-address.h"

/* All functions must be set. `request` returns a pointer that the others get as `observed`; its
 * last call is `rejected`, `closed`, or `response` with ACTION_HTTP_RESPONSE or
 * ACTION_STREAM_END. */
struct http_clients_observer {
    void *(*request)(void *to, const struct http_exchange *x);
    void (*request_data)(void *to, void *observed, struct str bytes);
    void (*request_end)(void *to, void *observed);
    void (*response)(void *to, void *observed,
                     const struct action *a); /* before http_clients_act() sends it */
    void (*rejected)(void *to, void *observed, unsigned status,
                     const char *text); /* answered without the engine */
    void (*closed)(void *to, void *observed, const struct http_exchange_failure *why);
};

struct http_clients {
    struct driver *driver; /* borrowed */
    struct http_server *server;
    struct http_access access_rules;
    struct http_clients_exchange *open_exchanges; /* those that the engine has not ended */
    struct http_clients_exchange
        *current;       /* set while the engine handles EVENT_HTTP_REQUEST for it; else NULL */
    struct map pending; /* those to be answered later, by number */
    struct http_clients_exchange *finished;
    struct http_clients_exchange *spare; /* kept for the next request; may be NULL */
    struct headers cors_headers;         /* headers of the current response */
    const struct http_clients_observer
        *observer; /* set by the owner before the loop runs; may be NULL */
    void *to;
    uint64_t exchange_count;
    bool logged_fd_limit;       /* the warning about too many clients was logged */
    unsigned logged_rejections; /* reasons for rejections that were logged */
    size_t body_max;            /* limit of a request body */
    size_t queue_max;           /* limit of unread bytes of a stream */
};

bool http_clients_open(struct http_clients *s, struct loop *l, struct driver *driver,
                       const struct listen_address *address, struct err *e) MUST_CHECK;
void http_clients_close(struct http_clients *s);

/* Executes ACTION_HTTP_RESPONSE, ACTION_STREAM_OPEN, ACTION_STREAM_WRITE and ACTION_STREAM_END.
 * Ignores other actions, and those for an exchange whose client has closed. */
void http_clients_act(struct http_clients *s, const struct action *a);

/* Accepts no more clients, and calls `done` once all responses were read, or after a
 * timeout. */
void http_clients_finish(struct http_clients *s, void (*done)(void *to), void *to);

#endif

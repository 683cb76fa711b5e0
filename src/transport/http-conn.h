/* transport/http-conn.h - the server side of one HTTP/1.1 connection, without its socket.
 *
 * Input: bytes, the end of input, the time, and calls of the owner of the exchange. Output:
 * calls of `struct http_conn_io` and events to the owner. The result does not depend on how the
 * bytes are split.
 *
 * One exchange at a time. Pipelined bytes wait, up to HTTP_CONN_PIPELINED_MAX; beyond that they
 * are dropped and the connection closes after the response. So the socket is always read, and a
 * client that leaves is noticed, unless the owner has paused a body. No further request is
 * parsed while more than HTTP_CONN_UNSENT_MAX bytes of responses are unsent.
 *
 * After a rejection, or a response to a request that was not read to its end, we close our side
 * and read and drop input for a while (linger): closing at once could lose the response.
 *
 * A client may close its side after its request and still wait for the response (half-closed);
 * a client that has given up looks the same. To tell them apart it is sent 100 Continue: a
 * waiting client ignores that, a closed socket answers with a reset. Where that is impossible
 * (HTTP/1.0, or the response has begun) the client counts as gone, as with other servers,
 * except for a response of known length, which continues until it is complete or the client
 * resets.
 *
 * While a response is sent, nothing of its request is kept. The parsers are shared by all
 * connections; a repeated head may find itself in one (wire/request-read.h).
 *
 * HEAD -> BODY, RESPONSE        [begin_exchange]
 * BODY -> RESPONSE              [end_body]
 * RESPONSE -> HEAD              [on_ended: keep-alive]
 * HEAD, BODY, RESPONSE -> LINGER [start_linger: close, reject, stop]
 * BODY, RESPONSE -> FLUSH       [abort_connection: unframed response aborted]
 * any of them -> CLOSED         [close_now] */
#ifndef TRANSPORT_HTTP_CONN_H
#define TRANSPORT_HTTP_CONN_H

#include "base/buf.h"
#include "transport/http-exchange.h"

enum {
    HTTP_CONN_PIPELINED_MAX = 64 << 10, /* bytes of requests after the current one */
    HTTP_CONN_COMPOSE_MAX = 1 << 20,    /* bytes of a response head, or of a small response */
    HTTP_CONN_UNSENT_MAX = 256 << 10,   /* bytes of responses not taken by the client */
    HTTP_CONN_LINGER_MAX = 16 << 20,    /* bytes dropped while lingering */
    HTTP_CONN_SPARE_PARSERS = 8,        /* unused parsers kept for the next requests */
};

/* Limits of time for clients, in milliseconds. */
struct http_conn_timeouts {
    unsigned head_ms;   /* for a head, and for its first byte after connecting */
    unsigned idle_ms;   /* between requests */
    unsigned body_ms;   /* how far a body may fall behind `body_rate` */
    unsigned body_rate; /* bytes per second */
    unsigned write_ms;  /* without taking a byte of a response */
    unsigned linger_ms; /* to close the connection after we closed our side */
};

extern const struct http_conn_timeouts http_conn_default_timeouts;

/* Functions of the socket that the connection calls. They must not call back before they
 * return. */
struct http_conn_io {
    void (*write)(void *at, struct str bytes);
    void (*read)(void *at, bool on);
    void (*finish)(void *at);            /* shuts our side down after the queue */
    void (*close)(void *at, bool reset); /* last call */
    void (*resume_later)(void *at);      /* call http_conn_resume() from the loop */
    size_t (*queued)(const void *at);    /* bytes not taken by the client */
    void (*watch_reset)(void *at); /* watch for a reset: the socket is not read any more */
};

/* Shared by all connections of a server. */
struct http_conn_shared {
    const struct http_conn_io *io;
    const struct http_exchange_events *events;
    void *to;
    const struct url_authority *self; /* the address that we listen on */
    const struct http_conn_timeouts *timeouts;
    struct http_conn_parser *spare_parsers[HTTP_CONN_SPARE_PARSERS]; /* each NULL or unused */
    struct buf compose_buf; /* for responses; initialize with HTTP_CONN_COMPOSE_MAX */
};

void http_conn_shared_release(struct http_conn_shared *h);

enum http_conn_state {
    HTTP_CONN_HEAD,     /* between requests, or in a head */
    HTTP_CONN_BODY,     /* an exchange whose request body is coming */
    HTTP_CONN_RESPONSE, /* an exchange whose request is complete */
    HTTP_CONN_FLUSH,    /* sends the queue, then resets the connection */
    HTTP_CONN_LINGER,   /* our side is closed; drops input until the client closes */
    HTTP_CONN_CLOSED,
};

/* The reason to wait; each has its limit in `struct http_conn_timeouts`. */
enum http_conn_wait {
    HTTP_CONN_WAIT_NONE,
    HTTP_CONN_WAIT_HEAD,
    HTTP_CONN_WAIT_REQUEST,
    HTTP_CONN_WAIT_BODY,
    HTTP_CONN_WAIT_WRITE, /* the client has to take queued bytes */
    HTTP_CONN_WAIT_CLOSE, /* the client has to close */
};

/* The owner of the socket may read `state`, `number`, `input_closed` and `half_closed`. */
struct http_conn {
    struct http_conn_shared *shared;
    void *io_arg; /* argument of the io functions */
    uint64_t number;
    enum http_conn_state state;
    bool feeding;       /* set while input is parsed */
    bool had_request;   /* set by the first request */
    bool body_paused;   /* the owner has turned reading of the body off */
    bool discard_input; /* input is dropped; when lingering: close once the queue is sent */
    bool input_closed;  /* set when the client closed its side */
    bool half_closed;   /* set when it closed its side and seems to wait for the response */
    bool stopping;      /* set by http_conn_stop(): no further request */
    struct http_conn_parser *parser; /* of the current request; NULL if none */
    struct http_exchange exchange;
    struct buf pipelined; /* input after the current request */
    uint64_t dropped;     /* bytes of input dropped */
    uint64_t written;     /* bytes, in all */
    uint64_t body_bytes;  /* bytes of the current request body */

    enum http_conn_wait wait; /* at the last tick, like the next two */
    uint64_t progress;        /* bytes by then */
    int64_t since_ms;         /* start of the wait; -1: at the next tick */
};

void http_conn_init(struct http_conn *c, struct http_conn_shared *h, void *at, uint64_t number);
void http_conn_release(struct http_conn *c);

/* Rejects the client with 503: there are too many connections. Call instead of feeding. */
void http_conn_reject_overload(struct http_conn *c);

void http_conn_feed(struct http_conn *c, struct str bytes);
void http_conn_resume(struct http_conn *c); /* after `resume_later` */
void http_conn_drained(struct http_conn *c);
void http_conn_input_closed(struct http_conn *c); /* end of input: the client closed its side */

/* The same for a connection that is not read: there may be unread input before the end. */
void http_conn_closed_unread(struct http_conn *c);
void http_conn_lost(struct http_conn *c); /* the connection is broken */

/* Checks the timeouts. Call several times in the shortest of them. */
void http_conn_tick(struct http_conn *c, int64_t now_ms);

/* Accepts no further request; closes at once if there is no exchange. */
void http_conn_stop(struct http_conn *c);

/* Aborts the exchange; called again, closes without waiting for the client. */
void http_conn_abort(struct http_conn *c);

#endif

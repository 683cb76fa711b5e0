/* transport/upstream-conn.h - byte connections to one upstream server.
 *
 * Connects directly to a loopback server with plain HTTP, and with libcurl (names, proxies,
 * TLS) to all others. Knows no HTTP. A connection belongs to one caller and is not reused here.
 *
 * Written bytes are queued and sent at the end of the loop's turn or by upstream_conn_flush(),
 * so that a message written in pieces goes out in one write. */
#ifndef TRANSPORT_UPSTREAM_CONN_H
#define TRANSPORT_UPSTREAM_CONN_H

#include "base/str.h"
#include "loop/loop.h"
#include "wire/url.h"

struct upstream_connector; /* makes connections to one server */
struct upstream_conn;

enum upstream_conn_error {
    UPSTREAM_CONN_UNKNOWN_HOST, /* the name has no address */
    UPSTREAM_CONN_UNREACHABLE,  /* no route, or no host at the address */
    UPSTREAM_CONN_REFUSED,      /* no server on this port */
    UPSTREAM_CONN_TIMEOUT,      /* longer than connect_ms */
    UPSTREAM_CONN_TLS,          /* the TLS handshake or the check of the certificate failed */
    UPSTREAM_CONN_PROXY,        /* the proxy is unreachable, or refused the tunnel */
    UPSTREAM_CONN_NO_FDS,       /* no file descriptor is free */
    UPSTREAM_CONN_ERROR_COUNT
};

struct upstream_connector_config {
    const struct url *url; /* its scheme, host and port are used */
    struct str cacert;     /* a file of trusted certificates; empty: the system's */
    unsigned connect_ms;   /* limit for connecting, proxy and TLS included */
};

struct upstream_conn_events {
    /* Connecting failed; `why` is for users. Once, and last. */
    void (*failed)(void *to, enum upstream_conn_error fault, const struct err *why);
    void (*data)(void *to, struct str bytes); /* borrowed */
    /* The server closed the connection, or (not `clean`) it broke. Once, and last. */
    void (*end)(void *to, bool clean);
    void (*drained)(void *to); /* the queue is empty again */
};

/* Does not connect yet. Copies everything. ERR_IO if libcurl is needed and cannot be loaded. */
bool upstream_connector_new(struct upstream_connector **out, struct loop *l,
                            const struct upstream_connector_config *config,
                            struct err *e) MUST_CHECK;
/* All its connections must be closed before. NULL is fine. */
void upstream_connector_free(struct upstream_connector *d);

/* Starts connecting. No event comes before this returns. Reading is on from the start. */
struct upstream_conn *upstream_conn_open(struct upstream_connector *d,
                                         const struct upstream_conn_events *events, void *to);

/* Queues bytes, before the connection is made, too. If the server takes no more, the bytes are
 * dropped; `end` comes after everything it sent was read. */
void upstream_conn_write(struct upstream_conn *d, struct str bytes);
void upstream_conn_flush(struct upstream_conn *d);
size_t upstream_conn_queued(const struct upstream_conn *d); /* bytes not sent yet */

/* Turns reading on or off. */
void upstream_conn_read(struct upstream_conn *d, bool on);

/* Closes the socket at once; allowed in events. No event comes after this. NULL is fine. */
void upstream_conn_close(struct upstream_conn *d);

#endif

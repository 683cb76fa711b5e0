/* transport/http-server.h - listens for HTTP/1.1 clients and turns their requests into
 * exchanges.
 *
 * Keeps connections alive, handles pipelined requests one after the other, rejects requests
 * that two parsers could read differently, and applies timeouts to slow clients. A response may
 * be silent for any time; that its client has gone is noticed all the same. If no descriptor is
 * left for a new connection, one that has not sent a byte for a while is closed.
 *
 * Applies no policy: classifies Host and Origin, but does not check them. */
#ifndef TRANSPORT_HTTP_SERVER_H
#define TRANSPORT_HTTP_SERVER_H

#include "loop/loop.h"
#include "transport/http-conn.h"
#include "transport/http-exchange.h"
#include "wire/url.h"

struct http_server;

struct http_server_config {
    struct str host;        /* an address or a name; empty: loopback */
    int port;               /* 0: any free port */
    size_t max_connections; /* 0: as many as the descriptor limit allows */
    size_t fds_per_client;  /* descriptors that the owner opens for each connection */
    const struct http_conn_timeouts *timeouts; /* borrowed; NULL: the defaults */
};

/* Starts listening. ERR_USAGE if this machine has no such address, ERR_IO if it cannot be
 * listened on. */
bool http_server_open(struct http_server **out, struct loop *l,
                      const struct http_server_config *config,
                      const struct http_exchange_events *events, void *to,
                      struct err *e) MUST_CHECK;

/* Returns the address with the actual port; borrowed. */
const struct url_authority *http_server_address(const struct http_server *s);

size_t http_server_connections(const struct http_server *s);

/* Accepts no more connections and requests. Responses that are incomplete after `grace_ms` are
 * aborted; their clients then have a moment to read that and to close. Calls `done` when all
 * connections are closed, not before this returns; it may close the server. */
void http_server_stop(struct http_server *s, uint64_t grace_ms, void (*done)(void *to),
                      void *to);

/* Closes everything at once, without events. Not allowed in an event. NULL is fine. */
void http_server_close(struct http_server *s);

#endif

/* transport/http-server.h - HTTP/1.1 clients that come to us.
 *
 * Listens, and makes exchanges of what comes; keeps connections alive, takes pipelined
 * requests one after the other, refuses what cannot be read in one way only, and gives
 * those who are slow a limited time. An answer under way may be silent for ever; that its
 * client has gone is noticed all the same. Where there is no descriptor for another connection,
 * one that has not sent a byte for a while is closed for it.
 *
 * Knows no policy: whom a request is for and whose page sent it is told, not judged. */
#ifndef TRANSPORT_HTTP_SERVER_H
#define TRANSPORT_HTTP_SERVER_H

#include "loop/loop.h"
#include "transport/exchange.h"
#include "transport/http-conn.h"
#include "wire/url.h"

struct http_server;

struct http_server_config {
    struct str host;                      /* an address or a name; empty: loopback */
    int port;                             /* 0: any that is free */
    size_t max_connections;               /* 0: as many as descriptors allow */
    size_t descriptors;                   /* that the owner takes for each beside its own */
    const struct http_patience *patience; /* borrowed; NULL: the usual one */
};

/* Listens from now on. ERR_IO, or ERR_USAGE if there is no such address here: says why it
 * cannot be listened on. */
bool http_server_open(struct http_server **out, struct loop *l,
                      const struct http_server_config *config,
                      const struct exchange_events *events, void *to, struct err *e) MUST_CHECK;

/* Where it listens, the port that was chosen included; borrowed. */
const struct url_authority *http_server_at(const struct http_server *s);

size_t http_server_connections(const struct http_server *s);

/* Takes no more connections and requests. Answers under way have `grace_ms`; what is not whole
 * then is aborted, and `gone`. Whoever is left has a moment to take that and to hang up. Calls
 * `done` once nobody is left, not before this returns; it may close the server. */
void http_server_stop(struct http_server *s, uint64_t grace_ms, void (*done)(void *to),
                      void *to);

/* Now, and without any event; not from inside one. NULL is fine. */
void http_server_close(struct http_server *s);

#endif

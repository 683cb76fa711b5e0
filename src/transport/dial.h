/* transport/dial.h - connections to one server.
 *
 * A server on this machine that speaks plain HTTP is connected to directly; for all others
 * there is libcurl, which sees to names, proxies and TLS. What goes over a connection is
 * bytes here; it is one caller's from its beginning to its end.
 *
 * Writing queues; it is sent at the end of the loop's turn, or by dial_flush(), so that
 * what is written in pieces goes out as one. */
#ifndef TRANSPORT_DIAL_H
#define TRANSPORT_DIAL_H

#include "base/str.h"
#include "loop/loop.h"
#include "wire/url.h"

struct dialer; /* where to connect to */
struct dial;   /* a connection */

enum dial_fault {
    DIAL_UNKNOWN_HOST, /* its name has no address */
    DIAL_UNREACHABLE,  /* nobody there, or no way to it */
    DIAL_REFUSED,      /* somebody there, but not on this port */
    DIAL_TIMEOUT,      /* connecting took too long */
    DIAL_TLS,          /* no secure connection, or not to whom we want */
    DIAL_PROXY,        /* the proxy is not there, or does not let us */
    DIAL_SCARCE,       /* we have no descriptor left */
    DIAL_FAULTS
};

struct dialer_config {
    const struct url *url; /* scheme, host and port of it */
    struct str cacert;     /* a file of certificates to trust; empty: the system's */
    unsigned connect_ms;   /* until it is connected, TLS and proxy included */
};

struct dial_events {
    /* It could not be connected. Once, and last; `why` is for people. */
    void (*failed)(void *to, enum dial_fault fault, const struct err *why);
    void (*data)(void *to, struct str bytes); /* borrowed */
    /* The server closed it, or it broke (`clean` is false). Once, and last. */
    void (*end)(void *to, bool clean);
    void (*drained)(void *to); /* all that was queued was taken */
};

/* Connects to nobody yet; everything is copied. ERR_IO if libcurl is needed and not there. */
bool dialer_new(struct dialer **out, struct loop *l, const struct dialer_config *config,
                struct err *e) MUST_CHECK;
void dialer_free(struct dialer *d); /* all its connections are closed; NULL is fine */

/* Connects; no event comes before this returns. It is read from the beginning. */
struct dial *dial_open(struct dialer *d, const struct dial_events *events, void *to);

/* Before it is connected, too. What cannot be sent any more is dropped, and the end is
 * told when all that came before it was read. */
void dial_write(struct dial *d, struct str bytes);
void dial_flush(struct dial *d);
size_t dial_queued(const struct dial *d); /* bytes the server has yet to take */

/* Whether to go on reading; what was read already has been told. */
void dial_read(struct dial *d, bool on);

/* The socket is closed now; in an event, too. No event comes after this. NULL is fine. */
void dial_close(struct dial *d);

#endif

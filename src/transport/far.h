/* transport/far.h - a connection that libcurl makes: names, proxies, TCP and TLS.
 *
 * Nothing else of it is used: no request of its making is ever sent, so none can be sent
 * twice. Proxies are those of the environment, but not to a server on this machine; they
 * are asked for a tunnel, for plain HTTP, too. Writing takes what can be sent at once and
 * queues a copy of the rest. */
#ifndef TRANSPORT_FAR_H
#define TRANSPORT_FAR_H

#include "base/str.h"
#include "loop/loop.h"
#include "transport/dial.h"

struct far_house; /* what all connections to one server share */
struct far;

struct far_config {
    const char *url;    /* scheme, host and port */
    bool here;          /* it is on this machine */
    const char *cacert; /* a file; NULL: the system's */
    unsigned connect_ms;
};

struct far_events {
    void (*connected)(void *to);
    /* It could not be. Once, and last; `why` is for people. */
    void (*failed)(void *to, enum dial_fault fault, const struct err *why);
    void (*data)(void *to, struct str bytes); /* borrowed */
    void (*end)(void *to, bool clean);        /* once, and last */
    void (*drained)(void *to);                /* all that was queued was taken */
};

/* `config` is copied, its texts are borrowed. ERR_IO if there is no libcurl. */
bool far_house_new(struct far_house **out, struct loop *l, const struct far_config *config,
                   const struct far_events *events, struct err *e) MUST_CHECK;
void far_house_free(struct far_house *h); /* all connections are closed; NULL is fine */

/* No event comes before this returns. It is read from the beginning. */
struct far *far_open(struct far_house *h, void *to);

void far_write(struct far *f, struct str bytes); /* once it is connected */
size_t far_queued(const struct far *f);
void far_read(struct far *f, bool on);

void far_close(struct far *f); /* now; in an event, too; NULL is fine */

#endif

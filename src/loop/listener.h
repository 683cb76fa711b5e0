/* loop/listener.h - listens on a TCP port; every connection becomes a stream.
 *
 * When the process has no descriptor left, a spare one is used to accept a connection now and
 * then, so that its client can get an error; the others wait in the backlog. */
#ifndef LOOP_LISTENER_H
#define LOOP_LISTENER_H

#include "base/str.h"
#include "loop/stream.h"

struct listener;

struct listener_events {
    /* A client has connected. The receiver owns the stream and sets the receiver of its events
     * with stream_set_receiver(). `scarce`: it is on the spare descriptor and should be closed
     * soon. */
    void (*connection)(void *to, struct stream *s, bool scarce);
    struct stream_events stream; /* events of all the streams */
};

enum { LISTENER_HOST_SIZE = 64 };

/* `host` is an address in any spelling, a name, '*' (all interfaces), or empty or 'localhost'
 * (loopback: both of its addresses, if there are two). Port 0 is any free port. `events` is
 * borrowed for the listener's life. ERR_USAGE: this machine has no such address. ERR_IO: it
 * cannot be used; the hint says what to do. */
bool listener_open(struct listener **out, struct loop *l, struct str host, int port,
                   const struct listener_events *events, void *to, struct err *e) MUST_CHECK;

/* Returns the first address, in numbers and without brackets, and the port, which all
 * addresses share. */
const char *listener_host(const struct listener *s);
int listener_port(const struct listener *s);

/* Stops or resumes accepting; new connections wait in the system's backlog meanwhile. */
void listener_pause(struct listener *s, bool paused);

/* Stops listening; the streams stay open. NULL is fine. */
void listener_close(struct listener *s);

#endif

/* loop/listener.h - a port that others connect to.
 *
 * Every connection becomes a stream. When the process has no descriptor left, one is kept
 * for telling whoever comes next so, now and then; the others wait until the system has
 * one again. */
#ifndef LOOP_LISTENER_H
#define LOOP_LISTENER_H

#include "base/str.h"
#include "loop/stream.h"

struct listener;

struct listener_events {
    /* Somebody has come; the stream is the receiver's, who says with stream_tell() to whom
     * its events go. `scarce`: there is no descriptor left, so it should go again soon. */
    void (*connection)(void *to, struct stream *s, bool scarce);
    struct stream_events stream; /* what all of the streams tell */
};

enum { LISTENER_ADDRESS = 64 };

/* `host` is an address in any spelling, a name, '*' for every interface, or empty, which is
 * this machine alone, as is 'localhost': both of its addresses then, if it has two. Port 0 is
 * any that is free. `events` is borrowed for the listener's life. ERR_USAGE: there is no such
 * address here. ERR_IO: it is not to be had; the hint says what to do. */
bool listener_open(struct listener **out, struct loop *l, struct str host, int port,
                   const struct listener_events *events, void *to, struct err *e) MUST_CHECK;

/* The first of its addresses, as numbers and without brackets, and the port, which all of them
 * share. */
const char *listener_host(const struct listener *s);
int listener_port(const struct listener *s);

/* Whoever comes meanwhile waits, so many as the system lets. */
void listener_pause(struct listener *s, bool paused);

void listener_close(struct listener *s); /* the streams stay; NULL is fine */

#endif

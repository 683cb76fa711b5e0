/* transport/stdio-child.h - a stdio server as our child, with us as its client.
 *
 * Messages go out with their newline, lines come in whole, its stderr comes in
 * whole lines too. It is always read, however much it has yet to take: a server
 * that writes before it reads on must not wait for us for ever. After its end was asked for,
 * 4 MB more are read of it, not all that it may write. Knows no JSON. */
#ifndef TRANSPORT_STDIO_CHILD_H
#define TRANSPORT_STDIO_CHILD_H

#include <stdint.h>

#include "base/str.h"
#include "loop/loop.h"

struct stdio_child;

struct stdio_child_events {
    void (*line)(void *to, struct str line); /* without newline */
    void (*too_long)(void *to, uint64_t bytes);
    void (*stderr_text)(void *to, struct str text);
    void (*closed)(void *to); /* it sends nothing more; once */
    /* It did not end in time after stdio_child_end(): SIGTERM is on its way. May be NULL. */
    void (*hurried)(void *to);
    /* It is no more, and all it left was handed over; once, and last. `code` if it
     * exited, `signum` (not 0) if a signal ended it; both -1 and 0: not even SIGKILL
     * has ended it yet. */
    void (*done)(void *to, int code, int signum);
};

/* ERR_PEER if it cannot be started; `*errnum` is then the system's reason. `argv` is
 * borrowed during the call, `events` for the child's life. */
bool stdio_child_start(struct stdio_child **out, struct loop *l, char *const *argv,
                       size_t max_line, const struct stdio_child_events *events, void *to,
                       int *errnum, struct err *e) MUST_CHECK;

/* What is sent to a server that has gone, or after stdio_child_end(), is lost. */
void stdio_child_send(struct stdio_child *c, struct str message);

size_t stdio_child_queued(const struct stdio_child *c); /* bytes it has yet to take */

/* No more will be sent: the server sees the end of its stdin once it was given what
 * came before, and has the time a process has to end: 2 s at most, if it goes on talking. */
void stdio_child_end(struct stdio_child *c);

/* Its end is wanted now, whatever it is doing. */
void stdio_child_stop(struct stdio_child *c);

/* Forget it; a server that is not done is killed. From inside events only in `done`.
 * NULL is fine. */
void stdio_child_close(struct stdio_child *c);

#endif

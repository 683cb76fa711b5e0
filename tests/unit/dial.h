/* tests/unit/dial.h - the other end of a connection, as plain blocking sockets.
 *
 * For tests in which a loop of the same thread is at our end: it gets its turns in dial_until()
 * and dial_hear(). Knows nothing of cmocka. */
#ifndef DIAL_H
#define DIAL_H

#include "base/buf.h"
#include "loop/loop.h"

int dial_port(int port); /* 127.0.0.1 */
void dial_say(int fd, struct str bytes);

/* Runs the loop until `done` says so; false: it did not for very long. */
bool dial_until(struct loop *l, bool (*done)(void *to), void *to);

/* Runs the loop for a moment. */
void dial_pause(struct loop *l);

/* Adds what comes until there is `want` at its end, or until the connection ends. How it was:
 * "", "end" or "reset"; "silence": it did not come for very long. */
const char *dial_hear(struct loop *l, int fd, struct buf *into, struct str want);

#endif

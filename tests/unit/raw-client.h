/* tests/unit/raw-client.h - a client with plain blocking sockets.
 *
 * For tests in which a loop of the same thread is at our end: it gets its turns in
 * raw_client_run_until() and raw_client_receive(). Knows nothing of cmocka. */
#ifndef RAW_CLIENT_H
#define RAW_CLIENT_H

#include "base/buf.h"
#include "loop/loop.h"

int raw_client_connect(int port); /* 127.0.0.1 */
void raw_client_send(int fd, struct str bytes);

/* Runs the loop until `done` returns true; false: it timed out. */
bool raw_client_run_until(struct loop *l, bool (*done)(void *to), void *to);

/* Runs the loop for a moment. */
void raw_client_run_briefly(struct loop *l);

/* Adds what comes until there is `want` at its end, or until the connection ends. How it was:
 * "", "end" or "reset"; "silence": it did not come for very long. */
const char *raw_client_receive(struct loop *l, int fd, struct buf *into, struct str want);

#endif

/* loop/loop.h - the one event loop; this folder is the only one that knows libuv.
 *
 * Everything here runs on one thread. Callbacks read, feed and hand over; they may
 * close what called them, memory is given back after they return. While there is a
 * loop, SIGPIPE and SIGXFSZ are ignored, children are ours to wait for, and we may have as
 * many descriptors as the system lets us; after it, all is as it was before. */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include "base/err.h"

struct loop;

struct loop *loop_new(void);
void loop_free(struct loop *l); /* everything opened on it must be closed; NULL is fine */

/* Until loop_stop() or nothing is left to wait for. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* The environment of the children that are started from now on; borrowed. NULL: ours, as at
 * first. */
void loop_env(struct loop *l, char *const *env);

#endif

/* loop/watch.h - tell me when a descriptor can be read, or written.
 *
 * For those who do the reading and writing themselves, as a library with sockets of its
 * own does. The descriptor stays theirs: the watch must be closed before it is. One that
 * has failed counts as ready for both, once: whoever tries will see. What is watched is not
 * inherited by processes that we start. */
#ifndef LOOP_WATCH_H
#define LOOP_WATCH_H

#include "loop/loop.h"

struct watch;
typedef void watch_fn(void *to, bool can_read, bool can_write);

/* Watches for nothing yet. A socket or a pipe, and not watched by another one. */
struct watch *watch_open(struct loop *l, int fd, watch_fn *fn, void *to);

void watch_set(struct watch *w, bool read, bool write); /* neither: nothing comes */

/* The descriptor may be closed right after. NULL is fine. */
void watch_close(struct watch *w);

#endif

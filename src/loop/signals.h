/* loop/signals.h - SIGINT, SIGTERM and SIGHUP as events of the loop. */
#ifndef LOOP_SIGNALS_H
#define LOOP_SIGNALS_H

#include "loop/loop.h"

struct signals;
typedef void signals_fn(void *to, int signum);

/* Calls `fn` for these signals until signals_close(). A signal that is ignored now stays
 * ignored: the process that started us wants it so. Does not keep the loop running. */
struct signals *signals_watch(struct loop *l, signals_fn *fn, void *to);

/* The same for a process that listens: handles SIGINT even if it is ignored. A shell without
 * job control ignores it for every command started with '&', and users end a listener with
 * it. */
struct signals *signals_watch_listener(struct loop *l, signals_fn *fn, void *to);

void signals_close(struct signals *s); /* NULL is fine */

#endif

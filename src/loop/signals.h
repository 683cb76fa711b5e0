/* loop/signals.h - the signals that ask us to end, as events of the loop. */
#ifndef LOOP_SIGNALS_H
#define LOOP_SIGNALS_H

#include "loop/loop.h"

struct signals;
typedef void signals_fn(void *to, int signum);

/* SIGINT, SIGTERM and SIGHUP go to `fn` until signals_close(); one that is ignored
 * now stays so: whoever started us wants it that way. They do not keep the loop
 * running. */
struct signals *signals_watch(struct loop *l, signals_fn *fn, void *to);

/* The same for a process that listens: SIGINT is handled although it was ignored. A shell
 * without job control has every command behind '&' ignore it, and it is how users end a
 * listener. */
struct signals *signals_watch_listener(struct loop *l, signals_fn *fn, void *to);

void signals_close(struct signals *s); /* NULL is fine */

#endif

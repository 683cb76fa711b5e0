/* loop/watchdog.h - who ends a process and its family when we no longer can.
 *
 * A process of its own that does nothing but wait for our death, however that comes.
 * It then gives the family the time a process has to end, asks it to, and kills who is
 * left. It is in a session of its own, takes no signal but SIGKILL, has no descriptor
 * but its end of a pipe whose other end is ours, and stands in no directory.
 *
 * A process that made a session of its own has left the family: it wants to outlive
 * those who started it, and does. */
#ifndef LOOP_WATCHDOG_H
#define LOOP_WATCHDOG_H

#include <sys/types.h>

#include "base/err.h"

struct watchdog;

/* It watches over nobody yet. NULL: there can be none, errno says why. */
struct watchdog *watchdog_start(void);

/* For the new process itself, between fork and exec, when it leads its own session:
 * from here on that is watched, so there is no moment at which our death leaves it
 * alone. Allowed after fork() in a program with threads. */
bool watchdog_join(const struct watchdog *w) MUST_CHECK;

/* After a child of ours has ended: if that was the watchdog, somebody killed it, and
 * there is another one now, for the family of the same `leader`. */
void watchdog_check(struct watchdog *w, pid_t leader);

/* The family needs it no more. NULL is fine. */
void watchdog_dismiss(struct watchdog *w);

#endif

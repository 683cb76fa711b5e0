/* loop/watchdog.h - a process between us and another one, which sees to that one's end when
 * we no longer can.
 *
 * It starts the other one, waits for the end of both of us, and tells us of the other's. When
 * we are gone, however that came, it gives the family the time a process has to end, asks it
 * to, and kills who is left. To it are given all of the family who lose their parents, so that
 * they can be found. It is in a session of its own, takes no signal but SIGKILL, has no
 * descriptor but its end of a line to us, and stands in no directory.
 *
 * A process that made a session of its own has left the family: it wants to outlive
 * those who started it, and does. */
#ifndef LOOP_WATCHDOG_H
#define LOOP_WATCHDOG_H

#include "base/err.h"
#include "loop/family.h"

struct watchdog {
    struct family family;
    pid_t pid;
    int line; /* can be read when there is something to hear */
};

/* What the new process does between fork and exec; returns only to end it. Limited to what is
 * allowed after fork() in a program with threads. All signals are blocked. */
typedef void watchdog_fn(const void *of);

/* Starts both. 0, or why there is neither, as errno has it. */
int watchdog_start(struct watchdog *w, watchdog_fn *become, const void *of) MUST_CHECK;

/* How the process ended: `*code` if it exited, `*signum` (not 0) if a signal ended it. It is
 * waited for, and its number another's, only when the watchdog is dismissed. False: somebody
 * has killed the watchdog, and nobody will know. Of the family no more can be found then than
 * the process itself, its group, and those whose parents all live. */
bool watchdog_hear(struct watchdog *w, int *code, int *signum) MUST_CHECK;

/* We need it no more. Who is left of the family is ended as if we had died. */
void watchdog_dismiss(struct watchdog *w);

#endif

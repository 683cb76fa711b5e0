/* loop/watchdog.h - a helper process that starts a server and ends it if we die.
 *
 * The watchdog forks the server, waits for the end of either of us, and reports the server's
 * exit. When we are gone, for whatever reason, it gives the process tree the usual time to end
 * (process-tree.h), sends SIGTERM, and kills what is left. It is the subreaper of the tree:
 * orphans become its children, so that they can be found. It runs in a session of its own,
 * blocks all signals but SIGKILL, has no descriptor but its end of a socket pair to us, and its
 * directory is /.
 *
 * A process that made a session of its own has left the tree: it is meant to outlive its
 * parents. */
#ifndef LOOP_WATCHDOG_H
#define LOOP_WATCHDOG_H

#include "base/err.h"
#include "loop/process-tree.h"

struct watchdog {
    struct process_tree tree;
    pid_t pid;
    int sock; /* readable when watchdog_read_exit() has something to read */
};

/* Runs in the new process between fork and exec; returns only to end it. May use only what is
 * allowed after fork() in a program with threads. All signals are blocked. */
typedef void watchdog_fn(const void *of);

/* Starts the watchdog and the server. Returns 0, or the errno why neither was started. */
int watchdog_start(struct watchdog *w, watchdog_fn *become, const void *of) MUST_CHECK;

/* Reads how the server ended: `*code` if it exited, `*signum` (not 0) if a signal ended it.
 * The server stays a zombie, so that its number is not reused, until watchdog_close(). False:
 * the watchdog itself was killed, and the exit is unknown. Only the server, its group and
 * processes whose parents all live can be found then. */
bool watchdog_read_exit(struct watchdog *w, int *code, int *signum) MUST_CHECK;

/* Ends the watchdog. It ends what is left of the tree as if we had died. */
void watchdog_close(struct watchdog *w);

#endif

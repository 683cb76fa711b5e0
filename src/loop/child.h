/* loop/child.h - a process with pipes to its three standard streams.
 *
 * It gets our environment and directory, its own session and process group, and
 * real pipes: to the server it must look as if the client had started it. Knows
 * nothing of what flows through the pipes. */
#ifndef LOOP_CHILD_H
#define LOOP_CHILD_H

#include "loop/loop.h"

struct child;

/* `code` if it exited, `signum` (not 0) if a signal ended it. */
typedef void child_exit_fn(void *to, int code, int signum);

struct child_fds {
    int in, out, err; /* our ends; the caller's to close */
};

/* ERR_PEER if it cannot be started; `*errnum` is then the system's reason. */
bool child_start(struct child **out, struct loop *l, char *const *argv, struct child_fds *fds,
                 child_exit_fn *fn, void *to, int *errnum, struct err *e) MUST_CHECK;

/* To all processes of its group, also after it has exited itself. */
void child_kill_group(struct child *c, int signum);

void child_close(struct child *c); /* forget it; NULL is fine */

#endif

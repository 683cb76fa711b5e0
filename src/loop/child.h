/* loop/child.h - a process with pipes to its three standard streams.
 *
 * To a server it must look as if its client had started it: it gets our environment (or that
 * of loop_env()), directory, limits, signal mask, ignored signals and inherited descriptors as
 * we were given them, and real pipes. Only its process group is its own, and its parent is a
 * watchdog, so that it can be ended with its family: at the latest when it is closed, and by
 * the watchdog if we are killed. Knows nothing of what flows through the pipes. */
#ifndef LOOP_CHILD_H
#define LOOP_CHILD_H

#include <sys/types.h>

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

/* To its whole family, also after it has exited itself; never to others that came to the
 * same number. After SIGKILL nobody is left. */
void child_signal(struct child *c, int signum);

/* No child that is started from now on is to have this descriptor. */
void child_withhold(int fd);

pid_t child_pid(const struct child *c);

/* Kills what is left of it. No event comes after this. NULL is fine. */
void child_close(struct child *c);

#endif

/* loop/child.h - starts a process with pipes to its three standard streams.
 *
 * A server must not notice that mcpreel started it: it gets our environment (or that of
 * loop_set_env()), directory (or that of loop_set_cwd()), limits, signal mask, ignored signals
 * and inherited descriptors as we got them, and real pipes. Two things differ: it leads a
 * process group of its own, and its parent is a watchdog (loop/watchdog.h). So it can be ended
 * with all its descendants: at the latest by child_close(), and by the watchdog if we are
 * killed. Does not read or write the pipes. */
#ifndef LOOP_CHILD_H
#define LOOP_CHILD_H

#include <sys/types.h>

#include "loop/loop.h"

struct child;

/* Called once when the process ends: `code` if it exited, `signum` (not 0) if a signal ended
 * it. */
typedef void child_exit_fn(void *to, int code, int signum);

struct child_fds {
    int in, out, err; /* our ends of the pipes; the caller closes them */
};

/* Starts `argv`. ERR_PEER if it cannot be started; `*errnum` is then the system's reason. */
bool child_start(struct child **out, struct loop *l, char *const *argv, struct child_fds *fds,
                 child_exit_fn *fn, void *to, int *errnum, struct err *e) MUST_CHECK;

/* Signals the whole process tree, also after the process itself has exited; never a process
 * that got the same number later. After SIGKILL none of the tree is left. */
void child_signal(struct child *c, int signum);

/* Keeps `fd` from all children that are started from now on. */
void child_set_cloexec(int fd);

pid_t child_pid(const struct child *c);

/* Kills what is left of the process tree. No event comes after this. NULL is fine. */
void child_close(struct child *c);

#endif

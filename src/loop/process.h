/* loop/process.h - a child process, from its start to its sure end.
 *
 *   RUNNING  -> CLOSING  [process_let_go: nobody will send it anything more]
 *   CLOSING  -> ASKED    [patience_over: SIGTERM after 0.8 s without output, not
 *                         counting what it waited for a processor; after 2 s at most,
 *                         talking or not, from process_unread()]
 *   RUNNING  -> ASKED    [process_ask; from CLOSING too]
 *   ASKED    -> KILLED   [patience_over: SIGKILL after 0.5 s more]
 *   any      -> DRAINING [exited: what it left in its pipes can still be read]
 *   DRAINING -> DONE     [process_drained; patience_over: after 0.5 s pipes that others
 *                         hold open are not waited for; process_ask: nobody is]
 *   KILLED   -> DONE     [patience_over: not even that helped]
 *
 * In CLOSING and DRAINING all wait on while others hold it up, but not once its end
 * was asked for. Signals go to the child's family, and whoever is left of it is killed
 * when all is done. The pipes are the caller's, who says what becomes of them. */
#ifndef LOOP_PROCESS_H
#define LOOP_PROCESS_H

#include "loop/child.h"

struct process;

struct process_events {
    /* `code` if it exited, `signum` (not 0) if a signal ended it. Not for a process
     * that outlives even SIGKILL. */
    void (*exited)(void *to, int code, int signum);
    /* It was silent for too long after it should have ended: SIGTERM is on its way.
     * May be NULL. */
    void (*hurried)(void *to);
    /* Whether its silence is not its own: what it said is on its way to somebody slow,
     * or it is still taking what it was sent. May be NULL. */
    bool (*busy)(void *to);
    void (*done)(void *to); /* nothing more will come of it; once, and last */
};

/* As child_start(). `events` is borrowed for the process's life. */
bool process_start(struct process **out, struct loop *l, char *const *argv,
                   struct child_fds *fds, const struct process_events *events, void *to,
                   int *errnum, struct err *e) MUST_CHECK;

/* Nobody will send it anything more, so it should end by itself. */
void process_let_go(struct process *p);

/* It answered: a process that does so after its stdin has ended is at work. */
void process_heard(struct process *p);

/* No client reads its output any more: from now on output does not prolong its life beyond
 * PATIENCE_UNREAD_MS. Has no effect before process_let_go(). */
void process_unread(struct process *p);

/* Its end is wanted now: `signum`, or SIGTERM if that is 0, goes to its family. */
void process_ask(struct process *p, int signum);

/* All its output has been read to the end. */
void process_drained(struct process *p);

/* Forget it; if it is not done, its family is killed. NULL is fine. */
void process_close(struct process *p);

#endif

/* loop/process.h - runs a child process and makes sure that it ends.
 *
 *   RUNNING       -> AWAITING_EXIT [process_expect_exit: its stdin was closed]
 *   AWAITING_EXIT -> TERM_SENT     [on_timeout: SIGTERM after 0.8 s without output, not
 *                                   counting the time it waited for a processor; at the latest
 *                                   2 s after process_note_unread(), output or not]
 *   RUNNING       -> TERM_SENT     [process_terminate; from AWAITING_EXIT, too]
 *   TERM_SENT     -> KILL_SENT     [on_timeout: SIGKILL 0.5 s later]
 *   any           -> DRAINING      [on_exited: its pipes may still hold output]
 *   DRAINING      -> DONE          [process_note_drained; on_timeout: 0.5 s later, if other
 *                                   processes hold the pipes open; process_terminate: at once]
 *   KILL_SENT     -> DONE          [on_timeout: it survived even SIGKILL]
 *
 * In AWAITING_EXIT and DRAINING the `busy` event can extend the time, but not after
 * process_terminate(). Signals go to the whole process tree; in DONE what is left of it is
 * killed. The caller owns the pipes and reports what happens to them. */
#ifndef LOOP_PROCESS_H
#define LOOP_PROCESS_H

#include "loop/child.h"

struct process;

/* Limits of the end of a process, beside PROCESS_TREE_QUIET_MS (process-tree.h). */
enum {
    PROCESS_UNREAD_MS = 2000,   /* total, if it writes on but no client reads its output */
    PROCESS_CPU_WAIT_MS = 4000, /* at most this much more if it gets no processor */
};

struct process_events {
    /* The process ended: `code` if it exited, `signum` (not 0) if a signal ended it. Not
     * called for a process that survives SIGKILL. */
    void (*exited)(void *to, int code, int signum);
    /* SIGTERM was sent because the process was silent for too long. May be NULL. */
    void (*term_sent)(void *to);
    /* Returns whether the process is silent for a reason outside of it: its output waits for
     * a slow reader, or it is still reading its input. May be NULL. */
    bool (*busy)(void *to);
    /* No other event follows. Called once. */
    void (*done)(void *to);
};

/* As child_start(). `events` is borrowed for the process's life. */
bool process_start(struct process **out, struct loop *l, char *const *argv,
                   struct child_fds *fds, const struct process_events *events, void *to,
                   int *errnum, struct err *e) MUST_CHECK;

/* Says that its stdin was closed: it should exit by itself. */
void process_expect_exit(struct process *p);

/* Says that it wrote something: a process that does so after its stdin has ended is working,
 * and its time starts again. */
void process_note_output(struct process *p);

/* Says that no client reads its output any more: from now on output does not extend its life
 * beyond PROCESS_UNREAD_MS. No effect before process_expect_exit(). */
void process_note_unread(struct process *p);

/* Ends it now: sends `signum`, or SIGTERM if that is 0, to the process tree. */
void process_terminate(struct process *p, int signum);

/* Says that all its output has been read to the end. */
void process_note_drained(struct process *p);

/* Frees it; kills the process tree if it is not done. NULL is fine. */
void process_close(struct process *p);

#endif

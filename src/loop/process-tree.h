/* loop/process-tree.h - signals a server and all processes that descend from it.
 *
 * A server leads a process group in the session of the process that started us. Its tree are
 * the processes of that session that descend from its watchdog, which inherits those whose
 * parents have ended. So it includes processes that moved to a group of their own, as
 * timeout(1) and shells with job control do, and that a signal to the server's group does not
 * reach. A process that made a session of its own has left the tree. Without /proc the tree is
 * the server's group.
 *
 * Nothing here allocates or takes a lock: it is allowed after fork() in a program with
 * threads. The leader must not have been waited for yet, or its number may be another
 * process's. */
#ifndef LOOP_PROCESS_TREE_H
#define LOOP_PROCESS_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* How long a tree may take to end, whether process.h or the watchdog ends it. From the end of
 * its stdin to SIGKILL fits in the 2 s that MCP clients wait before they send signals. */
enum {
    PROCESS_TREE_QUIET_MS = 800, /* from the end of its stdin, without output, to SIGTERM */
    /* From SIGTERM to SIGKILL; also how long a killed process, and pipes that other processes
     * hold open, are awaited. */
    PROCESS_TREE_TERM_MS = 500,
};

struct process_tree {
    pid_t leader;   /* the server, and its group */
    pid_t watchdog; /* ancestor of all others, and not part of the tree */
    pid_t session;
};

/* Signals all processes of the tree. Returns whether there was a live one (zombies do not
 * count). `signum` 0 sends nothing and only tests. */
bool process_tree_signal(const struct process_tree *f, int signum);

/* Sends SIGKILL until the tree is empty, even if its processes fork meanwhile. Gives up after
 * half a second on processes that the system does not end. */
void process_tree_kill(const struct process_tree *f);

#endif

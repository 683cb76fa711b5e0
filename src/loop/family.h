/* loop/family.h - a server and all whom it has started, whatever groups they are in.
 *
 * A server leads a group in the session of whoever started us. Its family are those of that
 * session who descend from its watchdog, to whom all of them are given who lose their
 * parents: also those that put themselves in a group of their own, as timeout(1) and shells
 * with job control do, and that a signal to the server's group does not reach. Only who made
 * a session of its own has left the family. Where there is no /proc, the family is the
 * server's group.
 *
 * Nothing here allocates or takes a lock: it is allowed after fork() in a program with
 * threads. The leader's number must still be the family's: that of a process not yet waited
 * for is. */
#ifndef LOOP_FAMILY_H
#define LOOP_FAMILY_H

#include <stdbool.h>
#include <sys/types.h>

struct family {
    pid_t leader;   /* the server, and its group */
    pid_t ancestor; /* of all others, and none of them itself */
    pid_t session;
};

/* To all of them. True if there was anybody; those who have ended do not count, even if
 * nobody has waited for them. 0 is no signal: nothing but the question. */
bool family_signal(const struct family *f, int signum);

/* SIGKILL, until nobody is left, be it that they start others in the meantime. Gives up
 * after half a second on those whom the system itself does not let go. */
void family_kill(const struct family *f);

#endif

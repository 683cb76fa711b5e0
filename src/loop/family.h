/* loop/family.h - all processes of a session, whatever groups they are in.
 *
 * A server leads the session it was given, and whoever it starts is in it: also those
 * that put themselves in a group of their own, as timeout(1) and shells with job control
 * do, and that a signal to the server's group does not reach. Only who made a session of
 * its own has left the family. Where there is no /proc, the family is the leader's group.
 *
 * Nothing here allocates or takes a lock: it is allowed after fork() in a program with
 * threads. The leader's number must still be the family's: that of a child not yet waited
 * for is. */
#ifndef LOOP_FAMILY_H
#define LOOP_FAMILY_H

#include <stdbool.h>
#include <sys/types.h>

/* To all of them. True if there was anybody; those who have ended do not count, even if
 * nobody has waited for them. 0 is no signal: nothing but the question. */
bool family_signal(pid_t leader, int signum);

/* SIGKILL, until nobody is left, be it that they start others in the meantime. Gives up
 * after half a second on those whom the system itself does not let go. */
void family_kill(pid_t leader);

#endif

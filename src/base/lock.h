/* base/lock.h - a file that is being written says so to other processes.
 *
 * As long as somebody has it open who took the lock, whatever happens to them. Only those
 * who ask are kept off. Where there are no locks nobody says anything. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "base/err.h"
#include "base/sys.h"

void lock_take(const struct sys *sys, int fd);

/* The same of a file that was just made under that name. False: somebody took the lock or the
 * name away before. */
bool lock_claim(const struct sys *sys, int fd, const char *path) MUST_CHECK;

/* Takes the lock of the file of that name, for as long as the descriptor is open, and makes
 * sure that it still has that name then. -1 and errno: EBUSY if somebody else has it,
 * EINVAL if it is no regular file. Where there are no locks it is only opened. */
int lock_hold(const struct sys *sys, const char *path);

bool lock_is_held(const struct sys *sys, const char *path); /* by anybody */

#endif

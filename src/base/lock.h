/* base/lock.h - a file that is being written says so to other processes.
 *
 * As long as somebody has it open who took the lock, whatever happens to them. Only those
 * who ask are kept off. Where there are no locks nobody says anything. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "base/err.h"
#include "base/sys.h"

void lock_take(const struct sys *sys, int fd);

bool lock_is_held(const struct sys *sys, const char *path); /* by anybody */

#endif

/* base/file-lock.h - locks a file while it is written (flock), to be seen by other processes.
 *
 * A lock lasts as long as the descriptor is open, also in a process that crashes. It is
 * advisory. On a file system without locks, every call succeeds as if there were no other
 * process. */
#ifndef BASE_FILE_LOCK_H
#define BASE_FILE_LOCK_H

#include "base/err.h"
#include "base/sys.h"

void file_lock_acquire(const struct sys *sys, int fd);

/* Locks a file that this process has just created at `path`. Returns false if another process
 * has locked it or replaced the path. */
bool file_lock_created(const struct sys *sys, int fd, const char *path) MUST_CHECK;

/* Opens and locks the file at `path` and checks that it still has that path. The lock lasts
 * until the descriptor is closed. Returns -1 and sets errno: EBUSY if another process has the
 * lock, EINVAL if it is no regular file. Without locks it is only opened. */
int file_lock_open(const struct sys *sys, const char *path);

bool file_lock_is_held(const struct sys *sys, const char *path); /* by any process */

#endif

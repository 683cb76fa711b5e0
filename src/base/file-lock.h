/* base/file-lock.h - locks a file while it is written (flock), to be seen by other processes.
 *
 * A lock lasts as long as the descriptor is open, also in a process that crashes. It is
 * advisory. On a file system without locks, every call succeeds as if there were no other
 * process. */
#ifndef BASE_FILE_LOCK_H
#define BASE_FILE_LOCK_H

#include "base/buf.h"
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

/* The same for a file that this process is going to replace: it fails for a second process, but
 * file_lock_is_held() is false, so that the file can be replaced. */
int file_lock_reserve(const struct sys *sys, const char *path);

/* Describes the process that has locked the file, for a message: "process 4711 (mcpreel)", or
 * "another process" if the system does not say which. */
void file_lock_describe_holder(const struct sys *sys, const char *path, struct buf *to);

bool file_lock_is_held(const struct sys *sys, const char *path); /* by any process */

#endif

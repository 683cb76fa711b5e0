#include "base/file-lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

enum { TRIES = 10 }; /* another process may replace the file again and again */

void file_lock_acquire(const struct sys *sys, int fd)
{
    sys->flock(sys, fd, LOCK_EX | LOCK_NB);
}

/* Returns whether the open file is the one at `path`. If there is no descriptor left to check,
 * it is: that is no sign of another process. */
static bool has_path(const struct sys *sys, const struct stat *open, const char *path)
{
    struct stat now;
    int fd = sys_retry_open(sys, path, O_PATH | O_NOFOLLOW, 0);
    bool same = fd < 0 && (errno == EMFILE || errno == ENFILE);

    same = same || (fd >= 0 && sys_retry_fstat(sys, fd, &now) == 0 &&
                    now.st_ino == open->st_ino && now.st_dev == open->st_dev);

    if (fd >= 0)
        sys->close(sys, fd);
    return same;
}

/* Returns why it cannot be locked, 0 if it is. ESTALE: the path is gone or names another
 * file. */
static int lock_fd(const struct sys *sys, int fd, const char *path)
{
    struct stat st;

    if (sys_retry_fstat(sys, fd, &st) != 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EINVAL;
    if (sys->flock(sys, fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return EBUSY;
    return has_path(sys, &st, path) ? 0 : ESTALE;
}

bool file_lock_created(const struct sys *sys, int fd, const char *path)
{
    return lock_fd(sys, fd, path) == 0;
}

int file_lock_open(const struct sys *sys, const char *path)
{
    for (int i = 0; i < TRIES; i++) {
        int fd = sys_retry_open(sys, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0), why;

        if (fd < 0)
            return -1;
        why = lock_fd(sys, fd, path);
        if (!why)
            return fd;
        sys->close(sys, fd);
        errno = why;
        if (why != ESTALE)
            return -1;
    }
    return -1;
}

bool file_lock_is_held(const struct sys *sys, const char *path)
{
    int fd =
        sys_retry_open(sys, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0); /* it may be a FIFO */
    bool held;

    if (fd < 0)
        return false;
    held = sys->flock(sys, fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    sys->close(sys, fd);
    return held;
}

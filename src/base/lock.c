#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "base/retry.h"

enum { TRIES = 10 }; /* somebody may replace the file again and again */

void lock_take(const struct sys *sys, int fd)
{
    sys->flock(sys, fd, LOCK_EX | LOCK_NB);
}

/* Whether what is open is what has the name now. Without a descriptor to look with it is
 * taken for granted: that is no sign of another process. */
static bool is_named(const struct sys *sys, const struct stat *open, const char *path)
{
    struct stat now;
    int fd = retry_open(sys, path, O_PATH | O_NOFOLLOW, 0);
    bool same = fd < 0 && (errno == EMFILE || errno == ENFILE);

    same = same || (fd >= 0 && retry_fstat(sys, fd, &now) == 0 && now.st_ino == open->st_ino &&
                    now.st_dev == open->st_dev);

    if (fd >= 0)
        sys->close(sys, fd);
    return same;
}

/* Why it cannot be held; 0: it is. ESTALE: another file has the name by now, or none. */
static int hold(const struct sys *sys, int fd, const char *path)
{
    struct stat st;

    if (retry_fstat(sys, fd, &st) != 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EINVAL;
    if (sys->flock(sys, fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return EBUSY;
    return is_named(sys, &st, path) ? 0 : ESTALE;
}

bool lock_claim(const struct sys *sys, int fd, const char *path)
{
    return hold(sys, fd, path) == 0;
}

int lock_hold(const struct sys *sys, const char *path)
{
    for (int i = 0; i < TRIES; i++) {
        int fd = retry_open(sys, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0), why;

        if (fd < 0)
            return -1;
        why = hold(sys, fd, path);
        if (!why)
            return fd;
        sys->close(sys, fd);
        errno = why;
        if (why != ESTALE)
            return -1;
    }
    return -1;
}

bool lock_is_held(const struct sys *sys, const char *path)
{
    int fd =
        retry_open(sys, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0); /* it may be a FIFO */
    bool held;

    if (fd < 0)
        return false;
    held = sys->flock(sys, fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    sys->close(sys, fd);
    return held;
}

#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

enum { TRIES = 10 }; /* somebody may replace the file again and again */

void lock_take(const struct sys *sys, int fd)
{
    sys->flock(sys, fd, LOCK_EX | LOCK_NB);
}

static int open_retry(const struct sys *sys, const char *path, int flags)
{
    int fd;

    do
        fd = sys->open(sys, path, flags | O_NOFOLLOW | O_CLOEXEC, 0);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static bool stat_retry(const struct sys *sys, int fd, struct stat *st)
{
    int r;

    do
        r = sys->fstat(sys, fd, st);
    while (r < 0 && errno == EINTR);
    return r == 0;
}

/* Whether what is open is what has the name now. Without a descriptor to look with it is
 * taken for granted: that is no sign of another process. */
static bool is_named(const struct sys *sys, const struct stat *open, const char *path)
{
    struct stat now;
    int fd = open_retry(sys, path, O_PATH);
    bool same = fd < 0 && (errno == EMFILE || errno == ENFILE);

    same = same || (fd >= 0 && stat_retry(sys, fd, &now) && now.st_ino == open->st_ino &&
                    now.st_dev == open->st_dev);

    if (fd >= 0)
        sys->close(sys, fd);
    return same;
}

/* Why it cannot be held; 0: it is. ESTALE: another file has the name by now, or none. */
static int hold(const struct sys *sys, int fd, const char *path)
{
    struct stat st;

    if (!stat_retry(sys, fd, &st))
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
        int fd = open_retry(sys, path, O_RDONLY | O_NONBLOCK), why;

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
    int fd = open_retry(sys, path, O_RDONLY | O_NONBLOCK); /* it may be a FIFO */
    bool held;

    if (fd < 0)
        return false;
    held = sys->flock(sys, fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    sys->close(sys, fd);
    return held;
}

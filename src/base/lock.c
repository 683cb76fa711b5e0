#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

void lock_take(const struct sys *sys, int fd)
{
    sys->flock(sys, fd, LOCK_EX | LOCK_NB);
}

bool lock_is_held(const struct sys *sys, const char *path)
{
    bool held;
    int fd;

    do /* O_NONBLOCK: it may be a FIFO */
        fd = sys->open(sys, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return false;
    held = sys->flock(sys, fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    sys->close(sys, fd);
    return held;
}

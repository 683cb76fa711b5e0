#include "base/retry.h"

#include <errno.h>
#include <fcntl.h>

#define UNTIL_DONE(call)                                                                       \
    int r;                                                                                     \
                                                                                               \
    do                                                                                         \
        r = (call);                                                                            \
    while (r < 0 && errno == EINTR);                                                           \
    return r

int retry_open(const struct sys *sys, const char *path, int flags, mode_t mode)
{
    UNTIL_DONE(sys->open(sys, path, flags | O_CLOEXEC | O_NOCTTY, mode));
}

int retry_fstat(const struct sys *sys, int fd, struct stat *st)
{
    UNTIL_DONE(sys->fstat(sys, fd, st));
}

int retry_fdatasync(const struct sys *sys, int fd)
{
    UNTIL_DONE(sys->fdatasync(sys, fd));
}

int retry_fsync(const struct sys *sys, int fd)
{
    UNTIL_DONE(sys->fsync(sys, fd));
}

int retry_ftruncate(const struct sys *sys, int fd, off_t len)
{
    UNTIL_DONE(sys->ftruncate(sys, fd, len));
}

int retry_rename(const struct sys *sys, const char *from, const char *to)
{
    UNTIL_DONE(sys->rename(sys, from, to));
}

int retry_link(const struct sys *sys, const char *from, const char *to)
{
    UNTIL_DONE(sys->link(sys, from, to));
}

int retry_unlink(const struct sys *sys, const char *path)
{
    UNTIL_DONE(sys->unlink(sys, path));
}

int retry_mkdir(const struct sys *sys, const char *path, mode_t mode)
{
    UNTIL_DONE(sys->mkdir(sys, path, mode));
}

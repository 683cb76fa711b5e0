#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

static int real_open(const struct sys *s, const char *path, int flags, mode_t mode)
{
    (void)s;
    return open(path, flags, mode);
}

static ssize_t real_read(const struct sys *s, int fd, void *to, size_t n)
{
    (void)s;
    return read(fd, to, n);
}

static ssize_t real_pread(const struct sys *s, int fd, void *to, size_t n, off_t at)
{
    (void)s;
    return pread(fd, to, n, at);
}

static ssize_t real_write(const struct sys *s, int fd, const void *from, size_t n)
{
    (void)s;
    return write(fd, from, n);
}

static int real_fstat(const struct sys *s, int fd, struct stat *st)
{
    (void)s;
    return fstat(fd, st);
}

static int real_fdatasync(const struct sys *s, int fd)
{
    (void)s;
    return fdatasync(fd);
}

static int real_fsync(const struct sys *s, int fd)
{
    (void)s;
    return fsync(fd);
}

static int real_ftruncate(const struct sys *s, int fd, off_t len)
{
    (void)s;
    return ftruncate(fd, len);
}

static int real_fchown(const struct sys *s, int fd, uid_t owner, gid_t group)
{
    (void)s;
    return fchown(fd, owner, group);
}

static int real_fchmod(const struct sys *s, int fd, mode_t mode)
{
    (void)s;
    return fchmod(fd, mode);
}

static int real_flock(const struct sys *s, int fd, int how)
{
    (void)s;
    return flock(fd, how);
}

static int real_rename(const struct sys *s, const char *from, const char *to)
{
    (void)s;
    return rename(from, to);
}

static int real_link(const struct sys *s, const char *from, const char *to)
{
    (void)s;
    return link(from, to);
}

static int real_unlink(const struct sys *s, const char *path)
{
    (void)s;
    return unlink(path);
}

static int real_mkdir(const struct sys *s, const char *path, mode_t mode)
{
    (void)s;
    return mkdir(path, mode);
}

static int real_close(const struct sys *s, int fd)
{
    (void)s;
    return close(fd);
}

const struct sys sys_real = {
    .open = real_open,
    .read = real_read,
    .pread = real_pread,
    .write = real_write,
    .fstat = real_fstat,
    .fdatasync = real_fdatasync,
    .fsync = real_fsync,
    .ftruncate = real_ftruncate,
    .fchown = real_fchown,
    .fchmod = real_fchmod,
    .flock = real_flock,
    .rename = real_rename,
    .link = real_link,
    .unlink = real_unlink,
    .mkdir = real_mkdir,
    .close = real_close,
};

#define RETRY_EINTR(call)                                                                      \
    int r;                                                                                     \
                                                                                               \
    do                                                                                         \
        r = (call);                                                                            \
    while (r < 0 && errno == EINTR);                                                           \
    return r

int sys_retry_open(const struct sys *sys, const char *path, int flags, mode_t mode)
{
    RETRY_EINTR(sys->open(sys, path, flags | O_CLOEXEC | O_NOCTTY, mode));
}

int sys_retry_fstat(const struct sys *sys, int fd, struct stat *st)
{
    RETRY_EINTR(sys->fstat(sys, fd, st));
}

int sys_retry_fdatasync(const struct sys *sys, int fd)
{
    RETRY_EINTR(sys->fdatasync(sys, fd));
}

int sys_retry_fsync(const struct sys *sys, int fd)
{
    RETRY_EINTR(sys->fsync(sys, fd));
}

int sys_retry_ftruncate(const struct sys *sys, int fd, off_t len)
{
    RETRY_EINTR(sys->ftruncate(sys, fd, len));
}

int sys_retry_fchown(const struct sys *sys, int fd, uid_t owner, gid_t group)
{
    RETRY_EINTR(sys->fchown(sys, fd, owner, group));
}

int sys_retry_fchmod(const struct sys *sys, int fd, mode_t mode)
{
    RETRY_EINTR(sys->fchmod(sys, fd, mode));
}

int sys_retry_rename(const struct sys *sys, const char *from, const char *to)
{
    RETRY_EINTR(sys->rename(sys, from, to));
}

int sys_retry_link(const struct sys *sys, const char *from, const char *to)
{
    RETRY_EINTR(sys->link(sys, from, to));
}

int sys_retry_unlink(const struct sys *sys, const char *path)
{
    RETRY_EINTR(sys->unlink(sys, path));
}

int sys_retry_mkdir(const struct sys *sys, const char *path, mode_t mode)
{
    RETRY_EINTR(sys->mkdir(sys, path, mode));
}

#include "base/atfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static bool cannot(struct err *e, const char *verb, const char *path, int errnum)
{
    err_errno(e, errnum);
    return err_wrap(e, "cannot %s '%s'", verb, path);
}

bool atfile_read(struct file *f, uint64_t at, char *to, size_t len, struct err *e)
{
    while (len) {
        ssize_t n = f->sys->pread(f->sys, f->fd, to, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot(e, "read", f->path, errno);
        if (n == 0)
            return err_set(e, ERR_IO, "cannot read '%s': it has become shorter", f->path);
        to += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

static int open_retry(const struct sys *sys, const char *path, int flags)
{
    int fd;

    do
        fd = sys->open(sys, path, flags | O_RDWR | O_CLOEXEC, 0600);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Where a file system knows no files without a name: it has one for a moment. */
static bool name_for_a_moment(int *fd, const struct sys *sys, const char *dir, struct err *e)
{
    char name[PATH_MAX];

    snprintf(name, sizeof name, "%s/.mcpreel-%ld", dir, (long)getpid());
    *fd = open_retry(sys, name, O_CREAT | O_EXCL | O_NOFOLLOW);
    if (*fd < 0)
        return cannot(e, "make a temporary file in", dir, errno);
    if (sys->unlink(sys, name) == 0)
        return true;
    cannot(e, "remove", name, errno);
    sys->close(sys, *fd);
    return false;
}

bool atfile_nameless(struct file *f, const struct sys *sys, const char *dir, struct err *e)
{
    int fd = open_retry(sys, dir, O_TMPFILE);

    if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        return cannot(e, "make a temporary file in", dir, errno);
    if (fd < 0 && !name_for_a_moment(&fd, sys, dir, e))
        return false;
    *f = (struct file){ .sys = sys, .path = dir, .fd = fd };
    return true;
}

#include "base/atfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/retry.h"

bool atfile_read(struct file *f, uint64_t at, char *to, size_t len, struct err *e)
{
    while (len) {
        ssize_t n = f->sys->pread(f->sys, f->fd, to, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_cannot(e, "read", f->path, errno);
        if (n == 0)
            return err_set(e, ERR_IO, "cannot read '%s': it has become shorter", f->path);
        to += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

/* Where a file system knows no files without a name: it has one for a moment. */
static bool name_for_a_moment(int *fd, const struct sys *sys, const char *dir, struct err *e)
{
    char name[PATH_MAX];

    snprintf(name, sizeof name, "%s/.mcpreel-%ld", dir, (long)getpid());
    *fd = retry_open(sys, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return err_cannot(e, "make a temporary file in", dir, errno);
    if (retry_unlink(sys, name) == 0)
        return true;
    err_cannot(e, "remove", name, errno);
    sys->close(sys, *fd);
    return false;
}

bool atfile_nameless(struct file *f, const struct sys *sys, const char *dir, struct err *e)
{
    int fd = retry_open(sys, dir, O_RDWR | O_TMPFILE, 0600);

    if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        return err_cannot(e, "make a temporary file in", dir, errno);
    if (fd < 0 && !name_for_a_moment(&fd, sys, dir, e))
        return false;
    *f = (struct file){ .sys = sys, .path = dir, .fd = fd };
    return true;
}

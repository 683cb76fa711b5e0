#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool cannot(struct err *e, const char *verb, const char *path, int errnum)
{
    err_errno(e, errnum);
    return err_wrap(e, "cannot %s '%s'", verb, path);
}

static int open_folder(const struct sys *sys, const char *path, int flags)
{
    int fd;

    do
        fd = sys->open(sys, path, flags | O_DIRECTORY | O_CLOEXEC, 0);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Where the file of that name stands; the caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    char *folder = mem_alloc(len + 2);

    memcpy(folder, path, len);
    if (!len)
        folder[0] = slash ? '/' : '.';
    return folder;
}

bool folder_is(const struct sys *sys, const char *path)
{
    int fd = open_folder(sys, path, O_PATH);

    if (fd >= 0)
        sys->close(sys, fd);
    return fd >= 0;
}

bool folder_is_open_to_all(const struct sys *sys, const char *path)
{
    int fd = open_folder(sys, path, O_PATH);
    struct stat st = { 0 };

    if (fd < 0)
        return false;
    while (sys->fstat(sys, fd, &st) < 0 && errno == EINTR)
        continue;
    sys->close(sys, fd);
    return (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX);
}

/* Somebody else may make the same folder at the same time. */
static bool make_one(const struct sys *sys, const char *path, struct err *e)
{
    int r;

    do
        r = sys->mkdir(sys, path, 0700);
    while (r < 0 && errno == EINTR);
    return r == 0 || errno == EEXIST || cannot(e, "make folder", path, errno);
}

bool folder_make(const struct sys *sys, const char *path, struct err *e)
{
    char *above;
    bool ok = true;

    if (folder_is(sys, path))
        return true;
    above = folder_of(path);
    if (strcmp(above, "/") != 0 && strcmp(above, ".") != 0)
        ok = folder_make(sys, above, e);
    free(above);
    ok = ok && make_one(sys, path, e);
    if (ok && !folder_is(sys, path))
        return cannot(e, "make folder", path, ENOTDIR);
    return ok;
}

static int sync_retry(const struct sys *sys, int fd)
{
    int r;

    do
        r = sys->fsync(sys, fd);
    while (r < 0 && errno == EINTR);
    return r;
}

bool folder_sync_of(const struct sys *sys, const char *path, struct err *e)
{
    char *folder = folder_of(path);
    int fd = open_folder(sys, folder, O_RDONLY);
    bool ok = fd >= 0 && sync_retry(sys, fd) == 0;

    /* One may write in a folder that one may not read. */
    if (!ok && errno != EINVAL && errno != EACCES)
        cannot(e, "sync", folder, errno);
    else
        ok = true;
    if (fd >= 0)
        sys->close(sys, fd);
    free(folder);
    return ok;
}

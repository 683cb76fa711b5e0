#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/retry.h"

static int open_folder(const struct sys *sys, const char *path, int flags)
{
    return retry_open(sys, path, flags | O_DIRECTORY, 0);
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
    retry_fstat(sys, fd, &st); /* on failure it stays closed to them */
    sys->close(sys, fd);
    return (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX);
}

/* Somebody else may make the same folder at the same time. */
static bool make_one(const struct sys *sys, const char *path, struct err *e)
{
    return retry_mkdir(sys, path, 0700) == 0 || errno == EEXIST ||
           err_cannot(e, "make folder", path, errno);
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
        return err_cannot(e, "make folder", path, ENOTDIR);
    return ok;
}

bool folder_sync_of(const struct sys *sys, const char *path, struct err *e)
{
    char *folder = folder_of(path);
    int fd = open_folder(sys, folder, O_RDONLY);
    bool ok = fd >= 0 && retry_fsync(sys, fd) == 0;

    /* One may write in a folder that one may not read. */
    if (!ok && errno != EINVAL && errno != EACCES)
        err_cannot(e, "sync", folder, errno);
    else
        ok = true;
    if (fd >= 0)
        sys->close(sys, fd);
    free(folder);
    return ok;
}

/* What stands there under that name; false if it is no regular file or has just gone. */
static bool look_at(DIR *folder, const char *name, struct folder_file *f)
{
    struct stat st;

    if (name[0] == '.' || fstatat(dirfd(folder), name, &st, 0) != 0 || !S_ISREG(st.st_mode))
        return false;
    f->bytes = (uint64_t)st.st_size;
    f->changed_us = (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
    return true;
}

bool folder_files(const char *path, struct folder_file **out, size_t *count, struct arena *a,
                  struct err *e)
{
    const char *slash = str_ends(str_z(path), STR("/")) ? "" : "/";
    DIR *folder = opendir(path);
    struct folder_file *files = NULL;
    const struct dirent *entry;
    size_t cap = 0, n = 0;

    if (!folder) {
        err_cannot(e, "read the folder", path, errno);
        e->kind = ERR_INPUT;
        return false;
    }
    while ((entry = readdir(folder))) {
        files = mem_reserve(files, &cap, n + 1, sizeof *files);
        if (look_at(folder, entry->d_name, &files[n]))
            files[n++].path = arena_printf(a, "%s%s%s", path, slash, entry->d_name).at;
    }
    closedir(folder);
    *out = files;
    *count = n;
    return true;
}

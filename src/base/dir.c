#include "base/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int open_dir(const struct sys *sys, const char *path, int flags)
{
    return sys_retry_open(sys, path, flags | O_DIRECTORY, 0);
}

/* Where the file of that name stands; the caller frees it. */
static char *parent_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    char *dir = mem_alloc(len + 2);

    memcpy(dir, path, len);
    if (!len)
        dir[0] = slash ? '/' : '.';
    return dir;
}

bool dir_exists(const struct sys *sys, const char *path)
{
    int fd = open_dir(sys, path, O_PATH);

    if (fd >= 0)
        sys->close(sys, fd);
    return fd >= 0;
}

bool dir_is_world_writable(const struct sys *sys, const char *path)
{
    int fd = open_dir(sys, path, O_PATH);
    struct stat st = { 0 };

    if (fd < 0)
        return false;
    sys_retry_fstat(sys, fd, &st); /* on failure it stays closed to them */
    sys->close(sys, fd);
    return (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX);
}

/* Another process may create the same directory at the same time. */
static bool make_dir(const struct sys *sys, const char *path, struct err *e)
{
    return sys_retry_mkdir(sys, path, 0700) == 0 || errno == EEXIST ||
           err_cannot(e, "make folder", path, errno);
}

bool dir_create(const struct sys *sys, const char *path, struct err *e)
{
    char *above;
    bool ok = true;

    if (dir_exists(sys, path))
        return true;
    above = parent_dir(path);
    if (strcmp(above, "/") != 0 && strcmp(above, ".") != 0)
        ok = dir_create(sys, above, e);
    free(above);
    ok = ok && make_dir(sys, path, e);
    if (ok && !dir_exists(sys, path))
        return err_set(e, ERR_IO, "cannot make folder '%s': a file has this name", path);
    return ok;
}

bool dir_sync_parent(const struct sys *sys, const char *path, struct err *e)
{
    char *dir = parent_dir(path);
    int fd = open_dir(sys, dir, O_RDONLY);
    bool ok = fd >= 0 && sys_retry_fsync(sys, fd) == 0;

    /* One may write in a folder that one may not read. */
    if (!ok && errno != EINVAL && errno != EACCES)
        err_cannot(e, "sync", dir, errno);
    else
        ok = true;
    if (fd >= 0)
        sys->close(sys, fd);
    free(dir);
    return ok;
}

/* Returns false if it is no regular file or was just deleted. */
static bool stat_regular(DIR *dir, const char *name, struct dir_file *f)
{
    struct stat st;

    if (name[0] == '.' || fstatat(dirfd(dir), name, &st, 0) != 0 || !S_ISREG(st.st_mode))
        return false;
    f->size = (uint64_t)st.st_size;
    f->modified_us = (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
    return true;
}

bool dir_each_file(const char *path, dir_file_fn put, void *arg, struct err *e)
{
    const char *slash = str_ends(str_z(path), STR("/")) ? "" : "/";
    DIR *dir = opendir(path);
    const struct dirent *entry;
    struct arena a = { 0 };
    struct dir_file f;

    if (!dir) {
        err_cannot(e, "read the folder", path, errno);
        e->kind = ERR_INPUT;
        return false;
    }
    while ((entry = readdir(dir))) {
        arena_clear(&a);
        if (!stat_regular(dir, entry->d_name, &f))
            continue;
        f.path = arena_printf(&a, "%s%s%s", path, slash, entry->d_name).at;
        put(arg, &f);
    }
    closedir(dir);
    arena_release(&a);
    return true;
}

struct file_list {
    struct dir_file *files;
    size_t cap, count;
    struct arena *arena;
};

static void add_to_list(void *arg, const struct dir_file *f)
{
    struct file_list *l = arg;

    l->files = mem_reserve(l->files, &l->cap, l->count + 1, sizeof *l->files);
    l->files[l->count] = *f;
    l->files[l->count++].path = arena_z(l->arena, str_z(f->path));
}

bool dir_list_files(const char *path, struct dir_file **out, size_t *count, struct arena *a,
                    struct err *e)
{
    struct file_list l = { .arena = a };

    if (!dir_each_file(path, add_to_list, &l, e))
        return false;
    *out = l.files;
    *count = l.count;
    return true;
}

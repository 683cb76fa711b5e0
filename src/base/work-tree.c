#include "base/work-tree.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_git(struct str dir, struct arena *a)
{
    struct stat st;

    return stat(arena_printf(a, "%.*s/.git", STR_ARG(dir)).at, &st) == 0;
}

struct str work_tree_folder(struct arena *a)
{
    char path[PATH_MAX];
    struct str here;
    size_t len;

    if (!getcwd(path, sizeof path))
        return STR_NONE;
    here = str_z(path);
    for (len = here.len; len; len--) {
        bool is_end = len == here.len || here.at[len] == '/';

        if (is_end && has_git(str_n(here.at, len), a))
            break;
    }
    if (!len || len == here.len)
        return STR_NONE;
    return arena_printf(a, "%.*s/", STR_ARG(str_skip(here, len + 1)));
}

/* Returns the length of a path without its last folder; SIZE_MAX: there is none to leave. */
static size_t leave_folder(struct str path)
{
    size_t len = path.len;

    if (!len || str_ends(path, STR("../")))
        return SIZE_MAX;
    for (len--; len && path.at[len - 1] != '/';)
        len--;
    return len;
}

struct str work_tree_path(struct str folder, struct str path, struct arena *a)
{
    char *to = arena_alloc(a, folder.len + path.len + 1);
    size_t len = folder.len;

    if (!folder.len)
        return path;
    memcpy(to, folder.at, folder.len);
    while (path.len) {
        size_t end = str_find(path, '/'), outer;
        struct str part = str_n(path.at, end), step = str_n(path.at, end + (end < path.len));

        path = str_skip(path, step.len);
        if (!part.len || str_eq(part, STR(".")))
            continue;
        outer = str_eq(part, STR("..")) ? leave_folder(str_n(to, len)) : SIZE_MAX;
        if (outer != SIZE_MAX) {
            len = outer;
            continue;
        }
        memcpy(to + len, step.at, step.len);
        len += step.len;
    }
    return str_n(to, len);
}

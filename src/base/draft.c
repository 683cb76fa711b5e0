#include "base/draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/retry.h"

enum { NAME_KEPT = 64, NAME_ROOM = 128 };

/* In the same folder, so that the name can be given without copying. The end of the
 * name is kept: it may say what is in the file. */
static char *name_beside(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t folder = (size_t)(name - path), len = strlen(name);
    char *at = mem_alloc(folder + NAME_ROOM);

    if (folder)
        memcpy(at, path, folder);
    snprintf(at + folder, NAME_ROOM, ".mcpreel-%ld-%s", (long)getpid(),
             name + (len > NAME_KEPT ? len - NAME_KEPT : 0));
    return at;
}

bool draft_open(struct draft *d, struct file *f, const struct sys *sys, const char *path,
                bool replace, struct err *e)
{
    *d = (struct draft){ .replace = replace };
    if (!file_may_create(sys, path, replace, e))
        return false;
    d->at = name_beside(path);
    /* What has that name already is what a process of the same number left behind. */
    if (file_create_at(f, sys, d->at, path, true, e))
        return true;
    free(d->at);
    d->at = NULL;
    return false;
}

static bool is_being_written(struct err *e, const char *path)
{
    return err_set(e, ERR_USAGE, "cannot write '%s': another process is writing it", path);
}

static bool make_and_lock(struct file *f, const struct sys *sys, const char *path,
                          struct err *e)
{
    struct err ignored = ERR_NONE;

    if (!file_create(f, sys, path, false, e))
        return false;
    if (lock_claim(sys, f->fd, path))
        return true;
    file_close(f, &ignored); /* what has the name now is another's */
    return is_being_written(e, path);
}

/* Renamed, not linked: what is open shall be known by its name. */
static bool put_in_place(const struct sys *sys, const char *at, const char *path, struct err *e)
{
    return retry_rename(sys, at, path) == 0 || err_cannot(e, "write", path, errno);
}

/* It is no file, may not be read, or is gone by now. */
static bool replace_unheld(struct file *f, const struct sys *sys, const char *path,
                           struct err *e)
{
    if (!file_create(f, sys, path, true, e))
        return false;
    lock_take(sys, f->fd);
    return true;
}

/* Nobody else replaces what is held, and whoever made it a moment ago and has no lock yet
 * sees that it is too late. */
static bool replace_locked(struct file *f, const struct sys *sys, const char *path,
                           struct err *e)
{
    int old = lock_hold(sys, path);
    char *at;
    bool ok;

    if (old < 0 && errno == EBUSY)
        return is_being_written(e, path);
    if (old < 0)
        return replace_unheld(f, sys, path, e);
    at = name_beside(path);
    ok = file_create_at(f, sys, at, path, true, e);
    if (ok) {
        lock_take(sys, f->fd);
        ok = put_in_place(sys, at, path, e);
        if (!ok)
            draft_drop(&(struct draft){ .at = at }, f);
        else
            free(at);
    } else {
        free(at);
    }
    sys->close(sys, old);
    return ok;
}

bool draft_open_locked(struct file *f, const struct sys *sys, const char *path, bool replace,
                       struct err *e)
{
    struct err why = ERR_NONE;

    if (make_and_lock(f, sys, path, &why))
        return true;
    if (!replace || why.kind != ERR_USAGE) {
        *e = why;
        return false;
    }
    return replace_locked(f, sys, path, e);
}

bool draft_keep(struct draft *d, struct file *f, struct err *e)
{
    bool ok = file_sync(f, e) && file_close(f, e) &&
              file_give_name(f->sys, d->at, f->path, d->replace, e);

    if (!ok) {
        draft_drop(d, f);
        return false;
    }
    free(d->at);
    d->at = NULL;
    return folder_sync_of(f->sys, f->path, e);
}

void draft_drop(struct draft *d, struct file *f)
{
    struct err ignored = ERR_NONE;

    file_close(f, &ignored);
    retry_unlink(f->sys, d->at);
    free(d->at);
    d->at = NULL;
}

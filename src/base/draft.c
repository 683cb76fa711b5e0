#include "base/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"

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
    f->sys->unlink(f->sys, d->at);
    free(d->at);
    d->at = NULL;
}

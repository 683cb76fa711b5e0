/* base/draft.h - a file that gets its name only when it is whole.
 *
 * Until then it stands beside, as ".mcpreel-PID-NAME". Whoever looks under its own name
 * finds what was there before or all of the new file, never a part of it. A process that
 * is killed leaves the draft behind and nothing else. */
#ifndef BASE_DRAFT_H
#define BASE_DRAFT_H

#include "base/file.h"

struct draft {
    char *at; /* where it stands for now; NULL: nowhere */
    bool replace;
};

/* Opens `f` for writing as file_create() would, with the same errors; messages name
 * `path`, which is borrowed until the end. */
bool draft_open(struct draft *d, struct file *f, const struct sys *sys, const char *path,
                bool replace, struct err *e) MUST_CHECK;

/* As file_create(), but from the moment it has its name the file is locked, and of several
 * who replace one another's file at the same time each sees the one before it. */
bool draft_open_locked(struct file *f, const struct sys *sys, const char *path, bool replace,
                       struct err *e) MUST_CHECK;

/* Ends in one of these. Keeping syncs, closes and gives the name; if that fails, all of
 * it is dropped. That the name may not survive a power cut is an error, too, but then the
 * file is there. */
bool draft_keep(struct draft *d, struct file *f, struct err *e) MUST_CHECK;
void draft_drop(struct draft *d, struct file *f);

#endif

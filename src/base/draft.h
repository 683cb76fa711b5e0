/* base/draft.h - a file that gets its name only when it is whole.
 *
 * Until then it stands beside, as ".mcpreel-PID-NAME". Whoever looks under its own name
 * finds what was there before or all of the new file, never a part of it. SIGINT, SIGTERM
 * and SIGHUP remove what draft_open() made before they end the process; a process that is
 * killed leaves the draft behind and nothing else. */
#ifndef BASE_DRAFT_H
#define BASE_DRAFT_H

#include "base/file.h"

struct draft {
    char *at; /* where it stands for now; NULL: nowhere */
    bool replace;
    int old; /* draft_open_locked(): descriptor of the file to be replaced, locked; else -1 */
    struct draft_guard *guard; /* draft_open(): removes the draft on a signal; may be NULL */
};

/* Opens `f` for writing as file_create() would, with the same errors; messages name
 * `path`, which is borrowed until the end. */
bool draft_open(struct draft *d, struct file *f, const struct sys *sys, const char *path,
                bool replace, struct err *e) MUST_CHECK;

/* Makes a file to be written over time, locked for as long as it is open. If there is no file
 * of that name, it has its name at once (`d->at` is NULL). Else, with `replace`, it stands
 * beside the old file, which keeps its name and is locked as well, until draft_replace() puts
 * the new one in its place or draft_remove() removes the new one. Errors are those of
 * file_create(). */
bool draft_open_locked(struct draft *d, struct file *f, const struct sys *sys, const char *path,
                       bool replace, struct err *e) MUST_CHECK;

/* Gives the file its name, in place of the old one's; there is no moment without a file of
 * that name. On failure both stay as they were. Does nothing if it has its name already. */
bool draft_replace(struct draft *d, const struct sys *sys, const char *path,
                   struct err *e) MUST_CHECK;
void draft_remove(struct draft *d, const struct sys *sys);
void draft_leave(struct draft *d, const struct sys *sys); /* where it is; idempotent */

/* Ends in one of these. Keeping syncs, closes and gives the name; if that fails, all of
 * it is dropped. That the name may not survive a power cut is an error, too, but then the
 * file is there. */
bool draft_keep(struct draft *d, struct file *f, struct err *e) MUST_CHECK;
void draft_drop(struct draft *d, struct file *f);

#endif

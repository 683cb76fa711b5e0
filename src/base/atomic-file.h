/* base/atomic-file.h - writes a file that gets its name only when it is complete.
 *
 * Until then it is a temporary file in the same directory, ".mcpreel-PID-NAME". A reader of the
 * path finds the old file or all of the new one, never a part. SIGINT, SIGTERM and SIGHUP
 * remove a temporary file of atomic_file_open() before they end the process; SIGKILL leaves it
 * behind. */
#ifndef BASE_ATOMIC_FILE_H
#define BASE_ATOMIC_FILE_H

#include "base/file.h"

struct atomic_file {
    char *temp_path; /* owned; NULL: there is no temporary file */
    bool replace;
    int old_fd; /* the locked file that is to be replaced (atomic_file_open_locked()); else -1
                 */
    struct atomic_file_guard *signal_guard; /* removes the temporary file on a signal
                                               (atomic_file_open()); may be NULL */
};

/* Opens a temporary file for writing. Errors are those of file_create() and name `path`, which
 * is borrowed until the end. */
bool atomic_file_open(struct atomic_file *d, struct file *f, const struct sys *sys,
                      const char *path, bool replace, struct err *e) MUST_CHECK;

/* Creates a file that is written over time and locked while it is open. If `path` does not
 * exist, the file has its name at once (`temp_path` is NULL). Else, with `replace`, a temporary
 * file is made and both files are locked, until atomic_file_rename() puts the new one in place
 * or atomic_file_remove() deletes it. Errors are those of file_create(). */
bool atomic_file_open_locked(struct atomic_file *d, struct file *f, const struct sys *sys,
                             const char *path, bool replace, struct err *e) MUST_CHECK;

/* Renames the temporary file to `path`, atomically. On failure both files stay. Does nothing if
 * there is no temporary file. */
bool atomic_file_rename(struct atomic_file *d, const struct sys *sys, const char *path,
                        struct err *e) MUST_CHECK;
void atomic_file_remove(struct atomic_file *d, const struct sys *sys);
void atomic_file_release(struct atomic_file *d,
                         const struct sys *sys); /* keeps files as they are; idempotent */

/* One of these ends atomic_file_open(). Commit syncs, closes and renames; if that fails, it
 * aborts. If only the sync of the directory fails, it returns false, but the file is in
 * place. */
bool atomic_file_commit(struct atomic_file *d, struct file *f, struct err *e) MUST_CHECK;
void atomic_file_abort(struct atomic_file *d, struct file *f);

#endif

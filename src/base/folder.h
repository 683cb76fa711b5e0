/* base/folder.h - the folders that files stand in. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/sys.h"

/* Whether a folder stands there. */
bool folder_is(const struct sys *sys, const char *path);

/* Whether anybody may take away or replace what others have in it. */
bool folder_is_open_to_all(const struct sys *sys, const char *path);

/* Makes the folder and those above it, for their owner only, where there are none. */
bool folder_make(const struct sys *sys, const char *path, struct err *e) MUST_CHECK;

struct folder_file {
    const char *path; /* with the folder's own in front */
    uint64_t bytes;
    int64_t changed_us; /* since 1970 */
};

/* The regular files in a folder, links to such included, but for those with a hidden name; in
 * no order. ERR_INPUT if it cannot be read. */
bool folder_files(const char *path, struct folder_file **out, size_t *count, struct arena *a,
                  struct err *e) MUST_CHECK;

/* A file that is synced but was made a moment ago may lose its name in a power cut: this
 * brings the folder of the file `path` to the disk. Where folders cannot be synced there
 * is nothing to do, and that is no error. */
bool folder_sync_of(const struct sys *sys, const char *path, struct err *e) MUST_CHECK;

#endif

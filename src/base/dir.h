/* base/dir.h - creates, lists and syncs directories. */
#ifndef BASE_DIR_H
#define BASE_DIR_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/sys.h"

bool dir_exists(const struct sys *sys, const char *path);

/* Returns whether every user may delete or replace files of others in it (no sticky bit). */
bool dir_is_world_writable(const struct sys *sys, const char *path);

/* Creates the directory and its missing parents with mode 0700. */
bool dir_create(const struct sys *sys, const char *path, struct err *e) MUST_CHECK;

struct dir_file {
    const char *path; /* starts with the path of the directory */
    uint64_t size;
    int64_t modified_us; /* since 1970 */
};

/* Calls `put` for each regular file and each link to such, without hidden names, in no order.
 * `f` is valid during the call. ERR_INPUT if the directory cannot be read. */
typedef void (*dir_file_fn)(void *arg, const struct dir_file *f);
bool dir_each_file(const char *path, dir_file_fn put, void *arg, struct err *e) MUST_CHECK;

/* Lists regular files and links to such, without hidden names, in no order. ERR_INPUT if the
 * directory cannot be read. */
bool dir_list_files(const char *path, struct dir_file **out, size_t *count, struct arena *a,
                    struct err *e) MUST_CHECK;

/* Syncs the directory of the file `path`: otherwise a new file may lose its name in a power
 * cut. Succeeds where directories cannot be synced. */
bool dir_sync_parent(const struct sys *sys, const char *path, struct err *e) MUST_CHECK;

#endif

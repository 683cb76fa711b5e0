/* base/atfile.h - bytes at any place of a file, and files without a name to keep bytes in.
 *
 * Errors name the path, as in base/file.h. */
#ifndef BASE_ATFILE_H
#define BASE_ATFILE_H

#include "base/file.h"

/* Exactly `len` bytes from an offset, of a file that can be read anywhere; ERR_IO if there
 * are no longer as many. */
bool atfile_read(struct file *f, uint64_t at, char *to, size_t len, struct err *e) MUST_CHECK;

/* For reading and writing, mode 0600, in folder `dir`; it has no name, so nothing is left
 * of it when it is closed or the process dies. `dir` is borrowed as its path. */
bool atfile_nameless(struct file *f, const struct sys *sys, const char *dir,
                     struct err *e) MUST_CHECK;

#endif

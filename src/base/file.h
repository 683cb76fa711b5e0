/* base/file.h - whole-file and streaming access with errors fit to show.
 *
 * Knows no format. Every call retries EINTR, a write so often and no more; messages name the
 * path.
 *
 * A file that cannot be opened for reading is ERR_INPUT; trouble of the machine
 * (out of descriptors, EIO) and everything after opening is ERR_IO. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/sys.h"

struct file {
    const struct sys *sys;
    const char *path; /* borrowed: must outlive the file; "standard input" for "-" */
    int fd;           /* -1: closed */
};

#define FILE_CLOSED                                                                            \
    {                                                                                          \
        .fd = -1                                                                               \
    }

/* Whether a name means standard input or output. */
bool file_is_standard(const char *path);

/* For reading; "-" is standard input, which may be anything but a directory and is
 * never closed. Of names a directory, FIFO, socket or device is
 * refused (ERR_INPUT) without being opened for long: none of them is a recording,
 * and waiting for a FIFO's writer would look like a hang. */
bool file_open(struct file *f, const struct sys *sys, const char *path,
               struct err *e) MUST_CHECK;

/* For writing at the end: made new with mode 0600, never through a symbolic link. An
 * existing path is ERR_USAGE unless `replace`, and then only a regular file that nobody
 * holds a lock on is replaced: it is looked at, unlinked and made new, so whoever has the old
 * one open keeps it, its other hard links live on, and a path that somebody else takes in
 * between is refused, not opened. Until the unlink nothing has touched it. */
bool file_create(struct file *f, const struct sys *sys, const char *path, bool replace,
                 struct err *e) MUST_CHECK;

/* As file_create() of `at`; messages name `path`, which is borrowed in its place. */
bool file_create_at(struct file *f, const struct sys *sys, const char *at, const char *path,
                    bool replace, struct err *e) MUST_CHECK;

/* Whether file_create() would take the path as it is now; errors are the same. */
bool file_may_create(const struct sys *sys, const char *path, bool replace,
                     struct err *e) MUST_CHECK;

/* Gives the file that stands at `at` its name. Somebody else's file of that name is
 * ERR_USAGE unless `replace`; there is no moment in which it is gone. */
bool file_give_name(const struct sys *sys, const char *at, const char *path, bool replace,
                    struct err *e) MUST_CHECK;

/* Whether a descriptor that we were given can be written to; else ERR_USAGE. */
bool file_may_tell(int fd, struct err *e) MUST_CHECK;

/* Standard output, to be written to; never closed. */
struct file file_standard_output(const struct sys *sys);

/* One read; `*got` 0 means the end. */
bool file_read(struct file *f, char *to, size_t cap, size_t *got, struct err *e) MUST_CHECK;

/* One write(2) of all bytes in the normal case; goes on after a short one, and waits
 * for a full pipe that does not block. A file that answers EINTR or EAGAIN without end has
 * failed. `*done` says how many bytes reached the file, also on failure. */
bool file_write(struct file *f, struct str bytes, size_t *done, struct err *e) MUST_CHECK;

bool file_sync(struct file *f, struct err *e) MUST_CHECK;
bool file_truncate(struct file *f, uint64_t len, struct err *e) MUST_CHECK;
bool file_size(struct file *f, uint64_t *size, struct err *e) MUST_CHECK;
bool file_close(struct file *f, struct err *e); /* idempotent; the error matters to writers */

/* Appends all of a file to `to`; ERR_LIMIT if it would pass the buffer's ceiling. On
 * failure `to` holds some of it. */
bool file_slurp(struct buf *to, const struct sys *sys, const char *path,
                struct err *e) MUST_CHECK;

#endif

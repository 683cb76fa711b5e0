/* base/file.h - opens, reads, writes and creates files, with errors fit to show.
 *
 * Knows no format. Every call retries EINTR, a write a limited number of times; messages name
 * the path.
 *
 * A file that cannot be opened for reading is ERR_INPUT; a failure of the machine (no
 * descriptors, EIO) and every failure after opening is ERR_IO. */
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

/* Returns whether a path means standard input or output ("-"). */
bool file_is_stdio(const char *path);

/* Opens for reading. "-" is standard input, which may be anything but a directory and is never
 * closed. A path of a directory, FIFO, socket or device is rejected (ERR_INPUT): none of them
 * is a recording, and waiting for a FIFO's writer would look like a hang. */
bool file_open(struct file *f, const struct sys *sys, const char *path,
               struct err *e) MUST_CHECK;

/* Creates a file with mode 0600 for appending, never through a symbolic link. An existing path
 * is ERR_USAGE unless `replace`, and then only a regular file without a lock is replaced: it is
 * checked, unlinked and created anew. Processes that have the old file open keep it, its other
 * hard links stay, and a path that another process creates in between is rejected. Until the
 * unlink, the old file is untouched. */
bool file_create(struct file *f, const struct sys *sys, const char *path, bool replace,
                 struct err *e) MUST_CHECK;

/* Same as file_create() of `at`; messages name `path`, which is borrowed instead. */
bool file_create_temp(struct file *f, const struct sys *sys, const char *at, const char *path,
                      bool replace, struct err *e) MUST_CHECK;

/* Returns whether file_create() would succeed for the path as it is now; same errors. */
bool file_can_create(const struct sys *sys, const char *path, bool replace,
                     struct err *e) MUST_CHECK;

/* Renames `at` to `path`. An existing file of that name is ERR_USAGE unless `replace`; then the
 * exchange is atomic. */
bool file_rename(const struct sys *sys, const char *at, const char *path, bool replace,
                 struct err *e) MUST_CHECK;

/* Checks that an inherited descriptor can be written to; else ERR_USAGE. */
bool file_can_write_fd(int fd, struct err *e) MUST_CHECK;

/* Returns standard output; file_close() does not close it. */
struct file file_stdout(const struct sys *sys);

/* Reads once; `*got` is 0 at the end. */
bool file_read(struct file *f, char *to, size_t cap, size_t *got, struct err *e) MUST_CHECK;

/* Writes all bytes, normally with one write(2); continues after a short write and waits for a
 * full non-blocking pipe. Endless EINTR or EAGAIN is a failure. `*done` is the number of bytes
 * that reached the file, also on failure. */
bool file_write(struct file *f, struct str bytes, size_t *done, struct err *e) MUST_CHECK;

/* The same without a loop: a file that reaches the size limit of the process is an error, too.
 * The signal SIGXFSZ, which would end the process, is ignored only meanwhile, so that no child
 * inherits that. */
bool file_write_limited(struct file *f, struct str bytes, size_t *done,
                        struct err *e) MUST_CHECK;

/* Returns whether two paths name the same file, or would if it were created: "a", "./a" and a
 * link to "a". A path that cannot be looked up is the same only if it is spelled alike. */
bool file_is_same_place(const struct sys *sys, const char *a, const char *b);

/* Checks that the user may write to an existing file; does not change it. */
bool file_can_modify(const struct sys *sys, const char *path, struct err *e) MUST_CHECK;

/* Gives a file the owner, the group and the permissions of another. */
bool file_copy_owner_and_mode(struct file *to, struct file *from, struct err *e) MUST_CHECK;

/* Identifies the content of a file at a time: a file of the same version has not been changed
 * or replaced. */
struct file_version {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
};

bool file_read_version(struct file *f, struct file_version *v, struct err *e) MUST_CHECK;
bool file_is_same_version(const struct file_version *a, const struct file_version *b);

/* Returns whether the file that has the path now is of that version. */
bool file_has_version(const struct sys *sys, const char *path, const struct file_version *v);

bool file_sync(struct file *f, struct err *e) MUST_CHECK;
bool file_truncate(struct file *f, uint64_t len, struct err *e) MUST_CHECK;
bool file_size(struct file *f, uint64_t *size, struct err *e) MUST_CHECK;
bool file_close(struct file *f, struct err *e); /* idempotent; the error matters to writers */

/* Appends the content of a file to `to`; ERR_LIMIT if it would exceed the buffer's maximum. On
 * failure `to` holds a part of it. */
bool file_read_all(struct buf *to, const struct sys *sys, const char *path,
                   struct err *e) MUST_CHECK;

/* Reads exactly `len` bytes at an offset of a seekable file; ERR_IO if there are fewer. */
bool file_read_at(struct file *f, uint64_t at, char *to, size_t len, struct err *e) MUST_CHECK;

/* Creates a file without a name in the directory `dir`, for reading and writing, with mode
 * 0600. Nothing is left of it when it is closed or the process dies. `dir` is borrowed as its
 * path. */
bool file_create_unnamed(struct file *f, const struct sys *sys, const char *dir,
                         struct err *e) MUST_CHECK;

#endif

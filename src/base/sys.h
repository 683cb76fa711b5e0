/* base/sys.h - the system calls that can fail, as one table.
 *
 * Whoever touches a file takes a `const struct sys *`; main() hands down
 * &sys_real, a test hands down a table whose n-th call fails. Calls return what
 * the system call returns and set errno. Nothing here retries. */
#ifndef BASE_SYS_H
#define BASE_SYS_H

#include <sys/stat.h>
#include <sys/types.h>

struct sys {
    int (*open)(const struct sys *s, const char *path, int flags, mode_t mode);
    ssize_t (*read)(const struct sys *s, int fd, void *to, size_t n);
    ssize_t (*pread)(const struct sys *s, int fd, void *to, size_t n, off_t at);
    ssize_t (*write)(const struct sys *s, int fd, const void *from, size_t n);
    int (*fstat)(const struct sys *s, int fd, struct stat *st);
    int (*fdatasync)(const struct sys *s, int fd);
    int (*fsync)(const struct sys *s, int fd);
    int (*ftruncate)(const struct sys *s, int fd, off_t len);
    int (*flock)(const struct sys *s, int fd, int how);
    int (*rename)(const struct sys *s, const char *from, const char *to);
    int (*link)(const struct sys *s, const char *from, const char *to);
    int (*unlink)(const struct sys *s, const char *path);
    int (*mkdir)(const struct sys *s, const char *path, mode_t mode);
    int (*close)(const struct sys *s, int fd);
};

extern const struct sys sys_real;

#endif

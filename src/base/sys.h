/* base/sys.h - the system calls that can fail, as a table of functions.
 *
 * Modules that use files take a `const struct sys *`: main() passes &sys_real, a test passes a
 * table whose n-th call fails. The functions return what the system call returns and set errno.
 * The table itself retries nothing. */
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
    int (*fchown)(const struct sys *s, int fd, uid_t owner, gid_t group);
    int (*fchmod)(const struct sys *s, int fd, mode_t mode);
    int (*flock)(const struct sys *s, int fd, int how);
    int (*rename)(const struct sys *s, const char *from, const char *to);
    int (*link)(const struct sys *s, const char *from, const char *to);
    int (*unlink)(const struct sys *s, const char *path);
    int (*mkdir)(const struct sys *s, const char *path, mode_t mode);
    int (*close)(const struct sys *s, int fd);
};

extern const struct sys sys_real;

/* The same calls, repeated as long as a signal interrupts them (EINTR). They return what the
 * call returns and leave errno as it left it. There is none for read and write, whose callers
 * handle more than interruptions, nor for close, which must not be repeated. */

/* Adds O_CLOEXEC and O_NOCTTY. */
int sys_retry_open(const struct sys *sys, const char *path, int flags, mode_t mode);
int sys_retry_fstat(const struct sys *sys, int fd, struct stat *st);
int sys_retry_fdatasync(const struct sys *sys, int fd);
int sys_retry_fsync(const struct sys *sys, int fd);
int sys_retry_ftruncate(const struct sys *sys, int fd, off_t len);
int sys_retry_fchown(const struct sys *sys, int fd, uid_t owner, gid_t group);
int sys_retry_fchmod(const struct sys *sys, int fd, mode_t mode);
int sys_retry_rename(const struct sys *sys, const char *from, const char *to);
int sys_retry_link(const struct sys *sys, const char *from, const char *to);
int sys_retry_unlink(const struct sys *sys, const char *path);
int sys_retry_mkdir(const struct sys *sys, const char *path, mode_t mode);

#endif

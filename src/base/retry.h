/* base/retry.h - system calls that a signal may interrupt, made until none does.
 *
 * They return what the call returns and leave errno as it left it. Reading and writing are
 * not here: who does that has more than interruptions to think of; nor is closing, which
 * must not be done twice. */
#ifndef BASE_RETRY_H
#define BASE_RETRY_H

#include "base/sys.h"

/* Never left open in a child, never a controlling terminal. */
int retry_open(const struct sys *sys, const char *path, int flags, mode_t mode);
int retry_fstat(const struct sys *sys, int fd, struct stat *st);
int retry_fdatasync(const struct sys *sys, int fd);
int retry_fsync(const struct sys *sys, int fd);
int retry_ftruncate(const struct sys *sys, int fd, off_t len);
int retry_rename(const struct sys *sys, const char *from, const char *to);
int retry_link(const struct sys *sys, const char *from, const char *to);
int retry_unlink(const struct sys *sys, const char *path);
int retry_mkdir(const struct sys *sys, const char *path, mode_t mode);

#endif

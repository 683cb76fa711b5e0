/* loop/fd-limit.h - raises the limit of open descriptors (RLIMIT_NOFILE) of this process.
 *
 * The soft limit is low for the sake of programs that use select(2). We use none and raise it;
 * processes that we start get the old limit back. */
#ifndef LOOP_FD_LIMIT_H
#define LOOP_FD_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fd_limit {
    bool raised;         /* set if the limit was raised, and must be restored */
    uint64_t soft_limit; /* the old one */
};

/* Raises the soft limit to the hard limit. */
void fd_limit_raise(struct fd_limit *d);

/* Restores the old limit. May be called between fork and exec. */
void fd_limit_restore(const struct fd_limit *d);

/* Returns how many users of `each` descriptors fit under the limit, with some left for files,
 * pipes and the loop; at least 1. */
size_t fd_limit_capacity(size_t each);

#endif

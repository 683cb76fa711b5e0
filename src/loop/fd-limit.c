#include "loop/fd-limit.h"

#include <sys/resource.h>

/* Reserved by a process that listens: files, pipes, the loop's own descriptors, and
 * connections that are rejected. At most half of the limit, but never less than is needed. */
enum { RESERVED_MAX = 64, RESERVED_MIN = 24 };

void fd_limit_raise(struct fd_limit *d)
{
    struct rlimit limit;

    *d = (struct fd_limit){ .raised = false };
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    d->soft_limit = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    d->raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

void fd_limit_restore(const struct fd_limit *d)
{
    struct rlimit limit;

    if (!d->raised || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = d->soft_limit;
    setrlimit(RLIMIT_NOFILE, &limit);
}

size_t fd_limit_capacity(size_t each)
{
    struct rlimit limit;
    rlim_t others, rest;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    others = limit.rlim_cur / 2 < RESERVED_MAX ? limit.rlim_cur / 2 : RESERVED_MAX;
    others = others > RESERVED_MIN ? others : RESERVED_MIN;
    rest = limit.rlim_cur > others ? limit.rlim_cur - others : 0;
    return rest / each ? (size_t)(rest / each) : 1;
}

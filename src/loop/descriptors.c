#include "loop/descriptors.h"

#include <sys/resource.h>

enum { OTHERS = 64 }; /* of whoever listens: files, pipes, the loop's own */

void descriptors_raise(struct descriptors *d)
{
    struct rlimit limit;

    *d = (struct descriptors){ .raised = false };
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    d->before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    d->raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

void descriptors_restore(const struct descriptors *d)
{
    struct rlimit limit;

    if (!d->raised || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = d->before;
    setrlimit(RLIMIT_NOFILE, &limit);
}

size_t descriptors_room(size_t each)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    if (limit.rlim_cur > 2 * OTHERS)
        return (size_t)(limit.rlim_cur - OTHERS) / each;
    return (size_t)limit.rlim_cur / 2 / each;
}

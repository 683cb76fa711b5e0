#include "loop/descriptors.h"

#include <sys/resource.h>

/* Of whoever listens: files, pipes, the loop's own, and those who are told that there is no
 * room. With few in all, half of them, but what is needed at any rate. */
enum { OTHERS = 64, NEEDED = 24 };

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
    rlim_t others, rest;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    others = limit.rlim_cur / 2 < OTHERS ? limit.rlim_cur / 2 : OTHERS;
    others = others > NEEDED ? others : NEEDED;
    rest = limit.rlim_cur > others ? limit.rlim_cur - others : 0;
    return rest / each ? (size_t)(rest / each) : 1;
}

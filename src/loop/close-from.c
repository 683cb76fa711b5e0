#include "loop/close-from.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FD_MAX = 1 << 20 };

void close_from_one_by_one(int first)
{
    struct rlimit limit;
    int end = FD_MAX;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < FD_MAX)
        end = (int)limit.rlim_max; /* the soft limit may have been lowered since */
    for (int fd = first; fd < end; fd++)
        close(fd);
}

void close_from(int first)
{
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0) != 0)
        close_from_one_by_one(first);
}

#include "base/big-array.h"

#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"

enum { FIRST = 64 << 10 }; /* bytes */

static void *map_memory(void *at, size_t old, size_t size)
{
    void *moved =
        at ? mremap(at, old, size, MREMAP_MAYMOVE)
           : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return mem_checked(moved == MAP_FAILED ? NULL : moved);
}

void *big_array_reserve(void *at, size_t *cap, size_t need, size_t item)
{
    size_t grown = *cap ? *cap : FIRST / item + 1;

    if (need <= *cap)
        return at;
    while (grown < need)
        BUG_IF(__builtin_mul_overflow(grown, (size_t)2, &grown));
    BUG_IF(grown > (size_t)-1 / item);
    at = map_memory(at, *cap * item, grown * item);
    *cap = grown;
    return at;
}

void big_array_release(void *at, size_t cap, size_t item)
{
    if (at)
        munmap(at, cap * item);
}

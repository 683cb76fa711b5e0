#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *mem_checked(void *p)
{
    if (!p) {
        fputs("mcpreel: out of memory\n", stderr);
        abort();
    }
    return p;
}

/* Larger blocks do not come from the thread cache of malloc() and may be zero already. */
enum {
    SMALL = 1024,
    SPARE = 8 << 20, /* what is left for everything else when something large is allocated */
};

/* glibc's calloc() passes that store by, its malloc() does not. */
void *mem_alloc(size_t size)
{
    if (size > SMALL)
        return mem_checked(calloc(1, size));
    return memset(mem_checked(malloc(size ? size : 1)), 0, size);
}

void *mem_try_grow(void *old, size_t size)
{
    void *spare = malloc(SPARE), *at = spare ? realloc(old, size) : NULL;

    free(spare);
    return at;
}

void *mem_grow(void *old, size_t size)
{
    return mem_checked(realloc(old, size ? size : 1));
}

void *mem_reserve(void *at, size_t *cap, size_t need, size_t item)
{
    size_t want = *cap ? *cap : 16;

    if (need <= *cap)
        return at;
    while (want < need)
        want = want > SIZE_MAX / 2 ? need : want * 2;
    if (want > SIZE_MAX / item)
        mem_checked(NULL);
    *cap = want;
    return mem_grow(at, want * item);
}

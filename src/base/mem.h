/* base/mem.h - allocates memory; running out of it ends the process.
 *
 * So there is no code path that no test can reach. Sizes that a message or a file sets have a
 * limit and exceeding it is an ordinary error; so is a lack of memory for MEM_LARGE bytes or
 * more (mem_try_grow()). */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *mem_alloc(size_t size); /* zeroed */
void *mem_grow(void *old, size_t size);

/* Makes `at` hold at least `need` items of `item` bytes, growing by doubling;
 * `*cap` counts items. The new items are not zeroed. */
void *mem_reserve(void *at, size_t *cap, size_t need, size_t item);

/* From this size on, callers may use mem_try_grow(). */
enum { MEM_LARGE = 1 << 20 };

/* Same as realloc(): returns NULL if there is no memory, or little left, and keeps `old`. */
void *mem_try_grow(void *old, size_t size);

/* Checks memory that another function allocated: NULL ends the process. */
void *mem_checked(void *p);

/* Eight bytes as a number, the first of them lowest. */
static inline uint64_t mem_load64(const char *at)
{
    uint64_t w;

    memcpy(&w, at, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return w;
}

#define mem_new(type) ((type *)mem_alloc(sizeof(type)))

#endif

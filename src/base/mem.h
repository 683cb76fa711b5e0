/* base/mem.h - allocation that cannot fail: out of memory ends the process.
 *
 * So no code path exists that no test can reach. Size is another matter: what a
 * peer or a file can make large has a ceiling and is an ordinary error, and so is a buffer of
 * MEM_LARGE bytes and more that there is no memory for. */
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

/* From so many bytes on, mem_try() may be asked whether there is memory. */
enum { MEM_LARGE = 1 << 20 };

/* As realloc(): NULL if there is no memory, or little more than that, and `old` is as it was.
 */
void *mem_try(void *old, size_t size);

/* What was allocated in another way: NULL ends the process. */
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

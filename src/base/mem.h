/* base/mem.h - allocation that cannot fail: out of memory ends the process.
 *
 * So no code path exists that no test can reach. Size is another matter: what a
 * peer or a file can make large has a ceiling and is an ordinary error. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size); /* zeroed */
void *mem_grow(void *old, size_t size);

/* Makes `at` hold at least `need` items of `item` bytes, growing by doubling;
 * `*cap` counts items. The new items are not zeroed. */
void *mem_reserve(void *at, size_t *cap, size_t need, size_t item);

/* What was allocated in another way: NULL ends the process. */
void *mem_checked(void *p);

#define mem_new(type) ((type *)mem_alloc(sizeof(type)))

#endif

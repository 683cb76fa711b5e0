/* base/big-array.h - grows arrays of millions of items without copying them.
 *
 * For arrays that may become as large as the input. Uses mmap and mremap: there is no moment
 * with an old and a new copy in memory, and unused capacity takes none. Use mem_reserve() for
 * small arrays. */
#ifndef BASE_BIG_ARRAY_H
#define BASE_BIG_ARRAY_H

#include <stddef.h>

/* Same as mem_reserve(). `at` is NULL at first; release it with big_array_release(). */
void *big_array_reserve(void *at, size_t *cap, size_t need, size_t item);
void big_array_release(void *at, size_t cap, size_t item); /* NULL is fine */

#endif

/* base/vast.h - arrays of millions: they grow without being copied, and what was never
 * used of them takes no memory.
 *
 * For arrays that may become as large as their input. malloc() would keep the old and the
 * new one for a moment, which for the largest array in a process is the moment that
 * counts. Small ones are better off with mem_reserve(). */
#ifndef BASE_VAST_H
#define BASE_VAST_H

#include <stddef.h>

/* As mem_reserve(); `at` is NULL at first, and must be released with vast_release(). */
void *vast_reserve(void *at, size_t *cap, size_t need, size_t item);
void vast_release(void *at, size_t cap, size_t item); /* NULL is fine */

#endif

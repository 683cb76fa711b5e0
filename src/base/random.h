/* base/random.h - random bytes that cannot be guessed. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>

void random_bytes(void *to, size_t size);

#endif

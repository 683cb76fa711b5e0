#include "base/memchr.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WORDS = 4 };

/* Returns whether a byte of the words is 0; may be wrong only if one is. */
static bool any_zero(const uint64_t *words, uint64_t ones)
{
    uint64_t found = 0;

    for (int i = 0; i < WORDS; i++)
        found |= (words[i] - ones) & ~words[i];
    return found & ones << 7;
}

#ifdef __clang__
__attribute__((no_builtin)) /* no call of itself in place of the loop */
#endif
void *
MEMCHR_OF_STATIC_PROGRAM(const void *text, int sought, size_t len)
{
    const uint64_t ones = UINT64_MAX / UINT8_MAX, pattern = ones * (unsigned char)sought;
    const unsigned char *at = text;

    for (; len >= WORDS * sizeof(uint64_t); at += sizeof(uint64_t[WORDS])) {
        uint64_t words[WORDS];

        memcpy(words, at, sizeof words);
        for (int i = 0; i < WORDS; i++)
            words[i] ^= pattern;
        if (any_zero(words, ones))
            break;
        len -= sizeof words;
    }
    for (; len; at++, len--)
        if (*at == (unsigned char)sought)
            return (void *)(uintptr_t)at;
    return NULL;
}

/* wire/plain.h - bytes that may stand in a line of HTTP: all but control characters; a tab may.
 *
 * Sixteen bytes at a time where the compiler has SSE2; elsewhere, or with WIRE_PORTABLE
 * defined, eight. No byte outside the text is read. */
#ifndef WIRE_PLAIN_H
#define WIRE_PLAIN_H

#include "base/str.h"

static inline bool plain_is(char c)
{
    unsigned char byte = (unsigned char)c;

    return byte > 0x7f || (byte >= 0x20 && byte < 0x7f) || byte == '\t';
}

#if defined(__SSE2__) && !defined(WIRE_PORTABLE)

#include <emmintrin.h>

enum { PLAIN_STEP = 16 };

/* How many of so many bytes are plain before one that is not. */
static inline size_t plain_step(const char *at)
{
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(b, _mm_set1_epi8(0x1f)), b);
    __m128i tab = _mm_cmpeq_epi8(b, _mm_set1_epi8('\t'));
    __m128i del = _mm_cmpeq_epi8(b, _mm_set1_epi8(0x7f));
    __m128i odd = _mm_or_si128(_mm_andnot_si128(tab, low), del);

    return (size_t)__builtin_ctz((unsigned)_mm_movemask_epi8(odd) | 1u << PLAIN_STEP);
}

#else

enum { PLAIN_STEP = 8 };

/* Whether one of eight bytes is below a blank or 0x7f. That a byte above such a one may be
 * taken for one, too, does not matter: they are looked at one by one then. */
static inline bool plain_has_odd(const char *at)
{
    const uint64_t ones = UINT64_MAX / 0xff;
    uint64_t eight, del;

    memcpy(&eight, at, sizeof eight);
    del = eight ^ 0x7f * ones;
    return (((eight - 0x20 * ones) & ~eight) | ((del - ones) & ~del)) & 0x80 * ones;
}

static inline size_t plain_step(const char *at)
{
    size_t n = 0;

    if (!plain_has_odd(at))
        return PLAIN_STEP;
    while (n < PLAIN_STEP && plain_is(at[n]))
        n++;
    return n;
}

#endif

/* How many bytes at the front are plain. */
static inline size_t plain_run(struct str s)
{
    size_t n = 0;

    while (s.len - n >= PLAIN_STEP) {
        size_t step = plain_step(s.at + n);

        n += step;
        if (step < PLAIN_STEP)
            return n;
    }
    while (n < s.len && plain_is(s.at[n]))
        n++;
    return n;
}

#endif

/* wire/head-bytes.h - finds bytes that are not allowed in the head of an HTTP message: control
 * characters other than the tab.
 *
 * Checks 16 bytes at a time with SSE2, 8 without it or with WIRE_PORTABLE defined. Reads no
 * byte outside the text. */
#ifndef WIRE_HEAD_BYTES_H
#define WIRE_HEAD_BYTES_H

#include "base/str.h"

static inline bool head_bytes_is_valid(char c)
{
    unsigned char byte = (unsigned char)c;

    return byte > 0x7f || (byte >= 0x20 && byte < 0x7f) || byte == '\t';
}

#if defined(__SSE2__) && !defined(WIRE_PORTABLE)

#include <emmintrin.h>

enum { HEAD_BYTES_STEP = 16 };

/* Returns how many of the next HEAD_BYTES_STEP bytes are valid before the first that is not. */
static inline size_t head_bytes_step(const char *at)
{
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(b, _mm_set1_epi8(0x1f)), b);
    __m128i tab = _mm_cmpeq_epi8(b, _mm_set1_epi8('\t'));
    __m128i del = _mm_cmpeq_epi8(b, _mm_set1_epi8(0x7f));
    __m128i odd = _mm_or_si128(_mm_andnot_si128(tab, low), del);

    return (size_t)__builtin_ctz((unsigned)_mm_movemask_epi8(odd) | 1u << HEAD_BYTES_STEP);
}

#else

enum { HEAD_BYTES_STEP = 8 };

/* Returns whether one of 8 bytes is below 0x20 or is 0x7f. A carry may report a tab or the byte
 * after an invalid one, too: the caller then checks byte by byte. */
static inline bool head_bytes_has_invalid(const char *at)
{
    const uint64_t ones = UINT64_MAX / 0xff;
    uint64_t eight, del;

    memcpy(&eight, at, sizeof eight);
    del = eight ^ 0x7f * ones;
    return (((eight - 0x20 * ones) & ~eight) | ((del - ones) & ~del)) & 0x80 * ones;
}

static inline size_t head_bytes_step(const char *at)
{
    size_t n = 0;

    if (!head_bytes_has_invalid(at))
        return HEAD_BYTES_STEP;
    while (n < HEAD_BYTES_STEP && head_bytes_is_valid(at[n]))
        n++;
    return n;
}

#endif

/* Returns the number of valid bytes at the front. */
static inline size_t head_bytes_valid_length(struct str s)
{
    size_t n = 0;

    while (s.len - n >= HEAD_BYTES_STEP) {
        size_t step = head_bytes_step(s.at + n);

        n += step;
        if (step < HEAD_BYTES_STEP)
            return n;
    }
    while (n < s.len && head_bytes_is_valid(s.at[n]))
        n++;
    return n;
}

#endif

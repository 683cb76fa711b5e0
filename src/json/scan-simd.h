/* json/scan-simd.h - the scanner's inner loops: skip bytes that need no decision.
 *
 * Works on 64 bytes at a time where the compiler has SSE2; elsewhere, or with JSON_NO_SIMD
 * defined, on eight. Reads no byte outside the text. A function only reports how far bytes are
 * harmless; the scanner decides about the next byte, so the rules are in one place. */
#ifndef JSON_SCAN_SIMD_H
#define JSON_SCAN_SIMD_H

#include "json/scan.h"

/* Quotes that come next in the text, with nothing between them but plain ASCII. One
 * bit each, bit 0 being the byte at `from`. There may be more that are not known. */
struct simd_quotes {
    uint64_t mask;
    size_t from;
};

static inline bool simd_is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static inline size_t simd_skip_plain(const unsigned char *text, size_t len, size_t i)
{
    while (i < len && simd_is_plain(text[i]))
        i++;
    return i;
}

#if defined(__SSE2__) && !defined(JSON_NO_SIMD)

#include <emmintrin.h>

static inline __m128i simd_load(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline __m128i simd_splat(int byte)
{
    return _mm_set1_epi8((char)byte);
}

/* Tests of sixteen bytes; each answers in its top bit. */

static inline __m128i simd_is_quote(__m128i b)
{
    return _mm_cmpeq_epi8(b, simd_splat('"'));
}

static inline __m128i simd_is_backslash(__m128i b)
{
    return _mm_cmpeq_epi8(b, simd_splat('\\'));
}

/* A control character or, being negative as a signed char, what is beyond ASCII. */
static inline __m128i simd_is_not_printable(__m128i b)
{
    return _mm_subs_epi8(b, simd_splat(0x20));
}

static inline __m128i simd_is_special(__m128i b)
{
    return _mm_or_si128(simd_is_backslash(b), simd_is_not_printable(b));
}

static inline __m128i simd_is_non_ascii(__m128i b)
{
    return b;
}

/* Characters that may follow a backslash, except another one: " / b f n r t u. Two that differ
 * in one bit are found by one comparison. */
static inline __m128i simd_is_escape_char(__m128i b)
{
    __m128i bf = _mm_cmpeq_epi8(_mm_or_si128(b, simd_splat(4)), simd_splat('f'));
    __m128i tu = _mm_cmpeq_epi8(_mm_or_si128(b, simd_splat(1)), simd_splat('u'));
    __m128i n = _mm_cmpeq_epi8(b, simd_splat('n'));
    __m128i r = _mm_cmpeq_epi8(b, simd_splat('r'));
    __m128i slash = _mm_cmpeq_epi8(b, simd_splat('/'));

    return _mm_or_si128(_mm_or_si128(_mm_or_si128(bf, tu), _mm_or_si128(n, r)),
                        _mm_or_si128(slash, simd_is_quote(b)));
}

static inline __m128i simd_is_u(__m128i b)
{
    return _mm_cmpeq_epi8(b, simd_splat('u'));
}

/* from <= b <= from + span, unsigned. */
static inline __m128i simd_in_range(__m128i b, int from, int span)
{
    __m128i above = _mm_sub_epi8(b, simd_splat(from));

    return _mm_cmpeq_epi8(_mm_min_epu8(above, simd_splat(span)), above);
}

static inline __m128i simd_is_hex(__m128i b)
{
    return _mm_or_si128(simd_in_range(b, '0', 9),
                        simd_in_range(_mm_or_si128(b, simd_splat(0x20)), 'a', 5));
}

/* Sixty-four bytes. A mask has a bit for each of them, the first being the lowest. */
enum { SIMD_BLOCK = 64 };

struct simd_block {
    __m128i b[4];
};

static inline struct simd_block simd_load_block(const unsigned char *p)
{
    return (struct simd_block){ { simd_load(p), simd_load(p + 16), simd_load(p + 32),
                                  simd_load(p + 48) } };
}

static inline uint64_t simd_mask(__m128i a, __m128i b, __m128i c, __m128i d)
{
    uint64_t low = (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
    uint64_t high = (uint32_t)_mm_movemask_epi8(c) | (uint32_t)_mm_movemask_epi8(d) << 16;

    return low | high << 32;
}

#define SIMD_MASK(k, test)                                                                     \
    simd_mask(test((k)->b[0]), test((k)->b[1]), test((k)->b[2]), test((k)->b[3]))

/* The quotes that come next after a place outside of strings, or inside of one. */
static inline struct simd_quotes simd_find_quotes(const unsigned char *text, size_t len,
                                                  size_t from)
{
    struct simd_quotes q = { 0, from };
    uint64_t special;
    struct simd_block k;

    if (len < SIMD_BLOCK)
        return q;
    if (len - from < SIMD_BLOCK)
        q.from = len - SIMD_BLOCK; /* the last block of the text, and cut what was before */
    k = simd_load_block(text + q.from);
    q.mask = SIMD_MASK(&k, simd_is_quote);
    special = SIMD_MASK(&k, simd_is_special);
    if (from > q.from) {
        uint64_t seen = from - q.from < 64 ? (UINT64_C(1) << (from - q.from)) - 1 : UINT64_MAX;
        q.mask &= ~seen;
        special &= ~seen;
    }
    q.mask &= (special & -special) - 1;
    return q;
}

/* The bytes on which a backslash does its work: those after a run of backslashes of
 * odd length. Adding the first bit of a run to it makes a carry right behind it, and
 * whether that is an even place tells the parity of the length. */
static inline uint64_t simd_escaped(uint64_t backslashes)
{
    const uint64_t even = 0x5555555555555555;
    uint64_t starts = backslashes & ~(backslashes << 1);
    uint64_t from_even = (backslashes + (starts & even)) & ~backslashes;
    uint64_t from_odd = (backslashes + (starts & ~even)) & ~backslashes;

    return (from_even & ~even) | (from_odd & even);
}

/* The backslashes whose escape is wrong or goes on behind the block. */
static inline uint64_t simd_bad_escapes(const struct simd_block *k, uint64_t backslashes,
                                        uint64_t escaped)
{
    uint64_t odd = escaped & ~SIMD_MASK(k, simd_is_escape_char);
    uint64_t u = escaped & SIMD_MASK(k, simd_is_u);
    int last_run = ~backslashes ? __builtin_clzll(~backslashes) : SIMD_BLOCK;

    if (u) {
        uint64_t hex = SIMD_MASK(k, simd_is_hex);
        odd |= u & ~(hex >> 1 & hex >> 2 & hex >> 3 & hex >> 4);
    }
    return odd >> 1 | (uint64_t)(last_run & 1) << 63;
}

/* Faults in sixteen bytes of UTF-8, given the bytes one, two and three before each. A
 * byte must continue a character exactly when one of those asks for it; after E0, ED,
 * F0 and F4 not every continuation will do. */
static inline __m128i simd_utf8_faults(__m128i b, __m128i one, __m128i two, __m128i three)
{
    __m128i asked = _mm_or_si128(_mm_or_si128(_mm_subs_epu8(one, simd_splat(0xBF)),
                                              _mm_subs_epu8(two, simd_splat(0xDF))),
                                 _mm_subs_epu8(three, simd_splat(0xEF)));
    __m128i free = _mm_cmpeq_epi8(asked, _mm_setzero_si128());
    __m128i tail = _mm_cmplt_epi8(b, simd_splat(0xC0));
    __m128i e0 = _mm_and_si128(_mm_cmpeq_epi8(one, simd_splat(0xE0)),
                               _mm_cmplt_epi8(b, simd_splat(0xA0)));
    __m128i ed = _mm_and_si128(_mm_cmpeq_epi8(one, simd_splat(0xED)),
                               _mm_cmpgt_epi8(b, simd_splat(0x9F)));
    __m128i f0 = _mm_and_si128(_mm_cmpeq_epi8(one, simd_splat(0xF0)),
                               _mm_cmplt_epi8(b, simd_splat(0x90)));
    __m128i f4 = _mm_and_si128(_mm_cmpeq_epi8(one, simd_splat(0xF4)),
                               _mm_cmpgt_epi8(b, simd_splat(0x8F)));
    __m128i no_lead =
        _mm_or_si128(simd_in_range(b, 0xC0, 1), _mm_subs_epu8(b, simd_splat(0xF4)));

    return _mm_or_si128(
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(free, tail), no_lead), _mm_or_si128(e0, ed)),
        _mm_or_si128(f0, f4));
}

/* Where to stop for the sake of UTF-8: nowhere, at a character that goes on behind
 * the block, or, if there is any fault at all, at the first that is not ASCII. */
static inline uint64_t simd_bad_chars(const struct simd_block *k, const unsigned char *p,
                                      uint64_t wide)
{
    __m128i odd = simd_utf8_faults(k->b[0], _mm_slli_si128(k->b[0], 1),
                                   _mm_slli_si128(k->b[0], 2), _mm_slli_si128(k->b[0], 3));

    for (int i = 1; i < 4; i++)
        odd = _mm_or_si128(odd, simd_utf8_faults(k->b[i], simd_load(p + 16 * i - 1),
                                                 simd_load(p + 16 * i - 2),
                                                 simd_load(p + 16 * i - 3)));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(odd, _mm_setzero_si128())) != 0xFFFF)
        return wide;
    return (uint64_t)(p[63] >= 0xC0) << 63 | (uint64_t)(p[62] >= 0xE0) << 62 |
           (uint64_t)(p[61] >= 0xF0) << 61;
}

/* How many bytes of a block that begins inside a string are whole characters and
 * whole escapes of it. Ends at the closing quote, too. */
static inline __attribute__((always_inline)) unsigned
simd_valid_in_block(const unsigned char *p, uint32_t *info)
{
    struct simd_block k = simd_load_block(p);
    uint64_t stop = SIMD_MASK(&k, simd_is_quote);
    uint64_t backslashes = SIMD_MASK(&k, simd_is_backslash);
    uint64_t odd = SIMD_MASK(&k, simd_is_not_printable);

    if (backslashes) {
        uint64_t escaped = simd_escaped(backslashes);
        stop &= ~escaped;
        stop |= simd_bad_escapes(&k, backslashes, escaped);
    }
    if (odd) {
        uint64_t wide = SIMD_MASK(&k, simd_is_non_ascii);
        stop |= (odd & ~wide) | (wide ? simd_bad_chars(&k, p, wide) : 0);
    }
    if (backslashes & ~stop & (stop - 1))
        *info |= JSON_INFO_ESCAPES;
    return stop ? (unsigned)__builtin_ctzll(stop) : SIMD_BLOCK;
}

/* The same for what is left of a text when that is less than a block: the last block
 * of the text with letters in place of what was before. */
static __attribute__((noinline)) size_t simd_valid_at_end(const unsigned char *text, size_t len,
                                                          size_t i, uint32_t *info)
{
    static const unsigned char keep[2 * SIMD_BLOCK] = { [SIMD_BLOCK... 2 * SIMD_BLOCK - 1] =
                                                            0xFF };
    size_t before = SIMD_BLOCK - (len - i);
    unsigned char last[SIMD_BLOCK];

    if (len < SIMD_BLOCK)
        return simd_skip_plain(text, len, i);
    for (size_t n = 0; n < SIMD_BLOCK; n += 16) {
        __m128i mask = simd_load(keep + SIMD_BLOCK - before + n);
        __m128i b = _mm_or_si128(_mm_and_si128(simd_load(text + len - SIMD_BLOCK + n), mask),
                                 _mm_andnot_si128(mask, simd_splat('x')));
        _mm_storeu_si128((__m128i *)(void *)(last + n), b);
    }
    return i + simd_valid_in_block(last, info) - before;
}

#if defined(__x86_64__)

#include <immintrin.h>

/* Further over blocks that are all plain ASCII, with more at a time. */
static __attribute__((noinline, target("avx2"))) size_t
simd_skip_ascii_avx2(const unsigned char *text, size_t len, size_t i)
{
    const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\');
    const __m256i blank = _mm256_set1_epi8(0x20);

    for (; len - i >= SIMD_BLOCK; i += SIMD_BLOCK) {
        __m256i odd = _mm256_setzero_si256();

        for (size_t n = 0; n < SIMD_BLOCK; n += sizeof odd) {
            __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(text + i + n));
            odd = _mm256_or_si256(odd, _mm256_cmpeq_epi8(b, quote));
            odd = _mm256_or_si256(odd, _mm256_cmpeq_epi8(b, backslash));
            odd = _mm256_or_si256(odd, _mm256_subs_epi8(b, blank));
        }
        if (_mm256_movemask_epi8(odd))
            break;
    }
    return i;
}

static inline size_t simd_skip_ascii(const unsigned char *text, size_t len, size_t i)
{
    return __builtin_cpu_supports("avx2") ? simd_skip_ascii_avx2(text, len, i) : i;
}

#else

static inline size_t simd_skip_ascii(const unsigned char *text, size_t len, size_t i)
{
    (void)text;
    (void)len;
    return i;
}

#endif

/* The first byte from `i` on that may not be sound content of a string, or `len`.
 * Notes in `*info` when it passes an escape. */
static inline size_t simd_skip_valid(const unsigned char *text, size_t len, size_t i,
                                     uint32_t *info)
{
    while (len - i >= SIMD_BLOCK) {
        unsigned n = simd_valid_in_block(text + i, info);
        i += n;
        if (n == 0)
            return i;
        if (n == SIMD_BLOCK) /* a long text is mostly plain */
            i = simd_skip_ascii(text, len, i);
    }
    return simd_valid_at_end(text, len, i, info);
}

/* The length of a number of less than 16 bytes and without exponent, or 0. */
static inline size_t simd_number_len(const unsigned char *text, size_t len, size_t i)
{
    const unsigned char *p = text + i;
    unsigned sign, whole, end;
    uint32_t others;

    if (len - i < 16)
        return 0;
    sign = *p == '-';
    others = ~(uint32_t)_mm_movemask_epi8(simd_in_range(simd_load(p), '0', 9)) >> sign;
    whole = (unsigned)__builtin_ctz(others);
    end = sign + whole;
    if (whole == 0 || (whole > 1 && p[sign] == '0') || end >= 15)
        return 0;
    if (p[end] == '.') {
        unsigned fraction = (unsigned)__builtin_ctz(others >> (whole + 1));
        end += 1 + fraction;
        if (fraction == 0 || end >= 16)
            return 0;
    }
    return (p[end] | 0x20) == 'e' ? 0 : end;
}

#else

static inline struct simd_quotes simd_find_quotes(const unsigned char *text, size_t len,
                                                  size_t from)
{
    (void)text;
    (void)len;
    return (struct simd_quotes){ 0, from };
}

static inline size_t simd_skip_valid(const unsigned char *text, size_t len, size_t i,
                                     uint32_t *info)
{
    const uint64_t ones = 0x0101010101010101, tops = ones << 7;

    (void)info;
    for (; len - i >= 8; i += 8) {
        uint64_t w, quote, backslash;
        memcpy(&w, text + i, 8);
        quote = w ^ ones * '"';
        backslash = w ^ ones * '\\';
        /* A top bit is set by a byte below 0x20, by a zero in one of the two, by a byte
         * beyond ASCII; by another only beside one of those. */
        if (((w - ones * 0x20) | (quote - ones) | (backslash - ones) | w) & tops)
            break;
    }
    return simd_skip_plain(text, len, i);
}

static inline size_t simd_number_len(const unsigned char *text, size_t len, size_t i)
{
    (void)text;
    (void)len;
    (void)i;
    return 0;
}

#endif

#endif

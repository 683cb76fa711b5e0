/* json/run.h - the scanner's inner loops: how far do harmless bytes go?
 *
 * Sixty-four bytes at a time where the compiler has SSE2; elsewhere, or with
 * JSON_PORTABLE defined, eight. No byte outside the text is read. What is said here
 * is always "harmless up to there": the byte there the scanner looks at itself, so
 * that there is one place that knows the rules. */
#ifndef JSON_RUN_H
#define JSON_RUN_H

#include "json/scan.h"

/* Quotes that come next in the text, with nothing between them but plain ASCII. One
 * bit each, bit 0 being the byte at `from`. There may be more that are not known. */
struct run_quotes {
    uint64_t left;
    size_t from;
};

static inline bool run_is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static inline size_t run_plain(const unsigned char *text, size_t len, size_t i)
{
    while (i < len && run_is_plain(text[i]))
        i++;
    return i;
}

#if defined(__SSE2__) && !defined(JSON_PORTABLE)

#include <emmintrin.h>

static inline __m128i run_load(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline __m128i run_all(int byte)
{
    return _mm_set1_epi8((char)byte);
}

/* Tests of sixteen bytes; each answers in its top bit. */

static inline __m128i run_is_quote(__m128i b)
{
    return _mm_cmpeq_epi8(b, run_all('"'));
}

static inline __m128i run_is_backslash(__m128i b)
{
    return _mm_cmpeq_epi8(b, run_all('\\'));
}

/* A control character or, being negative as a signed char, what is beyond ASCII. */
static inline __m128i run_is_odd(__m128i b)
{
    return _mm_subs_epi8(b, run_all(0x20));
}

static inline __m128i run_is_special(__m128i b)
{
    return _mm_or_si128(run_is_backslash(b), run_is_odd(b));
}

static inline __m128i run_is_wide(__m128i b)
{
    return b;
}

/* What may follow a backslash, but for another: " / b f n r t u. Two that differ in
 * one bit are found by one comparison. */
static inline __m128i run_is_letter(__m128i b)
{
    __m128i bf = _mm_cmpeq_epi8(_mm_or_si128(b, run_all(4)), run_all('f'));
    __m128i tu = _mm_cmpeq_epi8(_mm_or_si128(b, run_all(1)), run_all('u'));
    __m128i n = _mm_cmpeq_epi8(b, run_all('n'));
    __m128i r = _mm_cmpeq_epi8(b, run_all('r'));
    __m128i slash = _mm_cmpeq_epi8(b, run_all('/'));

    return _mm_or_si128(_mm_or_si128(_mm_or_si128(bf, tu), _mm_or_si128(n, r)),
                        _mm_or_si128(slash, run_is_quote(b)));
}

static inline __m128i run_is_u(__m128i b)
{
    return _mm_cmpeq_epi8(b, run_all('u'));
}

/* from <= b <= from + span, unsigned. */
static inline __m128i run_in(__m128i b, int from, int span)
{
    __m128i above = _mm_sub_epi8(b, run_all(from));

    return _mm_cmpeq_epi8(_mm_min_epu8(above, run_all(span)), above);
}

static inline __m128i run_is_hex(__m128i b)
{
    return _mm_or_si128(run_in(b, '0', 9), run_in(_mm_or_si128(b, run_all(0x20)), 'a', 5));
}

/* Sixty-four bytes. A mask has a bit for each of them, the first being the lowest. */
enum { RUN_BLOCK = 64 };

struct run_block {
    __m128i b[4];
};

static inline struct run_block run_block(const unsigned char *p)
{
    return (struct run_block){ { run_load(p), run_load(p + 16), run_load(p + 32),
                                 run_load(p + 48) } };
}

static inline uint64_t run_mask(__m128i a, __m128i b, __m128i c, __m128i d)
{
    uint64_t low = (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
    uint64_t high = (uint32_t)_mm_movemask_epi8(c) | (uint32_t)_mm_movemask_epi8(d) << 16;

    return low | high << 32;
}

#define RUN_MASK(k, test)                                                                      \
    run_mask(test((k)->b[0]), test((k)->b[1]), test((k)->b[2]), test((k)->b[3]))

/* The quotes that come next after a place outside of strings, or inside of one. */
static inline struct run_quotes run_quotes(const unsigned char *text, size_t len, size_t from)
{
    struct run_quotes q = { 0, from };
    uint64_t special;
    struct run_block k;

    if (len < RUN_BLOCK)
        return q;
    if (len - from < RUN_BLOCK)
        q.from = len - RUN_BLOCK; /* the last block of the text, and cut what was before */
    k = run_block(text + q.from);
    q.left = RUN_MASK(&k, run_is_quote);
    special = RUN_MASK(&k, run_is_special);
    if (from > q.from) {
        uint64_t seen = from - q.from < 64 ? (UINT64_C(1) << (from - q.from)) - 1 : UINT64_MAX;
        q.left &= ~seen;
        special &= ~seen;
    }
    q.left &= (special & -special) - 1;
    return q;
}

/* The bytes on which a backslash does its work: those after a run of backslashes of
 * odd length. Adding the first bit of a run to it makes a carry right behind it, and
 * whether that is an even place tells the parity of the length. */
static inline uint64_t run_escaped(uint64_t backslashes)
{
    const uint64_t even = 0x5555555555555555;
    uint64_t starts = backslashes & ~(backslashes << 1);
    uint64_t from_even = (backslashes + (starts & even)) & ~backslashes;
    uint64_t from_odd = (backslashes + (starts & ~even)) & ~backslashes;

    return (from_even & ~even) | (from_odd & even);
}

/* The backslashes whose escape is wrong or goes on behind the block. */
static inline uint64_t run_odd_escapes(const struct run_block *k, uint64_t backslashes,
                                       uint64_t escaped)
{
    uint64_t odd = escaped & ~RUN_MASK(k, run_is_letter);
    uint64_t u = escaped & RUN_MASK(k, run_is_u);
    int last_run = ~backslashes ? __builtin_clzll(~backslashes) : RUN_BLOCK;

    if (u) {
        uint64_t hex = RUN_MASK(k, run_is_hex);
        odd |= u & ~(hex >> 1 & hex >> 2 & hex >> 3 & hex >> 4);
    }
    return odd >> 1 | (uint64_t)(last_run & 1) << 63;
}

/* Faults in sixteen bytes of UTF-8, given the bytes one, two and three before each. A
 * byte must continue a character exactly when one of those asks for it; after E0, ED,
 * F0 and F4 not every continuation will do. */
static inline __m128i run_not_utf8(__m128i b, __m128i one, __m128i two, __m128i three)
{
    __m128i asked = _mm_or_si128(
        _mm_or_si128(_mm_subs_epu8(one, run_all(0xBF)), _mm_subs_epu8(two, run_all(0xDF))),
        _mm_subs_epu8(three, run_all(0xEF)));
    __m128i free = _mm_cmpeq_epi8(asked, _mm_setzero_si128());
    __m128i tail = _mm_cmplt_epi8(b, run_all(0xC0));
    __m128i e0 =
        _mm_and_si128(_mm_cmpeq_epi8(one, run_all(0xE0)), _mm_cmplt_epi8(b, run_all(0xA0)));
    __m128i ed =
        _mm_and_si128(_mm_cmpeq_epi8(one, run_all(0xED)), _mm_cmpgt_epi8(b, run_all(0x9F)));
    __m128i f0 =
        _mm_and_si128(_mm_cmpeq_epi8(one, run_all(0xF0)), _mm_cmplt_epi8(b, run_all(0x90)));
    __m128i f4 =
        _mm_and_si128(_mm_cmpeq_epi8(one, run_all(0xF4)), _mm_cmpgt_epi8(b, run_all(0x8F)));
    __m128i no_lead = _mm_or_si128(run_in(b, 0xC0, 1), _mm_subs_epu8(b, run_all(0xF4)));

    return _mm_or_si128(
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(free, tail), no_lead), _mm_or_si128(e0, ed)),
        _mm_or_si128(f0, f4));
}

/* Where to stop for the sake of UTF-8: nowhere, at a character that goes on behind
 * the block, or, if there is any fault at all, at the first that is not ASCII. */
static inline uint64_t run_odd_chars(const struct run_block *k, const unsigned char *p,
                                     uint64_t wide)
{
    __m128i odd = run_not_utf8(k->b[0], _mm_slli_si128(k->b[0], 1), _mm_slli_si128(k->b[0], 2),
                               _mm_slli_si128(k->b[0], 3));

    for (int i = 1; i < 4; i++)
        odd =
            _mm_or_si128(odd, run_not_utf8(k->b[i], run_load(p + 16 * i - 1),
                                           run_load(p + 16 * i - 2), run_load(p + 16 * i - 3)));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(odd, _mm_setzero_si128())) != 0xFFFF)
        return wide;
    return (uint64_t)(p[63] >= 0xC0) << 63 | (uint64_t)(p[62] >= 0xE0) << 62 |
           (uint64_t)(p[61] >= 0xF0) << 61;
}

/* How many bytes of a block that begins inside a string are whole characters and
 * whole escapes of it. Ends at the closing quote, too. */
static inline __attribute__((always_inline)) unsigned run_block_sound(const unsigned char *p,
                                                                      uint32_t *info)
{
    struct run_block k = run_block(p);
    uint64_t stop = RUN_MASK(&k, run_is_quote);
    uint64_t backslashes = RUN_MASK(&k, run_is_backslash);
    uint64_t odd = RUN_MASK(&k, run_is_odd);

    if (backslashes) {
        uint64_t escaped = run_escaped(backslashes);
        stop &= ~escaped;
        stop |= run_odd_escapes(&k, backslashes, escaped);
    }
    if (odd) {
        uint64_t wide = RUN_MASK(&k, run_is_wide);
        stop |= (odd & ~wide) | (wide ? run_odd_chars(&k, p, wide) : 0);
    }
    if (backslashes & ~stop & (stop - 1))
        *info |= JSON_INFO_ESCAPES;
    return stop ? (unsigned)__builtin_ctzll(stop) : RUN_BLOCK;
}

/* The same for what is left of a text when that is less than a block: the last block
 * of the text with letters in place of what was before. */
static __attribute__((noinline)) size_t run_last_sound(const unsigned char *text, size_t len,
                                                       size_t i, uint32_t *info)
{
    static const unsigned char keep[2 * RUN_BLOCK] = { [RUN_BLOCK... 2 * RUN_BLOCK - 1] =
                                                           0xFF };
    size_t before = RUN_BLOCK - (len - i);
    unsigned char last[RUN_BLOCK];

    if (len < RUN_BLOCK)
        return run_plain(text, len, i);
    for (size_t n = 0; n < RUN_BLOCK; n += 16) {
        __m128i mask = run_load(keep + RUN_BLOCK - before + n);
        __m128i b = _mm_or_si128(_mm_and_si128(run_load(text + len - RUN_BLOCK + n), mask),
                                 _mm_andnot_si128(mask, run_all('x')));
        _mm_storeu_si128((__m128i *)(void *)(last + n), b);
    }
    return i + run_block_sound(last, info) - before;
}

/* Passes over blocks in which nothing needs a second look: most of any long text. Not inline,
 * so that what it takes for that is all it has in registers. */
static __attribute__((noinline)) size_t run_plain_blocks(const unsigned char *text, size_t len,
                                                         size_t i)
{
    for (; len - i >= RUN_BLOCK; i += RUN_BLOCK) {
        struct run_block k = run_block(text + i);
        __m128i any = _mm_setzero_si128();

        for (int n = 0; n < 4; n++)
            any = _mm_or_si128(any, _mm_or_si128(run_is_quote(k.b[n]), run_is_special(k.b[n])));
        if (_mm_movemask_epi8(any))
            break;
    }
    return i;
}

/* The first byte from `i` on that may not be sound content of a string, or `len`.
 * Notes in `*info` when it passes an escape. */
static inline size_t run_sound(const unsigned char *text, size_t len, size_t i, uint32_t *info)
{
    i = run_plain_blocks(text, len, i);
    while (len - i >= RUN_BLOCK) {
        unsigned n = run_block_sound(text + i, info);
        i += n;
        if (n == 0)
            return i;
    }
    return run_last_sound(text, len, i, info);
}

/* The length of a number of less than 16 bytes and without exponent, or 0. */
static inline size_t run_number(const unsigned char *text, size_t len, size_t i)
{
    const unsigned char *p = text + i;
    unsigned sign, whole, end;
    uint32_t others;

    if (len - i < 16)
        return 0;
    sign = *p == '-';
    others = ~(uint32_t)_mm_movemask_epi8(run_in(run_load(p), '0', 9)) >> sign;
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

static inline struct run_quotes run_quotes(const unsigned char *text, size_t len, size_t from)
{
    (void)text;
    (void)len;
    return (struct run_quotes){ 0, from };
}

static inline size_t run_sound(const unsigned char *text, size_t len, size_t i, uint32_t *info)
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
    return run_plain(text, len, i);
}

static inline size_t run_number(const unsigned char *text, size_t len, size_t i)
{
    (void)text;
    (void)len;
    (void)i;
    return 0;
}

#endif

#endif

/* json/run.h - the scanner's inner loops: how far do harmless bytes go?
 *
 * Sixteen bytes at a time where the compiler has SSE2, eight elsewhere or with
 * JSON_PORTABLE defined. No byte outside [text, end) is read. These loops only
 * ever say "harmless up to here": what is not, the scanner looks at byte by byte,
 * so that there is one place that knows the rules. */
#ifndef JSON_RUN_H
#define JSON_RUN_H

#include <stdint.h>
#include <string.h>

#include "json/scan.h"

static inline bool run_is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
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

/* One bit per byte that ends a plain run: a quote, a backslash, a control
 * character or, being negative as a signed char, anything beyond ASCII. */
static inline uint32_t run_special(const unsigned char *p)
{
    __m128i b = run_load(p);
    __m128i quote = _mm_cmpeq_epi8(b, run_all('"'));
    __m128i backslash = _mm_cmpeq_epi8(b, run_all('\\'));
    __m128i odd = _mm_cmplt_epi8(b, run_all(0x20));

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), odd));
}

/* Looks at the next sixteen bytes: the first that is not plain, or where the
 * plain ones end. Most strings are no longer than that. */
static inline const unsigned char *run_plain(const unsigned char *p, const unsigned char *text,
                                             const unsigned char *end)
{
    uint32_t hits;

    if (end - p >= 16) {
        hits = run_special(p);
        return hits ? p + __builtin_ctz(hits) : p + 16;
    }
    if (p == end)
        return p;
    /* The last sixteen bytes of the text hold what is left and some that were
     * seen before; only a text shorter than that goes byte by byte. */
    if (end - text >= 16) {
        hits = run_special(end - 16) >> (16 - (end - p));
        return hits ? p + __builtin_ctz(hits) : end;
    }
    while (p < end && run_is_plain(*p))
        p++;
    return p;
}

/* Sixty-four bytes, and bit i of a mask speaks of byte i. */
enum { RUN_BLOCK = 64 };

struct run_block {
    __m128i b[4];
};

static inline uint64_t run_mask(__m128i a, __m128i b, __m128i c, __m128i d)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(a) |
           (uint64_t)(uint32_t)_mm_movemask_epi8(b) << 16 |
           (uint64_t)(uint32_t)_mm_movemask_epi8(c) << 32 |
           (uint64_t)(uint32_t)_mm_movemask_epi8(d) << 48;
}

#define RUN_MASK(block, test)                                                                  \
    run_mask(test((block)->b[0]), test((block)->b[1]), test((block)->b[2]), test((block)->b[3]))

static inline __m128i run_is_quote(__m128i b)
{
    return _mm_cmpeq_epi8(b, run_all('"'));
}

static inline __m128i run_is_backslash(__m128i b)
{
    return _mm_cmpeq_epi8(b, run_all('\\'));
}

/* Below 0x20 or beyond ASCII. */
static inline __m128i run_is_odd(__m128i b)
{
    return _mm_cmplt_epi8(b, run_all(0x20));
}

static inline __m128i run_itself(__m128i b)
{
    return b;
}

/* One of the letters after a backslash, 'u' aside: " / b f n r t. Two that
 * differ in one bit are found by one comparison. */
static inline __m128i run_is_letter(__m128i b)
{
    __m128i bf = _mm_cmpeq_epi8(_mm_or_si128(b, run_all(4)), run_all('f'));
    __m128i tu = _mm_cmpeq_epi8(_mm_or_si128(b, run_all(1)), run_all('u'));
    __m128i n = _mm_cmpeq_epi8(b, run_all('n'));
    __m128i r = _mm_cmpeq_epi8(b, run_all('r'));
    __m128i slash = _mm_cmpeq_epi8(b, run_all('/'));
    __m128i quote = _mm_cmpeq_epi8(b, run_all('"'));

    return _mm_or_si128(_mm_or_si128(_mm_or_si128(bf, tu), _mm_or_si128(n, r)),
                        _mm_or_si128(slash, quote));
}

static inline __m128i run_is_u(__m128i b)
{
    return _mm_cmpeq_epi8(b, run_all('u'));
}

/* Unsigned: from <= b <= from + span. */
static inline __m128i run_in(__m128i b, int from, int span)
{
    __m128i above = _mm_sub_epi8(b, run_all(from));

    return _mm_cmpeq_epi8(_mm_min_epu8(above, run_all(span)), above);
}

static inline __m128i run_is_hex(__m128i b)
{
    return _mm_or_si128(run_in(b, '0', 9), run_in(_mm_or_si128(b, run_all(0x20)), 'a', 5));
}

/* The bytes after which a backslash does its work, given all backslashes: those
 * that follow a run of odd length. A run is found by the carry it makes when its
 * first bit is added; the places where runs from even and from odd places must
 * end tell the length's parity. */
static inline uint64_t run_escaped(uint64_t backslashes)
{
    const uint64_t even = 0x5555555555555555;
    uint64_t starts = backslashes & ~(backslashes << 1);
    uint64_t from_even = (backslashes + (starts & even)) & ~backslashes;
    uint64_t from_odd = (backslashes + (starts & ~even)) & ~backslashes;

    return (from_even & ~even) | (from_odd & even);
}

/* Where escapes are that are wrong or not whole inside the block: the bit of the
 * backslash. */
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

static inline __m128i run_is_tail(__m128i b) /* 80..BF */
{
    return _mm_cmplt_epi8(b, run_all(0xC0));
}

/* Faults in sixteen bytes of UTF-8, given the bytes one, two and three before
 * each. A byte must continue a character exactly when one of those asks for it;
 * after E0, ED, F0 and F4 not every continuation will do. */
static inline __m128i run_not_utf8(__m128i b, __m128i one, __m128i two, __m128i three)
{
    __m128i asked = _mm_or_si128(
        _mm_or_si128(_mm_subs_epu8(one, run_all(0xBF)), _mm_subs_epu8(two, run_all(0xDF))),
        _mm_subs_epu8(three, run_all(0xEF)));
    __m128i free = _mm_cmpeq_epi8(asked, _mm_setzero_si128());
    __m128i same = _mm_cmpeq_epi8(free, run_is_tail(b));
    __m128i e0 =
        _mm_and_si128(_mm_cmpeq_epi8(one, run_all(0xE0)), _mm_cmplt_epi8(b, run_all(0xA0)));
    __m128i ed =
        _mm_and_si128(_mm_cmpeq_epi8(one, run_all(0xED)), _mm_cmpgt_epi8(b, run_all(0x9F)));
    __m128i f0 =
        _mm_and_si128(_mm_cmpeq_epi8(one, run_all(0xF0)), _mm_cmplt_epi8(b, run_all(0x90)));
    __m128i f4 =
        _mm_and_si128(_mm_cmpeq_epi8(one, run_all(0xF4)), _mm_cmpgt_epi8(b, run_all(0x8F)));
    __m128i no_lead = _mm_or_si128(run_in(b, 0xC0, 1), _mm_subs_epu8(b, run_all(0xF4)));

    return _mm_or_si128(_mm_or_si128(_mm_or_si128(same, no_lead), _mm_or_si128(e0, ed)),
                        _mm_or_si128(f0, f4));
}

/* Where to stop for the sake of UTF-8: nowhere (0), at a character that goes on
 * beyond the block, or, if there is any fault, at the first that is not ASCII. */
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

/* Whole characters and whole escapes that are sound content of a string: how many
 * bytes of the block. Ends before the quote that ends the string, too. */
static inline unsigned run_sound_block(const unsigned char *p, uint32_t *info)
{
    struct run_block k = { { run_load(p), run_load(p + 16), run_load(p + 32),
                             run_load(p + 48) } };
    uint64_t quotes = RUN_MASK(&k, run_is_quote);
    uint64_t backslashes = RUN_MASK(&k, run_is_backslash);
    uint64_t odd = RUN_MASK(&k, run_is_odd);
    uint64_t stop = 0;

    if (backslashes) {
        uint64_t escaped = run_escaped(backslashes);
        quotes &= ~escaped;
        stop |= run_odd_escapes(&k, backslashes, escaped);
    }
    if (odd) {
        uint64_t wide = RUN_MASK(&k, run_itself);
        stop |= (odd & ~wide) | (wide ? run_odd_chars(&k, p, wide) : 0);
    }
    stop |= quotes;
    if (backslashes & ~stop & (stop - 1))
        *info |= JSON_INFO_ESCAPES;
    return stop ? (unsigned)__builtin_ctzll(stop) : RUN_BLOCK;
}

/* The first byte from `p` on that may not be sound content of a string, or `end`.
 * Notes in `*info` when it passes an escape. */
static inline const unsigned char *run_sound(const unsigned char *p, const unsigned char *end,
                                             uint32_t *info)
{
    while (end - p >= RUN_BLOCK) {
        unsigned n = run_sound_block(p, info);
        p += n;
        if (n == 0)
            return p;
    }
    while (p < end && run_is_plain(*p))
        p++;
    return p;
}

#else

static inline const unsigned char *run_plain(const unsigned char *p, const unsigned char *text,
                                             const unsigned char *end)
{
    const uint64_t ones = 0x0101010101010101, tops = ones << 7;

    (void)text;
    for (; end - p >= 8; p += 8) {
        uint64_t w, quote, backslash;
        memcpy(&w, p, 8);
        quote = w ^ ones * '"';
        backslash = w ^ ones * '\\';
        /* A top bit is set by a byte below 0x20, by a zero in one of the two, by a byte
         * beyond ASCII; by another only beside one of those. */
        if (((w - ones * 0x20) | (quote - ones) | (backslash - ones) | w) & tops)
            break;
    }
    while (p < end && run_is_plain(*p))
        p++;
    return p;
}

static inline const unsigned char *run_sound(const unsigned char *p, const unsigned char *end,
                                             uint32_t *info)
{
    (void)info;
    return run_plain(p, p, end);
}

#endif

#endif

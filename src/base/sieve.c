#include "base/sieve.h"

/* How often a byte is to be expected in JSON and in what people write, by its upper half,
 * roughly. */
static const unsigned char often[16] = { 1, 1, 8, 6, 2, 2, 24, 24, 1, 1, 1, 1, 1, 1, 1, 1 };

/* By how much more a place of a group is passed if this byte is, too: what passes it are all
 * bytes made of a lower and an upper half that occur there. */
static struct sieve_width widened(const struct sieve *s, unsigned group, unsigned place,
                                  unsigned char byte)
{
    struct sieve_width w = s->width[group][place];
    unsigned bank = group / 8, bit = 1u << group % 8;

    if (!(s->low[bank][place][byte & 15] & bit))
        w.lower++;
    if (!(s->high[bank][place][byte >> 4] & bit))
        w.upper = (unsigned char)(w.upper + often[byte >> 4]);
    return w;
}

static uint64_t passed(struct sieve_width w)
{
    return (uint64_t)w.lower * w.upper;
}

/* How much more a group lets through with one more gram. */
static uint64_t cost(const struct sieve *s, const char *gram, unsigned group)
{
    uint64_t before = 1, then = 1;

    for (unsigned place = 0; place < SIEVE_GRAM; place++) {
        before *= passed(s->width[group][place]);
        then *= passed(widened(s, group, place, (unsigned char)gram[place]));
    }
    return then - before;
}

static void put(struct sieve *s, const char *gram, unsigned group)
{
    unsigned char bit = (unsigned char)(1u << group % 8);

    for (unsigned place = 0; place < SIEVE_GRAM; place++) {
        unsigned char byte = (unsigned char)gram[place];
        s->width[group][place] = widened(s, group, place, byte);
        s->low[group / 8][place][byte & 15] |= bit;
        s->high[group / 8][place][byte >> 4] |= bit;
    }
}

/* Into the group that lets least more through because of it. */
void sieve_add(struct sieve *s, const char gram[SIEVE_GRAM])
{
    uint64_t least = UINT64_MAX;
    unsigned best = 0;

    if (++s->grams > SIEVE_MOST)
        return;
    for (unsigned group = 0; group < SIEVE_GROUPS; group++) {
        uint64_t more = cost(s, gram, group);

        if (more < least) {
            least = more;
            best = group;
        }
    }
    put(s, gram, best);
}

enum { BLOCK = SIEVE_PLACES + SIEVE_GRAM - 1 }; /* bytes for so many places */

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512bw")))

/* What a table of sixteen has for each of thirty-two halves of bytes. */
AVX2 static inline __m256i look_up(const unsigned char table[16], __m256i half)
{
    __m128i once = _mm_loadu_si128((const __m128i *)(const void *)table);

    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(once), half);
}

/* The places of half a block. */
AVX2 static inline uint32_t half_places(const struct sieve *s, const char *at)
{
    const __m256i mask = _mm256_set1_epi8(15);
    __m256i found[SIEVE_BANKS] = { _mm256_set1_epi8(-1), _mm256_set1_epi8(-1) };
    __m256i none;

    for (unsigned place = 0; place < SIEVE_GRAM; place++) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(at + place));
        __m256i low = _mm256_and_si256(bytes, mask);
        __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask);

        for (unsigned bank = 0; bank < SIEVE_BANKS; bank++) {
            found[bank] = _mm256_and_si256(found[bank], look_up(s->low[bank][place], low));
            found[bank] = _mm256_and_si256(found[bank], look_up(s->high[bank][place], high));
        }
    }
    none = _mm256_cmpeq_epi8(_mm256_or_si256(found[0], found[1]), _mm256_setzero_si256());
    return ~(uint32_t)_mm256_movemask_epi8(none);
}

AVX2 static inline uint64_t places_avx2(const struct sieve *s, const char *at)
{
    return half_places(s, at) | (uint64_t)half_places(s, at + SIEVE_PLACES / 2) << 32;
}

AVX512 static inline __m512i look_up_wide(const unsigned char table[16], __m512i half)
{
    __m128i once = _mm_loadu_si128((const __m128i *)(const void *)table);

    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(once), half);
}

AVX512 static inline uint64_t places_avx512(const struct sieve *s, const char *at)
{
    const __m512i mask = _mm512_set1_epi8(15);
    __m512i found[SIEVE_BANKS] = { _mm512_set1_epi8(-1), _mm512_set1_epi8(-1) };

    for (unsigned place = 0; place < SIEVE_GRAM; place++) {
        __m512i bytes = _mm512_loadu_si512(at + place);
        __m512i low = _mm512_and_si512(bytes, mask);
        __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), mask);

        for (unsigned bank = 0; bank < SIEVE_BANKS; bank++) {
            found[bank] = _mm512_and_si512(found[bank], look_up_wide(s->low[bank][place], low));
            found[bank] =
                _mm512_and_si512(found[bank], look_up_wide(s->high[bank][place], high));
        }
    }
    return _mm512_test_epi8_mask(_mm512_or_si512(found[0], found[1]), _mm512_set1_epi8(-1));
}

/* `places` is a constant to the compiler, which so makes a loop for each of them. What is left
 * at the end is looked at with so much of what was before that it is a block. */
static inline __attribute__((always_inline)) uint64_t
next(uint64_t (*places)(const struct sieve *, const char *), const struct sieve *s,
     struct str text, size_t *at)
{
    size_t i = *at, from = text.len - BLOCK;
    uint64_t found = 0;

    for (; i + BLOCK <= text.len; i += SIEVE_PLACES) {
        found = places(s, text.at + i);
        if (found)
            break;
    }
    if (!found && text.len >= BLOCK && i + SIEVE_GRAM <= text.len) {
        found = places(s, text.at + from) >> (i - from);
        if (!found)
            i = from + SIEVE_PLACES;
    }
    *at = i;
    return found;
}

AVX2 static uint64_t next_avx2(const struct sieve *s, struct str text, size_t *at)
{
    return next(places_avx2, s, text, at);
}

AVX512 static uint64_t next_avx512(const struct sieve *s, struct str text, size_t *at)
{
    return next(places_avx512, s, text, at);
}

enum sieve_unit sieve_best(void)
{
    if (__builtin_cpu_supports("avx512bw"))
        return SIEVE_AVX512;
    return __builtin_cpu_supports("avx2") ? SIEVE_AVX2 : SIEVE_NONE;
}

uint64_t sieve_next_by(enum sieve_unit unit, const struct sieve *s, struct str text, size_t *at)
{
    if (s->grams > SIEVE_MOST || unit == SIEVE_NONE)
        return 0;
    return unit == SIEVE_AVX512 ? next_avx512(s, text, at) : next_avx2(s, text, at);
}

#else

enum sieve_unit sieve_best(void)
{
    return SIEVE_NONE;
}

uint64_t sieve_next_by(enum sieve_unit unit, const struct sieve *s, struct str text, size_t *at)
{
    (void)unit;
    (void)s;
    (void)text;
    (void)at;
    return 0;
}

#endif

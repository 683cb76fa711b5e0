#include "base/sieve.h"

enum { GROUPS = 8 * SIEVE_BANKS };

/* How many different bytes of a gram's place a group lets through, each counted as often as
 * it is to be expected in JSON and in what people write: by its upper half, roughly. */
static uint64_t width(const struct sieve *s, unsigned group, unsigned place)
{
    static const unsigned char often[16] = { 1, 1, 8, 6, 2, 2, 24, 24, 1, 1, 1, 1, 1, 1, 1, 1 };
    const unsigned char *low = s->low[group / 8][place], *high = s->high[group / 8][place];
    unsigned lower = 0, upper = 0;

    for (unsigned i = 0; i < 16; i++) {
        lower += low[i] >> group % 8 & 1u;
        upper += (high[i] >> group % 8 & 1u) * often[i];
    }
    return (uint64_t)lower * upper;
}

static uint64_t let_through(const struct sieve *s, unsigned group)
{
    uint64_t all = 1;

    for (unsigned place = 0; place < SIEVE_GRAM; place++)
        all *= width(s, group, place);
    return all;
}

static void put(struct sieve *s, const char *gram, unsigned group)
{
    unsigned char bit = (unsigned char)(1u << group % 8);

    for (unsigned place = 0; place < SIEVE_GRAM; place++) {
        unsigned char byte = (unsigned char)gram[place];
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
    for (unsigned group = 0; group < GROUPS; group++) {
        struct sieve with = *s;
        uint64_t more;

        put(&with, gram, group);
        more = let_through(&with, group) - let_through(s, group);
        if (more < least) {
            least = more;
            best = group;
        }
    }
    put(s, gram, best);
}

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

/* Thirty-two bytes by their halves. */
struct halves {
    __m256i low, high;
};

AVX2 static inline struct halves halves(const char *at)
{
    const __m256i mask = _mm256_set1_epi8(15);
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);

    return (struct halves){ _mm256_and_si256(bytes, mask),
                            _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask) };
}

/* What a table of sixteen has for each of thirty-two. */
AVX2 static inline __m256i look_up(const unsigned char table[16], __m256i half)
{
    __m128i once = _mm_loadu_si128((const __m128i *)(const void *)table);

    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(once), half);
}

/* The groups of a bank of which a gram may stand at each of thirty-two places. */
AVX2 static inline __m256i groups(const struct sieve *s, unsigned bank,
                                  const struct halves at[SIEVE_GRAM])
{
    __m256i all = _mm256_set1_epi8(-1);

    for (unsigned place = 0; place < SIEVE_GRAM; place++) {
        all = _mm256_and_si256(all, look_up(s->low[bank][place], at[place].low));
        all = _mm256_and_si256(all, look_up(s->high[bank][place], at[place].high));
    }
    return all;
}

AVX2 static uint32_t next(const struct sieve *s, struct str text, size_t *at)
{
    for (; text.len - *at >= SIEVE_PLACES + SIEVE_GRAM - 1; *at += SIEVE_PLACES) {
        const char *p = text.at + *at;
        const struct halves h[SIEVE_GRAM] = { halves(p), halves(p + 1), halves(p + 2) };
        __m256i any = _mm256_or_si256(groups(s, 0, h), groups(s, 1, h));
        __m256i none = _mm256_cmpeq_epi8(any, _mm256_setzero_si256());
        uint32_t places = ~(uint32_t)_mm256_movemask_epi8(none);

        if (places)
            return places;
    }
    return 0;
}

uint32_t sieve_next(const struct sieve *s, struct str text, size_t *at)
{
    if (s->grams > SIEVE_MOST || !__builtin_cpu_supports("avx2"))
        return 0;
    return next(s, text, at);
}

#else

uint32_t sieve_next(const struct sieve *s, struct str text, size_t *at)
{
    (void)s;
    (void)text;
    (void)at;
    return 0;
}

#endif

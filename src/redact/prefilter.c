#include "redact/prefilter.h"

/* Rough frequency of a byte in JSON and prose, by its high nibble. */
static const unsigned char byte_weight[16] = {
    1, 1, 8, 6, 2, 2, 24, 24, 1, 1, 1, 1, 1, 1, 1, 1
};

/* Returns the width of a byte of a group if `byte` is added to it. It lets every byte through
 * whose low and high nibble both occur there. */
static struct prefilter_width widen(const struct prefilter *s, unsigned group,
                                    unsigned position, unsigned char byte)
{
    struct prefilter_width w = s->width[group][position];
    unsigned bank = group / 8, bit = 1u << group % 8;

    if (!(s->low[bank][position][byte & 15] & bit))
        w.lower++;
    if (!(s->high[bank][position][byte >> 4] & bit))
        w.upper = (unsigned char)(w.upper + byte_weight[byte >> 4]);
    return w;
}

static uint64_t pass_weight(struct prefilter_width w)
{
    return (uint64_t)w.lower * w.upper;
}

/* Returns how much more a group lets through with this gram. */
static uint64_t added_weight(const struct prefilter *s, const char *gram, unsigned group)
{
    uint64_t before = 1, then = 1;

    for (unsigned position = 0; position < PREFILTER_GRAM; position++) {
        before *= pass_weight(s->width[group][position]);
        then *= pass_weight(widen(s, group, position, (unsigned char)gram[position]));
    }
    return then - before;
}

static void add_to_group(struct prefilter *s, const char *gram, unsigned group)
{
    unsigned char bit = (unsigned char)(1u << group % 8);

    for (unsigned position = 0; position < PREFILTER_GRAM; position++) {
        unsigned char byte = (unsigned char)gram[position];
        s->width[group][position] = widen(s, group, position, byte);
        s->low[group / 8][position][byte & 15] |= bit;
        s->high[group / 8][position][byte >> 4] |= bit;
    }
}

/* Adds the gram to the group where it costs least. */
void prefilter_add(struct prefilter *s, const char gram[PREFILTER_GRAM])
{
    uint64_t least = UINT64_MAX;
    unsigned best = 0;

    if (++s->grams > PREFILTER_MAX_GRAMS)
        return;
    for (unsigned group = 0; group < PREFILTER_GROUPS; group++) {
        uint64_t more = added_weight(s, gram, group);

        if (more < least) {
            least = more;
            best = group;
        }
    }
    add_to_group(s, gram, best);
}

enum {
    BLOCK_BYTES = PREFILTER_POSITIONS + PREFILTER_GRAM - 1
}; /* that PREFILTER_POSITIONS need */

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512bw")))

/* Looks up 32 nibbles in a table of 16. */
AVX2 static inline __m256i look_up(const unsigned char table[16], __m256i half)
{
    __m128i once = _mm_loadu_si128((const __m128i *)(const void *)table);

    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(once), half);
}

/* Tests half a block of positions. */
AVX2 static inline uint32_t half_positions(const struct prefilter *s, const char *at)
{
    const __m256i mask = _mm256_set1_epi8(15);
    __m256i found[PREFILTER_BANKS] = { _mm256_set1_epi8(-1), _mm256_set1_epi8(-1) };
    __m256i none;

    for (unsigned position = 0; position < PREFILTER_GRAM; position++) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(at + position));
        __m256i low = _mm256_and_si256(bytes, mask);
        __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask);

        for (unsigned bank = 0; bank < PREFILTER_BANKS; bank++) {
            found[bank] = _mm256_and_si256(found[bank], look_up(s->low[bank][position], low));
            found[bank] = _mm256_and_si256(found[bank], look_up(s->high[bank][position], high));
        }
    }
    none = _mm256_cmpeq_epi8(_mm256_or_si256(found[0], found[1]), _mm256_setzero_si256());
    return ~(uint32_t)_mm256_movemask_epi8(none);
}

AVX2 static inline uint64_t positions_avx2(const struct prefilter *s, const char *at)
{
    return half_positions(s, at) | (uint64_t)half_positions(s, at + PREFILTER_POSITIONS / 2)
                                       << 32;
}

AVX512 static inline __m512i look_up_wide(const unsigned char table[16], __m512i half)
{
    __m128i once = _mm_loadu_si128((const __m128i *)(const void *)table);

    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(once), half);
}

AVX512 static inline uint64_t positions_avx512(const struct prefilter *s, const char *at)
{
    const __m512i mask = _mm512_set1_epi8(15);
    __m512i found[PREFILTER_BANKS] = { _mm512_set1_epi8(-1), _mm512_set1_epi8(-1) };

    for (unsigned position = 0; position < PREFILTER_GRAM; position++) {
        __m512i bytes = _mm512_loadu_si512(at + position);
        __m512i low = _mm512_and_si512(bytes, mask);
        __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), mask);

        for (unsigned bank = 0; bank < PREFILTER_BANKS; bank++) {
            found[bank] =
                _mm512_and_si512(found[bank], look_up_wide(s->low[bank][position], low));
            found[bank] =
                _mm512_and_si512(found[bank], look_up_wide(s->high[bank][position], high));
        }
    }
    return _mm512_test_epi8_mask(_mm512_or_si512(found[0], found[1]), _mm512_set1_epi8(-1));
}

/* `positions` is a compile-time constant, so each caller gets its own loop. The rest at the end
 * is tested as the last full block, which overlaps the one before. */
static inline __attribute__((always_inline)) uint64_t
next_block(uint64_t (*positions)(const struct prefilter *, const char *),
           const struct prefilter *s, struct str text, size_t *at)
{
    size_t i = *at, from = text.len - BLOCK_BYTES;
    uint64_t found = 0;

    for (; i + BLOCK_BYTES <= text.len; i += PREFILTER_POSITIONS) {
        found = positions(s, text.at + i);
        if (found)
            break;
    }
    if (!found && text.len >= BLOCK_BYTES && i + PREFILTER_GRAM <= text.len) {
        found = positions(s, text.at + from) >> (i - from);
        if (!found)
            i = from + PREFILTER_POSITIONS;
    }
    *at = i;
    return found;
}

AVX2 static uint64_t next_avx2(const struct prefilter *s, struct str text, size_t *at)
{
    return next_block(positions_avx2, s, text, at);
}

AVX512 static uint64_t next_avx512(const struct prefilter *s, struct str text, size_t *at)
{
    return next_block(positions_avx512, s, text, at);
}

enum prefilter_unit prefilter_best_unit(void)
{
    if (__builtin_cpu_supports("avx512bw"))
        return PREFILTER_AVX512;
    return __builtin_cpu_supports("avx2") ? PREFILTER_AVX2 : PREFILTER_NONE;
}

uint64_t prefilter_next_by(enum prefilter_unit unit, const struct prefilter *s, struct str text,
                           size_t *at)
{
    if (s->grams > PREFILTER_MAX_GRAMS || unit == PREFILTER_NONE)
        return 0;
    return unit == PREFILTER_AVX512 ? next_avx512(s, text, at) : next_avx2(s, text, at);
}

#else

enum prefilter_unit prefilter_best_unit(void)
{
    return PREFILTER_NONE;
}

uint64_t prefilter_next_by(enum prefilter_unit unit, const struct prefilter *s, struct str text,
                           size_t *at)
{
    (void)unit;
    (void)s;
    (void)text;
    (void)at;
    return 0;
}

#endif

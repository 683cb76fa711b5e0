/* redact/prefilter.h - finds positions where one of many 3-byte grams may stand, with SIMD.
 *
 * Tests 64 positions at once. It never misses a gram, but reports false positions: the caller
 * must check them. Grams are spread over groups; of each group only the sets of low and high
 * nibbles per byte are kept, so too many grams would let too much through. Beyond
 * PREFILTER_MAX_GRAMS, and on processors without AVX2, it filters nothing.
 *
 * Holds no memory; the caller owns the struct. */
#ifndef REDACT_PREFILTER_H
#define REDACT_PREFILTER_H

#include <stdint.h>

#include "base/str.h"

enum {
    PREFILTER_GRAM = 3,       /* bytes */
    PREFILTER_POSITIONS = 64, /* tested at once */
    PREFILTER_BANKS = 2,      /* of eight groups each */
    PREFILTER_GROUPS = 8 * PREFILTER_BANKS,
    PREFILTER_MAX_GRAMS = 340,
};

/* All zero: empty. */
struct prefilter {
    /* By nibble: the groups, one bit each, that have a gram with this nibble in that byte. */
    unsigned char low[PREFILTER_BANKS][PREFILTER_GRAM][16],
        high[PREFILTER_BANKS][PREFILTER_GRAM][16];
    /* How much each byte of a group lets through. */
    struct prefilter_width {
        unsigned char lower, upper; /* nibbles; the upper ones weighted by frequency */
    } width[PREFILTER_GROUPS][PREFILTER_GRAM];
    unsigned grams; /* added, those beyond the limit included */
};

void prefilter_add(struct prefilter *s, const char gram[PREFILTER_GRAM]);

/* The instruction set to use. */
enum prefilter_unit { PREFILTER_NONE, PREFILTER_AVX2, PREFILTER_AVX512 };

enum prefilter_unit prefilter_best_unit(void); /* of this processor */

/* Returns candidate positions from `*at` on, of the first block that has any, and moves `*at`
 * to that block: bit n stands for position `*at` + n. To continue, add PREFILTER_POSITIONS to
 * `*at`, which may then be behind the end. Returns 0 if there is no candidate before the new
 * `*at`; the text from there on was not tested, because it is shorter than a block or nothing
 * can be filtered. */
uint64_t prefilter_next_by(enum prefilter_unit unit, const struct prefilter *s, struct str text,
                           size_t *at);

static inline uint64_t prefilter_next(const struct prefilter *s, struct str text, size_t *at)
{
    return prefilter_next_by(prefilter_best_unit(), s, text, at);
}

#endif

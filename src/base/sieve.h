/* base/sieve.h - where in a text one of many grams of three bytes may stand, cheaply.
 *
 * Sixty-four places are looked at at once. A place at which a gram stands is never left out;
 * the others mostly are, and what comes through is to be looked at by somebody who knows. Of
 * the grams of a group it is only known which halves of a byte occur where in them, so that
 * too many grams let too much through: then nothing is looked at, as on processors without
 * AVX2. */
#ifndef BASE_SIEVE_H
#define BASE_SIEVE_H

#include <stdint.h>

#include "base/str.h"

enum {
    SIEVE_GRAM = 3,
    SIEVE_PLACES = 64,
    SIEVE_BANKS = 2, /* of eight groups each */
    SIEVE_GROUPS = 8 * SIEVE_BANKS,
    SIEVE_MOST = 340, /* grams */
};

/* Empty when it is all zero. */
struct sieve {
    /* By the half of a byte: the groups, one bit each, with such a byte there in a gram. */
    unsigned char low[SIEVE_BANKS][SIEVE_GRAM][16], high[SIEVE_BANKS][SIEVE_GRAM][16];
    /* What each place of a group lets through. */
    struct sieve_width {
        unsigned char lower, upper; /* halves; the upper ones by how often they occur */
    } width[SIEVE_GROUPS][SIEVE_GRAM];
    unsigned grams;
};

void sieve_add(struct sieve *s, const char gram[SIEVE_GRAM]);

/* What there may be in a processor to look with. */
enum sieve_unit { SIEVE_NONE, SIEVE_AVX2, SIEVE_AVX512 };

enum sieve_unit sieve_best(void); /* of this one */

/* The places from `*at` on where a gram may stand, in the first block that has any: bit n is
 * the place `*at` + n then, and there is none before. Whoever goes on does so SIEVE_PLACES
 * further on, which may be behind the end. 0: there is none before `*at`, and from there on
 * nothing was looked at, be it that the text is shorter than a block. */
uint64_t sieve_next_by(enum sieve_unit unit, const struct sieve *s, struct str text,
                       size_t *at);

static inline uint64_t sieve_next(const struct sieve *s, struct str text, size_t *at)
{
    return sieve_next_by(sieve_best(), s, text, at);
}

#endif

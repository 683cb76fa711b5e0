/* base/sieve.h - where in a text one of many grams of three bytes may stand, cheaply.
 *
 * Thirty-two places are looked at at once. A place at which a gram stands is never left out;
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
    SIEVE_PLACES = 32,
    SIEVE_BANKS = 2,  /* of eight groups each */
    SIEVE_MOST = 280, /* grams */
};

/* Empty when it is all zero. */
struct sieve {
    /* By the half of a byte: the groups, one bit each, with such a byte there in a gram. */
    unsigned char low[SIEVE_BANKS][SIEVE_GRAM][16], high[SIEVE_BANKS][SIEVE_GRAM][16];
    unsigned grams;
};

void sieve_add(struct sieve *s, const char gram[SIEVE_GRAM]);

/* The places from `*at` on where a gram may stand, in the first block that has any: bit n is
 * the place `*at` + n then, and there is none before. 0: there is none before `*at`, and from
 * there on nothing was looked at, be it for want of a whole block. */
uint32_t sieve_next(const struct sieve *s, struct str text, size_t *at);

#endif

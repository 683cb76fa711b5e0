/* base/digits.h - numbers as decimal digits, two at a time.
 *
 * Every line of a recording has several, and printf would be half its cost. */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stdint.h>

enum { DIGITS_MOST = 20 }; /* of a uint64_t */

static inline char *digits_put_pair(char *to, unsigned below_100)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";

    *to++ = pairs[2 * below_100];
    *to++ = pairs[2 * below_100 + 1];
    return to;
}

/* The digits of `n` so that they end before `end`; where they begin. */
static inline char *digits_put_before(char *end, uint64_t n)
{
    for (; n >= 100; n /= 100)
        digits_put_pair(end -= 2, (unsigned)(n % 100));
    if (n >= 10)
        digits_put_pair(end -= 2, (unsigned)n);
    else
        *--end = (char)('0' + n);
    return end;
}

#endif

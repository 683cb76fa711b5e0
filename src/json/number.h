/* json/number.h - what the text of a JSON number means, exactly.
 *
 * Works on the digits: no number of them is too many, and no floating point is
 * involved. `number` is always text that json_scan() has accepted. */
#ifndef JSON_NUMBER_H
#define JSON_NUMBER_H

#include <stdint.h>

#include "base/buf.h"

/* An integer that fits, written in any way (5, 5.0, 50e-1); false otherwise. */
bool json_number_int(struct str number, int64_t *out);

/* Appends the one spelling all numbers of the same value share: "-125e-1" for
 * -12.5 and for -1250.0e-2, "0" for every zero. Digits do not begin or end with
 * zero, the exponent is always there. */
void json_number_normal(struct str number, struct buf *to);

#endif

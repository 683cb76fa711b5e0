/* json/number.h - evaluates the text of a JSON number exactly.
 *
 * Works on the digits, however many, without floating point. `number` is always text that
 * json_scan() has accepted. */
#ifndef JSON_NUMBER_H
#define JSON_NUMBER_H

#include <stdint.h>

#include "base/buf.h"

/* Parses an integer that fits, in any spelling (5, 5.0, 50e-1); false otherwise. */
bool json_number_int(struct str number, int64_t *out);

/* Appends a normal form that all numbers of the same value share: "-125e-1" for -12.5 and for
 * -1250.0e-2, "0" for every zero. Digits do not begin or end with zero, the exponent is always
 * there. */
void json_number_normalize(struct str number, struct buf *to);

#endif

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

bool json_number_is_integer(struct str number); /* in any spelling and of any size */

/* Sets `*order` to less than, equal to or greater than 0, as `a` is to `b`. Returns false if an
 * exponent has more digits than are evaluated (18). */
bool json_number_compare(struct str a, struct str b, int *order) MUST_CHECK;

/* Sets `*multiple` to whether `number` is an integer times `of`. Returns false if that is not
 * evaluated: `of` is 0 or has more than 18 significant digits, or an exponent has more. */
bool json_number_multiple(struct str number, struct str of, bool *multiple) MUST_CHECK;

#endif

/* report/value-excerpt.h - writes a JSON value on one line, cut around the place where it first
 * differs from another one.
 *
 * Two long values are often equal at the start, so the start alone would not show the
 * difference. Control and invisible characters are escaped as \uXXXX, which means the same in
 * JSON. */
#ifndef REPORT_VALUE_EXCERPT_H
#define REPORT_VALUE_EXCERPT_H

#include "base/buf.h"

/* Appends at most `columns` columns of `value`; "…" stands for each end that was cut. `other`
 * may be empty: then the start is shown. With the arguments swapped the cut is at the same
 * place, so two excerpts can be compared. Both are valid JSON; columns are at least
 * VALUE_EXCERPT_LEAST. */
enum { VALUE_EXCERPT_LEAST = 20 };
void value_excerpt_write(struct buf *to, struct str value, struct str other, size_t columns);

#endif

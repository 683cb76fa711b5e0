/* base/amount.h - numbers as people read them. */
#ifndef BASE_AMOUNT_H
#define BASE_AMOUNT_H

#include <stdint.h>

#include "base/buf.h"

/* "0 bytes", "1 byte", "999 bytes", "4.1 kB", "155 MB", "1.1 GB": powers of 1000,
 * rounded to what is shown. */
void amount_bytes(struct buf *to, uint64_t bytes);

/* "1 line", "3 lines", "0 lines". */
void amount_of(struct buf *to, uint64_t n, const char *one, const char *many);

#endif

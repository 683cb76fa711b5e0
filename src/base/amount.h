/* base/amount.h - numbers as people read and write them. */
#ifndef BASE_AMOUNT_H
#define BASE_AMOUNT_H

#include <stdint.h>

#include "base/buf.h"

/* "0 bytes", "1 byte", "999 bytes", "4.1 kB", "155 MB", "1.1 GB": powers of 1000,
 * rounded to what is shown. */
void amount_bytes(struct buf *to, uint64_t bytes);

/* "1 line", "3 lines", "0 lines". */
void amount_of(struct buf *to, uint64_t n, const char *one, const char *many);

/* "4096", "64MB" (10^6), "64MiB" or "64M" (2^20), "1.5kB"; false if it is no such thing
 * or too large, or has a part that is less than one byte. Whether letters are capitals
 * does not matter. */
bool amount_parse_bytes(struct str text, uint64_t *bytes);

/* "500ms", "2.5s", "5min" or "5m", "1h", "1m30s", in microseconds. Only 0 needs no unit:
 * whoever writes a bare 5 may mean seconds or milliseconds. */
bool amount_parse_us(struct str text, int64_t *us);

#endif

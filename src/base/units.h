/* base/units.h - writes and parses sizes and durations as people do. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

#include "base/buf.h"

/* Writes "0 bytes", "1 byte", "999 bytes", "4.1 kB", "155 MB", "1.1 GB": powers of 1000,
 * rounded. */
void units_write_bytes(struct buf *to, uint64_t bytes);

/* Writes "1 line", "3 lines", "0 lines". */
void units_write_count(struct buf *to, uint64_t n, const char *one, const char *many);

/* Parses "4096", "64MB" (10^6), "64MiB" or "64M" (2^20), "1.5kB", in any case. Returns false if
 * it is no size, too large, or not a whole number of bytes. */
bool units_parse_bytes(struct str text, uint64_t *bytes);

/* Parses "500ms", "2.5s", "5min" or "5m", "1h", "30d", "1m30s" to microseconds. Only 0 needs no
 * unit: a bare 5 might mean seconds or milliseconds. */
bool units_parse_duration(struct str text, int64_t *us);

#endif

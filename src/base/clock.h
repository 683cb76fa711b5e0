/* base/clock.h - reads the monotonic and the wall clock, and formats and parses times.
 *
 * Durations come from the monotonic clock, dates from the wall clock, which may step back.
 * Engines never read a clock: the caller passes the time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#include "base/str.h"

int64_t clock_mono_us(void);
int64_t clock_wall_us(void); /* since 1970, UTC */

enum { CLOCK_TEXT_SIZE = 40 };

/* Formats as RFC 3339 in UTC with milliseconds, "2025-02-04T10:00:00.050Z", or with six digits
 * if there are microseconds. Times outside of the years 0 to 9999 become the nearest one
 * inside. */
struct str clock_format(char out[CLOCK_TEXT_SIZE], int64_t wall_us);

/* Parses an RFC 3339 date-time with any offset and number of fraction digits (cut to
 * microseconds), also with a blank instead of "T"; false if it is none. A leap second counts as
 * the second after it. */
bool clock_parse(struct str text, int64_t *wall_us);

/* Parses the preferred date of HTTP (RFC 9110): "Sun, 15 Nov 2026 21:00:00 GMT". */
bool clock_parse_http(struct str text, int64_t *wall_us);

/* Add, subtract and convert numbers that may come from a file: results that do not fit become
 * the largest or smallest value. */
int64_t clock_add(int64_t us, int64_t more);
int64_t clock_since(int64_t us, int64_t start);
int64_t clock_ms_to_us(uint64_t ms);

/* Formats a duration: "840 us", "1.2 ms", "12 ms", "3.4 s", "2 min 5 s", "3 h 20 min". */
struct str clock_format_duration(char out[CLOCK_TEXT_SIZE], int64_t us);

#endif

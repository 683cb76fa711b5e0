/* base/clock.h - the two clocks, and wall time as text.
 *
 * Durations come from the monotonic clock, dates from the wall clock; the wall
 * clock may step back. Engines never call these: they are told the time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#include "base/str.h"

int64_t clock_mono_us(void);
int64_t clock_wall_us(void); /* since 1970, UTC */

enum { CLOCK_TEXT = 40 };

/* RFC 3339 in UTC: milliseconds as "2025-02-04T10:00:00.050Z", six digits only
 * when the microseconds would be lost otherwise. RFC 3339 knows the years 0 to 9999:
 * what lies outside becomes the nearest moment inside. */
struct str clock_format(char out[CLOCK_TEXT], int64_t wall_us);

/* Any RFC 3339 date-time, with offset and any number of fraction digits (what is
 * below a microsecond is cut), also with a blank for its "T"; false if it is none.
 * A leap second counts as the second after it. */
bool clock_parse(struct str text, int64_t *wall_us);

/* Sum, difference and milliseconds as microseconds, of numbers that a file may have made
 * up: what is too large becomes the largest there is. */
int64_t clock_add(int64_t us, int64_t more);
int64_t clock_since(int64_t us, int64_t start);
int64_t clock_of_ms(uint64_t ms);

/* A duration for people: "840 us", "1.2 ms", "12 ms", "3.4 s", "2 min 5 s",
 * "3 h 20 min"; rounded to what is shown. */
struct str clock_duration(char out[CLOCK_TEXT], int64_t us);

#endif

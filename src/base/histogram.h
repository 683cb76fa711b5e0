/* base/histogram.h - how numbers are spread, in little memory.
 *
 * Buckets grow with the numbers: sixteen for every doubling. A quantile is therefore
 * off by at most 1/32 (3.2 %) of its value; it is exact below 16, and where it is the
 * least or the greatest number of all. From 2^42 on, in microseconds seven weeks, all
 * share the last bucket. Zero it to begin. */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_BITS = 4, /* 2^4 buckets for every doubling */
    HISTOGRAM_TOP = 42, /* 2^42 and more are one */
    HISTOGRAM_BUCKETS = (HISTOGRAM_TOP - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS,
};

struct histogram {
    uint64_t count, min, max;
    uint32_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t n);

/* The number that `percent` (1 to 100) of all do not exceed; 0 if there is none. */
uint64_t histogram_quantile(const struct histogram *h, unsigned percent);

#endif

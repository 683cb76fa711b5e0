/* base/histogram.h - counts numbers in buckets and estimates quantiles, in little memory.
 *
 * There are sixteen buckets for every doubling. A quantile is therefore off by at most 1/32
 * (3.2 %) of its value; it is exact below 16, and where it is the minimum or maximum. Numbers
 * from 2^42 on (in microseconds: seven weeks) share the last bucket. Zero-initialize it. */
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

/* Adds all numbers of `from`. */
void histogram_merge(struct histogram *to, const struct histogram *from);

/* The number that `percent` (1 to 100) of all do not exceed; 0 if there is none. */
uint64_t histogram_quantile(const struct histogram *h, unsigned percent);

#endif

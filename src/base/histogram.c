#include "base/histogram.h"

#include "base/err.h"

enum { PER_DOUBLING = 1 << HISTOGRAM_BITS };

static unsigned bucket_of(uint64_t n)
{
    unsigned doublings;

    if (n < PER_DOUBLING)
        return (unsigned)n;
    if (n >> HISTOGRAM_TOP)
        return HISTOGRAM_BUCKETS - 1;
    doublings = 63 - (unsigned)__builtin_clzll(n) - HISTOGRAM_BITS;
    /* The leading bit of what remains adds the one doubling that starts at 0. */
    return doublings * PER_DOUBLING + (unsigned)(n >> doublings);
}

static uint64_t middle_of(unsigned bucket)
{
    unsigned doublings;

    if (bucket < PER_DOUBLING)
        return bucket;
    doublings = bucket / PER_DOUBLING - 1;
    return ((uint64_t)(bucket - doublings * PER_DOUBLING) << doublings) +
           (UINT64_C(1) << doublings) / 2;
}

void histogram_add(struct histogram *h, uint64_t n)
{
    if (!h->count++ || n < h->min)
        h->min = n;
    if (n > h->max)
        h->max = n;
    h->buckets[bucket_of(n)]++;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
    if (!from->count)
        return;
    if (!to->count || from->min < to->min)
        to->min = from->min;
    if (from->max > to->max)
        to->max = from->max;
    to->count += from->count;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        to->buckets[i] += from->buckets[i];
}

uint64_t histogram_quantile(const struct histogram *h, unsigned percent)
{
    uint64_t rank, middle, seen = 0;
    unsigned bucket = 0;

    BUG_IF(percent < 1 || percent > 100);
    rank = h->count / 100 * percent + (h->count % 100 * percent + 99) / 100;
    if (rank == h->count) /* also if there is none */
        return h->max;
    while ((seen += h->buckets[bucket]) < rank)
        bucket++;
    middle = rank == 1 ? h->min : middle_of(bucket);
    if (middle < h->min)
        return h->min;
    return middle < h->max ? middle : h->max;
}

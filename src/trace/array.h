/* trace/array.h - whether all elements of a batch were seen.
 *
 * A batch is one line of one side, so its elements follow each other. Each message says
 * its place; an element that is no message is a raw record and has none. Of several
 * connections none is told from the others: what is mixed up is not whole. */
#ifndef TRACE_ARRAY_H
#define TRACE_ARRAY_H

#include "trace/record.h"

struct array_lane {
    uint64_t id;         /* a hash of it */
    int64_t next, count; /* the place after the latest message, and how many there are */
    int64_t raw;         /* lines that are no message since then */
    bool open;
};

/* Starts as zeroes. */
struct array_watch {
    struct array_lane lanes[2]; /* by direction */
};

/* Every message and raw record. True: elements are missing before it. */
bool array_see(struct array_watch *w, const struct record *r);

/* Nothing follows: how many batches have no end. They are forgotten. */
unsigned array_end(struct array_watch *w);

#endif

/* trace/timestamp.h - the wall-clock time of each record of a file.
 *
 * A record's own date, else the start of its recording plus `us`, else the time of the record
 * before it. The start comes from the header, or from the first record that has both clocks. */
#ifndef TRACE_TIMESTAMP_H
#define TRACE_TIMESTAMP_H

#include "trace/record.h"

/* State of one file; starts as zeroes. */
struct timestamp {
    bool start_known, now_known;
    int64_t start_us; /* since 1970: when `us` was 0; valid if `start_known` */
    int64_t now_us;   /* since 1970: of the latest record; valid if `now_known` */
};

/* Call for every record, in order. */
void timestamp_update(struct timestamp *m, const struct record *r);

/* The sum, saturated: files may hold any number. */
int64_t timestamp_add(int64_t a, int64_t b);

#endif

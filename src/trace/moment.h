/* trace/moment.h - when a record happened, on the wall clock.
 *
 * That is its own date if it has one, else the start of its recording and the time since
 * then; what has neither happened with the record before it. The start comes from the
 * header, or from the first record that tells both clocks. */
#ifndef TRACE_MOMENT_H
#define TRACE_MOMENT_H

#include "trace/record.h"

/* All of one file, record by record; starts as zeroes. */
struct moment {
    bool started, known;
    int64_t start_us; /* since 1970: where `us` is 0; if `started` */
    int64_t now_us;   /* since 1970: of the latest record; if `known` */
};

void moment_see(struct moment *m, const struct record *r);

/* The sum, or the nearest number there is: files may hold any number. */
int64_t moment_add(int64_t a, int64_t b);

#endif

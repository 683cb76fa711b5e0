/* cmd/alarms.h - the timers an engine has set, on the loop. */
#ifndef CMD_ALARMS_H
#define CMD_ALARMS_H

#include <stdint.h>

#include "loop/loop.h"

/* The time of the timer the engine calls `name` has come. */
typedef void alarms_fn(void *to, uint64_t name);

struct alarms {
    struct loop *loop; /* borrowed */
    alarms_fn *fn;
    void *to;
    struct alarm *first;
};

void alarms_init(struct alarms *a, struct loop *l, alarms_fn *fn, void *to);
void alarms_set(struct alarms *a, uint64_t name, int64_t delay_us); /* never early */
void alarms_release(struct alarms *a); /* those that are set do not ring any more */

#endif

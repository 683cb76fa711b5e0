/* loop/timer.h - calls a function once, after a delay. */
#ifndef LOOP_TIMER_H
#define LOOP_TIMER_H

#include <stdint.h>

#include "loop/loop.h"

struct timer;
typedef void timer_fn(void *to);

struct timer *timer_new(struct loop *l, timer_fn *fn, void *to);
void timer_set(struct timer *t, uint64_t ms); /* from now, never early; replaces the last */
void timer_stop(struct timer *t);
void timer_close(struct timer *t); /* NULL is fine */

#endif

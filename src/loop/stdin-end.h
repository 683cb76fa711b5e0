/* loop/stdin-end.h - reports the end of standard input as an event of the loop.
 *
 * For a program that does not read it. The process that started us holds the other side of a
 * pipe, which the system closes when that process ends, also if it is killed. */
#ifndef LOOP_STDIN_END_H
#define LOOP_STDIN_END_H

#include "loop/loop.h"

struct stdin_end;
typedef void stdin_end_fn(void *to);

/* Reads and drops standard input, and calls `fn` once at its end, or if it cannot be read any
 * more. Keeps the loop running. Fails if standard input cannot be read at all. */
bool stdin_end_watch(struct stdin_end **out, struct loop *l, stdin_end_fn *fn, void *to,
                     struct err *e) MUST_CHECK;

void stdin_end_close(struct stdin_end *s); /* NULL is fine */

#endif

/* loop/starved.h - how long processes were ready to run and got no processor.
 *
 * On a busy machine the silence of a process says nothing about it. Where the system
 * does not count this, the answer is always 0. */
#ifndef LOOP_STARVED_H
#define LOOP_STARVED_H

#include <stdint.h>
#include <sys/types.h>

/* Of the process and its descendants, all their threads together, since each began. */
uint64_t starved_us(pid_t pid);

#endif

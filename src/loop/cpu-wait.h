/* loop/cpu-wait.h - measures how long processes were ready to run but got no processor.
 *
 * On a busy machine a process may be silent only because of that. Returns 0 where the system
 * does not count it. */
#ifndef LOOP_CPU_WAIT_H
#define LOOP_CPU_WAIT_H

#include <stdint.h>
#include <sys/types.h>

/* Returns the sum over all threads of the process and its descendants since they started. */
uint64_t cpu_wait_us(pid_t pid);

#endif

/* base/thread.h - starts, waits for and measures threads. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Bytes of the stack of a thread. The default differs between C libraries, from 128 kB to the
 * soft limit of the user. */
enum { THREAD_STACK = 1 << 20 };

/* Starts a thread with all signals blocked. All threads share one heap. */
bool thread_start(pthread_t *t, void *(*run)(void *), void *arg, struct err *e) MUST_CHECK;

/* Joins a thread that has `ended` or is about to return; else detaches it. */
void thread_join_or_detach(pthread_t t, bool ended);

/* Initializes a condition that uses the monotonic clock. */
void thread_init_cond(pthread_cond_t *c);

/* Waits until the condition is signalled; false if clock_mono_us() reaches `until` first. The
 * lock is held. */
bool thread_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until);

/* Returns how long this thread has run or waited for a processor, to a few milliseconds; the
 * rest of its time it waited for something else. Expensive: not for every message. If the
 * system does not count the waiting time, it is left out. */
int64_t thread_busy_us(void);

/* Returns whether a thread of this process neither runs nor waits for a processor; true if the
 * system does not tell. */
bool thread_is_blocked(pid_t tid);

#endif

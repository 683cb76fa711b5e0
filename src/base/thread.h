/* base/thread.h - the few things about threads that have one right way. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Signals are for the thread that knows what to do with them: this one gets none. */
bool thread_start(pthread_t *t, void *(*run)(void *), void *arg, struct err *e) MUST_CHECK;

/* Waits for one that has `ended`, or is about to return; another goes its own way. */
void thread_leave(pthread_t t, bool ended);

/* A condition whose waits end by the monotonic clock. */
void thread_init_cond(pthread_cond_t *c);

/* Until it is signalled, or, with false, clock_mono_us() is `until`; the lock is held. */
bool thread_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until);

/* How long this thread has run, or could have run and got no processor, to a few
 * milliseconds; the rest of its time it has waited for something else. Too dear to be asked
 * for every message. Where the system does not count the second, it is the first alone. */
int64_t thread_busy_us(void);

/* Whether a thread of this process neither runs nor waits for a processor; also if the system
 * does not say. */
bool thread_is_blocked(pid_t tid);

#endif

/* Single threads, and waiting for a time at the most. */
#ifndef INGOT_BASE_THREAD_H
#define INGOT_BASE_THREAD_H

#include "base/base.h"

#include <pthread.h>

/* A named thread with all signals blocked. Ends the program when it cannot be made. */
pthread_t thread_start(const char *name, void *(*fn)(void *), void *arg);
/* The same for callers that can do without it: false when it cannot be made. */
bool thread_try(pthread_t *ret, const char *name, void *(*fn)(void *), void *arg);

/* A condition for thread_wait. */
void thread_cond_init(pthread_cond_t *c);
/* Nanoseconds of clock_mono() in so many seconds. */
uint64_t thread_in(unsigned seconds);
/* false when it is `until` (clock_mono); as every wait it may end for no reason. With the lock held. */
bool thread_wait(pthread_cond_t *c, pthread_mutex_t *lock, uint64_t until);

#endif

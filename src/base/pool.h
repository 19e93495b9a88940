/* Worker threads for what may block (database, disk, hashing passwords). Threads start on demand up to the
 * limit and end after 10 s without work; the queue is bounded. */
#ifndef INGOT_BASE_POOL_H
#define INGOT_BASE_POOL_H

#include "base/base.h"

struct pool;
struct pool *pool_new(const char *name, unsigned max_threads, unsigned max_queue);
/* false when the queue is full or the pool is ending: answer 503. */
bool pool_submit(struct pool *p, void (*fn)(void *arg), void *arg);
unsigned pool_queued(struct pool *p);
/* Runs what is queued, then joins and frees. */
void pool_free(struct pool *p);
/* A named thread with all signals blocked. Ends the program when it cannot be made. */
#include <pthread.h>
pthread_t thread_start(const char *name, void *(*fn)(void *), void *arg);

#endif

/* Worker threads for what may block (database, disk, hashing passwords). Threads start on demand up to the
 * limit and end after 10 s without work; the queue is bounded. One thread at a time is on its way to the
 * queue, and calls the next one when it finds more there: a burst of short tasks is run by few threads. */
#ifndef INGOT_BASE_POOL_H
#define INGOT_BASE_POOL_H

#include "base/base.h"

struct pool;
struct pool *pool_new(const char *name, unsigned max_threads, unsigned max_queue);
/* false when the queue is full or the pool is ending: answer 503. */
bool pool_submit(struct pool *p, void (*fn)(void *arg), void *arg);
/* Work that was taken before and goes on after it waited for something: is never refused, and comes before
 * what is new. t is the caller's until fn runs. Not after pool_free was called. */
struct pool_task {
    void (*fn)(void *arg);
    void *arg;
    struct pool_task *next;
};
void pool_resume(struct pool *p, struct pool_task *t);
unsigned pool_queued(struct pool *p);
/* Runs what is queued, then joins and frees. */
void pool_free(struct pool *p);

#endif

#include "base/pool.h"

#include "base/thread.h"

#include <stdio.h>

enum { IDLE_SECONDS = 10 };

struct task {
    void (*fn)(void *arg);
    void *arg;
};

enum worker_state { WORKER_NONE, WORKER_RUNS, WORKER_ENDED /* to be joined */ };

struct worker {
    struct pool *pool;
    pthread_t thread;
    enum worker_state state;
};

struct pool {
    char name[16];
    unsigned max_threads, max_queue;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct task *queue; /* a ring */
    unsigned head, queued, idle, running;
    struct pool_task *first, **last; /* resumed */
    unsigned resumed;
    bool waking; /* a thread was called or started and has not come yet */
    bool ending;
    struct worker workers[];
};

struct pool *pool_new(const char *name, unsigned max_threads, unsigned max_queue)
{
    struct pool *p = base_zalloc(sizeof *p + max_threads * sizeof p->workers[0]);
    snprintf(p->name, sizeof p->name, "%s", name);
    p->max_threads = max_threads;
    p->max_queue = max_queue;
    p->queue = base_alloc(max_queue * sizeof *p->queue);
    p->last = &p->first;
    pthread_mutex_init(&p->lock, NULL);
    thread_cond_init(&p->wake);
    return p;
}

static void *work(void *arg);

/* One more thread in a free place. With the lock held; a thread that ended no longer wants it. */
static bool add_worker(struct pool *p)
{
    for (unsigned i = 0; i < p->max_threads; i++) {
        struct worker *w = &p->workers[i];
        if (w->state == WORKER_RUNS)
            continue;
        if (w->state == WORKER_ENDED)
            pthread_join(w->thread, NULL);
        w->state = WORKER_NONE;
        w->pool = p;
        if (p->running == 0)
            w->thread = thread_start(p->name, work, w); /* without one, no thread would ever run the queue */
        else if (!thread_try(&w->thread, p->name, work, w))
            return false;
        w->state = WORKER_RUNS;
        p->running++;
        return true;
    }
    return false;
}

/* A worker shall look at the queue: true when the caller is to signal, after it has given the lock back (the
 * woken one wants it). With the lock held. */
static bool rouse(struct pool *p)
{
    if (p->waking || p->queued + p->resumed == 0)
        return false;
    if (p->idle) {
        p->waking = true;
        return true;
    }
    if (p->running < p->max_threads && !p->ending)
        p->waking = add_worker(p);
    return false;
}

static void unlock_and_rouse(struct pool *p)
{
    bool signal = rouse(p);
    pthread_mutex_unlock(&p->lock);
    if (signal)
        pthread_cond_signal(&p->wake);
}

/* Waits for work; false when this thread shall end. With the lock held. */
static bool wait_for_task(struct pool *p)
{
    if (p->queued + p->resumed)
        return true;
    uint64_t until = thread_in(IDLE_SECONDS);
    while (p->queued + p->resumed == 0) {
        if (p->ending)
            return false;
        p->idle++;
        bool in_time = thread_wait(&p->wake, &p->lock, until);
        p->idle--;
        p->waking = false;
        if (!in_time && p->queued + p->resumed == 0)
            return false;
    }
    return true;
}

static struct task take(struct pool *p)
{
    struct pool_task *r = p->first;
    if (r) {
        p->first = r->next;
        if (!p->first)
            p->last = &p->first;
        p->resumed--;
        return (struct task){r->fn, r->arg};
    }
    struct task t = p->queue[p->head];
    p->head = (p->head + 1) % p->max_queue;
    p->queued--;
    return t;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct pool *p = w->pool;
    pthread_mutex_lock(&p->lock);
    p->waking = false;
    while (wait_for_task(p)) {
        struct task t = take(p);
        unlock_and_rouse(p);
        t.fn(t.arg);
        pthread_mutex_lock(&p->lock);
    }
    w->state = WORKER_ENDED;
    p->running--;
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

bool pool_submit(struct pool *p, void (*fn)(void *arg), void *arg)
{
    pthread_mutex_lock(&p->lock);
    bool ok = !p->ending && p->queued < p->max_queue;
    if (ok) {
        p->queue[(p->head + p->queued) % p->max_queue] = (struct task){fn, arg};
        p->queued++;
    }
    unlock_and_rouse(p);
    return ok;
}

void pool_resume(struct pool *p, struct pool_task *t)
{
    t->next = NULL;
    pthread_mutex_lock(&p->lock);
    *p->last = t;
    p->last = &t->next;
    p->resumed++;
    unlock_and_rouse(p);
}

unsigned pool_queued(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    unsigned n = p->queued;
    pthread_mutex_unlock(&p->lock);
    return n;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    /* No worker is started any more, so state none is final; the others are joined in any state. */
    for (unsigned i = 0; i < p->max_threads; i++) {
        pthread_mutex_lock(&p->lock);
        bool join = p->workers[i].state != WORKER_NONE;
        pthread_mutex_unlock(&p->lock);
        if (join)
            pthread_join(p->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p->queue);
    free(p);
}

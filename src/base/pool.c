#include "base/pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

/* Instrumented frames are several times larger. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
enum { STACK_BYTES = 2 << 20 };
#else
enum { STACK_BYTES = 256 << 10 };
#endif

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
    bool ending;
    struct worker workers[];
};

static void must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "ingot: %s: %s\n", what, strerror(rc));
    abort();
}

static int start(pthread_t *ret, const char *name, void *(*fn)(void *), void *arg)
{
    pthread_attr_t attr;
    sigset_t all, old;
    must(pthread_attr_init(&attr), "thread attributes");
    must(pthread_attr_setstacksize(&attr, STACK_BYTES), "thread stack");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(ret, &attr, fn, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (rc == 0) {
        char cut[16];
        snprintf(cut, sizeof cut, "%s", name);
        pthread_setname_np(*ret, cut);
    }
    return rc;
}

pthread_t thread_start(const char *name, void *(*fn)(void *), void *arg)
{
    pthread_t t;
    must(start(&t, name, fn, arg), "starting a thread");
    return t;
}

struct pool *pool_new(const char *name, unsigned max_threads, unsigned max_queue)
{
    struct pool *p = base_zalloc(sizeof *p + max_threads * sizeof p->workers[0]);
    snprintf(p->name, sizeof p->name, "%s", name);
    p->max_threads = max_threads;
    p->max_queue = max_queue;
    p->queue = base_alloc(max_queue * sizeof *p->queue);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->wake, &attr);
    pthread_condattr_destroy(&attr);
    return p;
}

/* Waits for work; false when this thread shall end. With the lock held. */
static bool wait_for_task(struct pool *p)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += IDLE_SECONDS;
    while (p->queued == 0) {
        if (p->ending)
            return false;
        p->idle++;
        int rc = pthread_cond_timedwait(&p->wake, &p->lock, &until);
        p->idle--;
        if (rc == ETIMEDOUT && p->queued == 0)
            return false;
    }
    return true;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct pool *p = w->pool;
    pthread_mutex_lock(&p->lock);
    while (wait_for_task(p)) {
        struct task t = p->queue[p->head];
        p->head = (p->head + 1) % p->max_queue;
        p->queued--;
        pthread_mutex_unlock(&p->lock);
        t.fn(t.arg);
        pthread_mutex_lock(&p->lock);
    }
    w->state = WORKER_ENDED;
    p->running--;
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* One more thread in a free place. With the lock held; a thread that ended no longer wants it. */
static void add_worker(struct pool *p)
{
    for (unsigned i = 0; i < p->max_threads; i++) {
        struct worker *w = &p->workers[i];
        if (w->state == WORKER_RUNS)
            continue;
        if (w->state == WORKER_ENDED)
            pthread_join(w->thread, NULL);
        w->state = WORKER_NONE;
        w->pool = p;
        int rc = start(&w->thread, p->name, work, w);
        if (rc == 0) {
            w->state = WORKER_RUNS;
            p->running++;
        } else if (p->running == 0) {
            must(rc, "starting a thread"); /* nobody would ever run the queue */
        }
        return;
    }
}

bool pool_submit(struct pool *p, void (*fn)(void *arg), void *arg)
{
    pthread_mutex_lock(&p->lock);
    bool ok = !p->ending && p->queued < p->max_queue;
    if (ok) {
        p->queue[(p->head + p->queued) % p->max_queue] = (struct task){fn, arg};
        p->queued++;
        if (p->queued > p->idle && p->running < p->max_threads)
            add_worker(p);
        pthread_cond_signal(&p->wake);
    }
    pthread_mutex_unlock(&p->lock);
    return ok;
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
    /* Nobody starts a worker any more, so state none is final; the others are joined in any state. */
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

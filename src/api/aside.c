#include "api/aside.h"

#include "base/base.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t last = PTHREAD_COND_INITIALIZER;
static unsigned running;
static atomic_bool ending;

struct aside {
    void (*fn)(void *);
    void *arg;
};

static void *run(void *arg)
{
    struct aside a = *(struct aside *)arg;
    free(arg);
    a.fn(a.arg);
    pthread_mutex_lock(&lock);
    running--;
    pthread_cond_signal(&last);
    pthread_mutex_unlock(&lock);
    return NULL;
}

void aside_start(const char *name, void (*fn)(void *), void *arg)
{
    pthread_mutex_lock(&lock);
    bool late = ending;
    running += !late;
    pthread_mutex_unlock(&lock);
    if (late) {
        fn(arg);
        return;
    }
    struct aside *a = base_alloc(sizeof *a);
    *a = (struct aside){fn, arg};
    pthread_detach(thread_start(name, run, a));
}

bool aside_ending(void)
{
    return ending;
}

void aside_stop(void)
{
    pthread_mutex_lock(&lock);
    ending = true;
    while (running)
        pthread_cond_wait(&last, &lock);
    pthread_mutex_unlock(&lock);
}

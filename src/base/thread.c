#include "base/thread.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#define NS UINT64_C(1000000000)

/* Instrumented frames are several times larger. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
enum { STACK_BYTES = 2 << 20 };
#else
enum { STACK_BYTES = 256 << 10 };
#endif

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

bool thread_try(pthread_t *ret, const char *name, void *(*fn)(void *), void *arg)
{
    return start(ret, name, fn, arg) == 0;
}

void thread_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

uint64_t thread_in(unsigned seconds)
{
    return clock_mono() + seconds * NS;
}

bool thread_wait(pthread_cond_t *c, pthread_mutex_t *lock, uint64_t until)
{
    const struct timespec t = {(time_t)(until / NS), (long)(until % NS)};
    return pthread_cond_timedwait(c, lock, &t) != ETIMEDOUT;
}

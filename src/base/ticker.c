#include "base/ticker.h"

#include "base/clock.h"

#include <sys/resource.h>
#include <unistd.h>

/* Niceness of threads that give way: a tenth of what another thread of the machine gets. At 19 it is a
 * seventieth, and with a few busy programs beside the server its small work stood still for minutes. */
#define GIVES_WAY 10

/* Until then, the end, or (unless it rests) a wake; false at the end. */
static bool wait_until(struct ticker *t, uint64_t until, bool rests)
{
    pthread_mutex_lock(&t->lock);
    while (!t->ending && (rests || !t->again) && thread_wait(&t->changed, &t->lock, until))
        ;
    t->again = rests && t->again;
    bool go = !t->ending;
    pthread_mutex_unlock(&t->lock);
    return go;
}

static void *ticker_thread(void *arg)
{
    struct ticker *t = arg;
    if (t->work->gives_way) /* of this thread alone; no matter when it cannot */
        setpriority(PRIO_PROCESS, (id_t)gettid(), GIVES_WAY);
    for (unsigned s = t->work->first_s; wait_until(t, thread_in(s), false);)
        s = t->work->run(t->owner);
    return NULL;
}

void ticker_init(struct ticker *t, const struct ticker_work *work, void *owner)
{
    *t = (struct ticker){.work = work, .owner = owner};
    pthread_mutex_init(&t->lock, NULL);
    thread_cond_init(&t->changed);
}

void ticker_begin(struct ticker *t)
{
    t->thread = thread_start(t->work->name, ticker_thread, t);
}

void ticker_start(struct ticker *t, const struct ticker_work *work, void *owner)
{
    ticker_init(t, work, owner);
    ticker_begin(t);
}

void ticker_wake(struct ticker *t)
{
    pthread_mutex_lock(&t->lock);
    t->again = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void ticker_end(struct ticker *t)
{
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

bool ticker_ending(struct ticker *t)
{
    pthread_mutex_lock(&t->lock);
    bool ending = t->ending;
    pthread_mutex_unlock(&t->lock);
    return ending;
}

void ticker_rest(struct ticker *t, uint64_t ns)
{
    wait_until(t, clock_mono() + ns, true);
}

void ticker_stop(struct ticker *t)
{
    ticker_end(t);
    pthread_join(t->thread, NULL); /* the lock and the condition own nothing */
}

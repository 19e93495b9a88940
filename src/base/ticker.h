/* A thread that does one thing again and again: when it is time, or when another thread knows that there is
 * something to do. Embedded in what owns it. */
#ifndef INGOT_BASE_TICKER_H
#define INGOT_BASE_TICKER_H

#include "base/thread.h"

struct ticker_work {
    const char *name;             /* of the thread */
    unsigned (*run)(void *owner); /* returns in how many seconds it is time again */
    unsigned first_s;             /* in how many seconds it is time at first */
    bool gives_way;               /* to every other thread of the machine */
};

struct ticker {
    const struct ticker_work *work;
    void *owner;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool again, ending;
};

/* The work must outlive the ticker. After ticker_init it may be woken, after ticker_begin it runs. */
void ticker_init(struct ticker *t, const struct ticker_work *work, void *owner);
void ticker_begin(struct ticker *t);
/* Both. */
void ticker_start(struct ticker *t, const struct ticker_work *work, void *owner);
/* It runs at once; when it runs already it does so once more. Any number of calls before that are one. */
void ticker_wake(struct ticker *t);
/* It does not begin again; a run that takes long asks `ticker_ending` now and then. Does not wait. */
void ticker_end(struct ticker *t);
bool ticker_ending(struct ticker *t);
/* For `run`: lets so many nanoseconds pass whatever wakes it, but not the end. */
void ticker_rest(struct ticker *t, uint64_t ns);
/* Ends it and waits for the run that is under way. It may still be woken, in vain. */
void ticker_stop(struct ticker *t);

#endif

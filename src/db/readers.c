#include "db/readers.h"

#include "base/clock.h"
#include "base/thread.h"

enum { WAIT_SECONDS = 60 };

static const uint64_t IDLE_NS = UINT64_C(30) * 1000000000;

struct readers {
    const struct driver *driver;
    char *url;
    unsigned max, opened;
    pthread_mutex_t lock;
    pthread_cond_t given;
    struct db_conn *idle; /* last given first, so that those not needed stay idle */
};

struct readers *readers_new(const struct driver *driver, const char *url, unsigned max)
{
    struct readers *r = base_alloc(sizeof *r);
    *r = (struct readers){.driver = driver, .url = base_strdup(url), .max = max};
    pthread_mutex_init(&r->lock, NULL);
    thread_cond_init(&r->given);
    return r;
}

static void close_list(struct readers *r, struct db_conn *list)
{
    for (struct db_conn *next; list; list = next) {
        next = list->next;
        r->driver->close(list);
    }
}

void readers_free(struct readers *r)
{
    close_list(r, r->idle);
    pthread_cond_destroy(&r->given);
    pthread_mutex_destroy(&r->lock);
    free(r->url);
    free(r);
}

static void forget_one(struct readers *r)
{
    pthread_mutex_lock(&r->lock);
    r->opened--;
    pthread_cond_signal(&r->given);
    pthread_mutex_unlock(&r->lock);
}

/* Empties the list of idle ones; with the lock held. */
static struct db_conn *detach_idle(struct readers *r)
{
    struct db_conn *list = r->idle;
    for (struct db_conn *c = list; c; c = c->next)
        r->opened--;
    r->idle = NULL;
    return list;
}

/* With the lock held. A thread that waits for a second one while it has the last would wait for itself. */
static bool wait_for_one(struct readers *r, struct err *err)
{
    uint64_t until = thread_in(WAIT_SECONDS);
    while (!r->idle && r->opened >= r->max)
        if (!thread_wait(&r->given, &r->lock, until) && !r->idle && r->opened >= r->max)
            return err_set(err, ERR_UNAVAILABLE, NULL, "all %u connections for reading are in use", r->max);
    return true;
}

struct db_conn *readers_take(struct readers *r, bool fresh, struct err *err)
{
    struct db_conn *old = NULL, *c = NULL;
    pthread_mutex_lock(&r->lock);
    if (fresh)
        old = detach_idle(r); /* as old as the lost one */
    bool ok = wait_for_one(r, err);
    if (ok && r->idle) {
        c = r->idle;
        r->idle = c->next;
    } else if (ok) {
        r->opened++;
    }
    pthread_mutex_unlock(&r->lock);
    close_list(r, old);
    if (!ok)
        return NULL;
    if (!c && !r->driver->open(r->url, CONN_READER, &c, err)) {
        forget_one(r);
        return NULL;
    }
    return c;
}

void readers_give(struct readers *r, struct db_conn *c)
{
    if (r->driver->state(c) != CONN_READY) {
        r->driver->close(c);
        forget_one(r);
        return;
    }
    c->idle_since = clock_mono();
    pthread_mutex_lock(&r->lock);
    c->next = r->idle;
    r->idle = c;
    pthread_cond_signal(&r->given);
    pthread_mutex_unlock(&r->lock);
}

void readers_trim(struct readers *r)
{
    uint64_t now = clock_mono();
    struct db_conn *old = NULL;
    pthread_mutex_lock(&r->lock);
    for (struct db_conn **at = r->idle ? &r->idle->next : NULL; at && *at; at = &(*at)->next) {
        if (now - (*at)->idle_since < IDLE_NS)
            continue;
        old = *at; /* those behind it are idle for longer */
        *at = NULL;
        for (struct db_conn *c = old; c; c = c->next)
            r->opened--;
        break;
    }
    pthread_mutex_unlock(&r->lock);
    close_list(r, old);
}

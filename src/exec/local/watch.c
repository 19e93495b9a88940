#include "exec/local/own.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#define LOOK_MS 1000 /* how long a supervisor that was killed stays unnoticed */

void watch_wake(struct local *l)
{
    uint64_t one = 1;
    while (write(l->wake, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void watch_set(struct exec *x, exec_watch_fn *fn, void *ctx)
{
    struct local *l = local_of(x);
    pthread_mutex_lock(&l->lock);
    l->watcher = fn;
    l->watcher_ctx = ctx;
    while (l->calling && !pthread_equal(pthread_self(), l->thread))
        pthread_cond_wait(&l->moved, &l->lock);
    pthread_mutex_unlock(&l->lock);
    watch_wake(l);
}

static void look(struct local *l, struct container *c)
{
    if (!container_refresh(l, c))
        return;
    c->changed = true;
    if (c->status.state == EXEC_EXITED)
        container_ended(l, c);
    pthread_cond_broadcast(&l->moved);
}

static void take_events(struct local *l)
{
    char events[8192] __attribute__((aligned(8)));
    ssize_t n;
    while ((n = read(l->inotify, events, sizeof events)) > 0) {
        for (char *at = events; at < events + n;) {
            struct inotify_event *e = (struct inotify_event *)at;
            struct str key;
            void *value;
            at += sizeof *e + e->len;
            for (size_t i = 0; map_next(l->containers, &i, &key, &value);) {
                struct container *c = value;
                if (c->watch == e->wd && !(e->mask & IN_IGNORED))
                    look(l, c);
            }
        }
    }
}

/* The slow look at everything: supervisors that were killed, events that were lost. */
static void look_at_all(struct local *l)
{
    struct str key;
    void *value;
    for (size_t i = 0; map_next(l->containers, &i, &key, &value);) {
        struct container *c = value;
        if (c->status.state == EXEC_EXITED || !c->spawned || c->removing)
            continue;
        look(l, c);
        if (c->status.state == EXEC_EXITED || container_alive(l, c->name))
            continue;
        look(l, c); /* it may have written its last word in between */
        if (c->status.state != EXEC_EXITED) {
            container_lost(l, c->name);
            look(l, c);
        }
    }
}

static struct container *next_changed(struct local *l)
{
    struct str key;
    void *value;
    for (size_t i = 0; l->watcher && map_next(l->containers, &i, &key, &value);) {
        struct container *c = value;
        if (c->changed)
            return c;
    }
    return NULL;
}

/* Under the lock, which is given back while the watcher runs. */
static void tell(struct local *l)
{
    for (struct container *c; (c = next_changed(l));) {
        struct exec_status s = c->status;
        char address[sizeof c->address];
        memcpy(address, c->address, sizeof address);
        s.address = address;
        s.node = l->node;
        c->changed = false;
        exec_watch_fn *fn = l->watcher;
        void *ctx = l->watcher_ctx;
        l->calling = true;
        pthread_mutex_unlock(&l->lock);
        fn(ctx, &s);
        pthread_mutex_lock(&l->lock);
        l->calling = false;
        pthread_cond_broadcast(&l->moved);
    }
}

void *watch_main(void *arg)
{
    struct local *l = arg;
    uint64_t count, looked = clock_mono();
    for (;;) {
        struct pollfd p[] = {{.fd = l->inotify, .events = POLLIN}, {.fd = l->wake, .events = POLLIN}};
        int n = poll(p, 2, LOOK_MS);
        if (n > 0 && p[1].revents && read(l->wake, &count, sizeof count) < 0)
            continue;
        pthread_mutex_lock(&l->lock);
        if (l->ending) {
            pthread_mutex_unlock(&l->lock);
            return NULL;
        }
        take_events(l);
        if (clock_mono() - looked >= LOOK_MS * UINT64_C(1000000)) {
            look_at_all(l);
            supervisors_sweep(l);
            network_sweep(l);
            looked = clock_mono();
        }
        tell(l);
        pthread_mutex_unlock(&l->lock);
    }
}

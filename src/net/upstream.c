#include "net/upstream.h"

#include <errno.h>
#include <sys/socket.h>

#define MAX_PER_KEY 128
#define MAX_ALL     512
#define IDLE_MS     30000

/* One idle connection; it is its conn's proto while it waits. */
struct idle {
    struct upstream_pool *pool;
    struct conn *c;
    struct idle *next, *prev;
    char key[];
};

struct upstream_pool {
    struct idle *all;
    unsigned count;
};

struct upstream_pool *upstream_pool_new(void)
{
    return base_zalloc(sizeof(struct upstream_pool));
}

void upstream_pool_free(struct upstream_pool *p)
{
    free(p);
}

static struct conn *unlink_idle(struct idle *i)
{
    struct conn *c = i->c;
    *(i->prev ? &i->prev->next : &i->pool->all) = i->next;
    if (i->next)
        i->next->prev = i->prev;
    i->pool->count--;
    free(i);
    return c;
}

static void idle_over(struct conn *c)
{
    conn_close(unlink_idle(c->proto));
}

static size_t idle_data(struct conn *c, const char *p, size_t n)
{
    (void)p; /* nothing was asked: it cannot be trusted */
    idle_over(c);
    return n;
}

static void idle_closed(struct conn *c)
{
    unlink_idle(c->proto);
}

static void idle_nothing(struct conn *c)
{
    (void)c;
}

static const struct conn_events idle_events = {
    .data = idle_data,
    .eof = idle_over,
    .flushed = idle_nothing,
    .closed = idle_closed,
    .timeout = idle_over,
    .drain = idle_over,
};

void upstream_pool_clear(struct upstream_pool *p)
{
    struct idle *i = p->all;
    p->all = NULL;
    p->count = 0;
    while (i) {
        struct idle *next = i->next;
        conn_close(i->c);
        free(i);
        i = next;
    }
}

static bool is_quiet(const struct conn *c)
{
    char byte;
    return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

struct conn *upstream_take(struct upstream_pool *p, const char *key, bool surely)
{
    for (struct idle *i = p->all; i; i = i->next) {
        if (strcmp(i->key, key) != 0 || i->c->failed || i->c->eof || (surely && !is_quiet(i->c)))
            continue;
        return unlink_idle(i);
    }
    return NULL;
}

static bool full(const struct upstream_pool *p, const char *key)
{
    unsigned same = 0;
    if (p->count < MAX_PER_KEY)
        return false;
    for (const struct idle *i = p->all; i; i = i->next)
        same += strcmp(i->key, key) == 0;
    return same >= MAX_PER_KEY || p->count >= MAX_ALL;
}

void upstream_give(struct upstream_pool *p, const char *key, struct conn *c)
{
    if (c->failed || c->closing || c->eof || c->in.n || c->loop->stopping || full(p, key)) {
        conn_close(c);
        return;
    }
    size_t n = strlen(key) + 1;
    struct idle *i = base_alloc(sizeof *i + n);
    *i = (struct idle){.pool = p, .c = c, .next = p->all};
    memcpy(i->key, key, n);
    if (i->next)
        i->next->prev = i;
    p->all = i;
    p->count++;
    c->ev = &idle_events;
    c->proto = i;
    conn_deadline(c, IDLE_MS);
    conn_read_start(c);
}

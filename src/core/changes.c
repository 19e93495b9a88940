#include "core/changes.h"

#include <pthread.h>

struct listener {
    struct listener *next;
    void (*fn)(void *ctx, const struct change *ch);
    void *ctx;
};

struct changes {
    pthread_mutex_t lock; /* held while listeners run, so that drop waits for them */
    struct listener *first;
};

struct changes *changes_new(void)
{
    struct changes *c = base_zalloc(sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void changes_free(struct changes *c)
{
    if (!c)
        return;
    while (c->first) {
        struct listener *l = c->first;
        c->first = l->next;
        free(l);
    }
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void changes_tell(struct changes *c, const struct change *ch)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    for (struct listener *l = c->first; l; l = l->next)
        l->fn(l->ctx, ch);
    pthread_mutex_unlock(&c->lock);
}

void *changes_listen(struct changes *c, void (*fn)(void *ctx, const struct change *ch), void *ctx)
{
    struct listener *l = base_zalloc(sizeof *l);
    l->fn = fn;
    l->ctx = ctx;
    pthread_mutex_lock(&c->lock);
    l->next = c->first;
    c->first = l;
    pthread_mutex_unlock(&c->lock);
    return l;
}

void changes_drop(struct changes *c, void *handle)
{
    pthread_mutex_lock(&c->lock);
    for (struct listener **at = &c->first; *at; at = &(*at)->next) {
        if (*at != handle)
            continue;
        *at = (*at)->next;
        break;
    }
    pthread_mutex_unlock(&c->lock);
    free(handle);
}

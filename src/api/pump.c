#include "api/pump.h"

#include "base/buf.h"

#include <pthread.h>

#define HIGH_WATER (512 << 10)

struct pump {
    struct request *request;
    struct pool *pool;
    const struct pump_ops *ops;
    void *ctx;
    pthread_mutex_t lock;
    struct buf in, work; /* what came; what a pool thread has in hand */
    bool busy, paused, ended, complete;
    struct err err; /* of the first piece that was not taken */
};

static void pump_free(struct pump *p)
{
    buf_release(&p->in);
    buf_release(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void finish(struct pump *p)
{
    if (!p->complete && !p->err.code)
        err_set(&p->err, ERR_MALFORMED, NULL, "the body ended early");
    p->ops->done(p->request, p->ctx, p->complete && !p->err.code, &p->err);
    pump_free(p);
}

/* Takes what came into work. false: nothing is there, and busy ended; or *ret_over: all is done. */
static bool take(struct pump *p, bool *ret_over)
{
    pthread_mutex_lock(&p->lock);
    bool some = p->in.n > 0;
    bool resume = some && p->paused;
    *ret_over = !some && p->ended;
    if (some) {
        struct buf swap = p->work;
        p->work = p->in;
        p->in = swap;
        buf_clear(&p->in);
        p->paused = false;
    } else if (!p->ended) {
        p->busy = false;
    }
    pthread_mutex_unlock(&p->lock);
    if (resume)
        request_resume(p->request);
    return some;
}

static void work(void *arg)
{
    struct pump *p = arg;
    bool over;
    while (take(p, &over))
        if (!p->err.code && !p->ops->piece(p->ctx, buf_view(&p->work), &p->err) && !p->err.code)
            err_set(&p->err, ERR_INTERNAL, NULL, "a piece was not taken");
    if (over)
        finish(p);
}

/* With the lock held and busy set. When the pool is full the loop's thread does it: rare, and better than
 * losing it. */
static void begin_work(struct pump *p)
{
    if (!pool_submit(p->pool, work, p))
        work(p);
}

static void on_data(struct request *r, struct str piece)
{
    struct pump *p = r->user;
    pthread_mutex_lock(&p->lock);
    buf_str(&p->in, piece);
    if (p->in.n >= HIGH_WATER && !p->paused) {
        p->paused = true;
        request_pause(r);
    }
    bool start = !p->busy;
    p->busy = true;
    pthread_mutex_unlock(&p->lock);
    if (start)
        begin_work(p);
}

static void on_end(struct request *r, bool complete)
{
    struct pump *p = r->user;
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    p->complete = complete;
    bool start = !p->busy;
    p->busy = true;
    pthread_mutex_unlock(&p->lock);
    if (start)
        begin_work(p);
}

void pump_start(struct request *r, struct pool *pool, const struct pump_ops *ops, void *ctx)
{
    struct pump *p = base_zalloc(sizeof *p);
    p->request = r;
    p->pool = pool;
    p->ops = ops;
    p->ctx = ctx;
    pthread_mutex_init(&p->lock, NULL);
    r->user = p;
    request_stream(r, &(struct body_sink){on_data, on_end});
}

#include "api/outflow.h"

#include <pthread.h>

#define HIGH_WATER (1 << 20)

struct outflow {
    struct stream *stream;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool full, closed, ended; /* ended: the writer let go */
};

static void outflow_free(struct outflow *f)
{
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    free(f);
}

static void on_drained(struct stream *s, void *ctx)
{
    (void)s;
    struct outflow *f = ctx;
    pthread_mutex_lock(&f->lock);
    f->full = false;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/* The last of both, the stream and the writer, frees. */
static void on_closed(struct stream *s, void *ctx)
{
    (void)s;
    struct outflow *f = ctx;
    pthread_mutex_lock(&f->lock);
    f->closed = true;
    bool last = f->ended;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
    if (last)
        outflow_free(f);
}

static struct outflow *begin(struct request *r, int status, const struct header *headers, size_t n,
                             int64_t length)
{
    static const struct stream_events events = {on_drained, on_closed};
    struct outflow *f = base_zalloc(sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    pthread_mutex_lock(&f->lock);
    f->stream = length < 0 ? respond_stream(r, status, headers, n, &events, f)
                           : respond_stream_sized(r, status, headers, n, (uint64_t)length, &events, f);
    pthread_mutex_unlock(&f->lock);
    return f;
}

struct outflow *outflow_begin(struct request *r, int status, const struct header *headers, size_t n)
{
    return begin(r, status, headers, n, -1);
}

struct outflow *outflow_begin_sized(struct request *r, int status, const struct header *headers, size_t n,
                                    uint64_t length)
{
    return begin(r, status, headers, n, (int64_t)length);
}

/* The lock is held while the stream is used, so that it cannot be closed (and gone) meanwhile. */
bool outflow_write(struct outflow *f, struct str data)
{
    pthread_mutex_lock(&f->lock);
    while (f->full && !f->closed)
        pthread_cond_wait(&f->changed, &f->lock);
    bool open = !f->closed;
    if (open && data.n)
        f->full = stream_write(f->stream, data) > HIGH_WATER;
    pthread_mutex_unlock(&f->lock);
    return open;
}

void outflow_end(struct outflow *f, bool complete)
{
    pthread_mutex_lock(&f->lock);
    bool last = f->closed;
    f->ended = true;
    if (!last)
        complete ? stream_end(f->stream) : stream_abort(f->stream);
    pthread_mutex_unlock(&f->lock);
    if (last)
        outflow_free(f);
}

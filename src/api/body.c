#include "api/body.h"

#include "base/buf.h"

#include <pthread.h>

#define BUFFER (256 * 1024)

/* In the request's arena, which outlives all calls of the sink. */
struct body {
    struct request *request;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct buf buf;
    bool paused, ended, complete, closed;
};

static void on_data(struct request *r, struct str piece)
{
    struct body *b = r->user;
    pthread_mutex_lock(&b->lock);
    if (!b->closed) {
        buf_str(&b->buf, piece);
        if (b->buf.n >= BUFFER && !b->paused) {
            b->paused = true;
            request_pause(r);
        }
        pthread_cond_signal(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
}

static void on_end(struct request *r, bool complete)
{
    struct body *b = r->user;
    pthread_mutex_lock(&b->lock);
    b->ended = true;
    b->complete = complete;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

struct body *body_open(struct api_call *call)
{
    static const struct body_sink sink = {on_data, on_end};
    struct body *b = arena_new(call->arena, struct body);
    b->request = call->request;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    call->request->user = b;
    request_stream(call->request, &sink);
    return b;
}

ssize_t body_read(struct body *b, void *p, size_t n)
{
    pthread_mutex_lock(&b->lock);
    while (!b->buf.n && !b->ended)
        pthread_cond_wait(&b->changed, &b->lock);
    ssize_t got = b->complete ? 0 : -1;
    if (b->buf.n) {
        got = (ssize_t)(n < b->buf.n ? n : b->buf.n);
        memcpy(p, b->buf.p, (size_t)got);
        buf_consume(&b->buf, (size_t)got);
    }
    bool resume = b->paused && b->buf.n == 0;
    if (resume)
        b->paused = false;
    pthread_mutex_unlock(&b->lock);
    if (resume)
        request_resume(b->request);
    return got;
}

void body_close(struct body *b)
{
    pthread_mutex_lock(&b->lock);
    b->closed = true;
    buf_release(&b->buf);
    buf_init(&b->buf);
    pthread_mutex_unlock(&b->lock);
}

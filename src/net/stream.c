/* Answers of unknown length, written piece by piece from any thread. */
#include "net/exchange.h"

struct stream {
    struct exchange *x;
    const struct stream_events *ev;
    void *ctx;
};

static void stream_flushed(struct exchange *x)
{
    struct stream *s = x->output_ctx;
    size_t n = x->inflight;
    x->inflight = 0;
    if (n && atomic_fetch_sub(&x->pending, n) == n && s->ev->drained)
        s->ev->drained(s, s->ctx);
}

static void stream_gone(struct exchange *x, bool complete)
{
    (void)complete;
    struct stream *s = x->output_ctx;
    s->ev->closed(s, s->ctx);
    exchange_unref(x);
}

static const struct exchange_output stream_output = {.flushed = stream_flushed, .gone = stream_gone};

static struct stream *begin(struct request *r, int status, const struct header *headers, size_t n,
                            int64_t length, const struct stream_events *ev, void *ctx)
{
    struct exchange *x = exchange_of(r);
    struct stream *s = arena_new(&x->arena, struct stream);
    *s = (struct stream){x, ev, ctx};
    pthread_mutex_init(&x->out_lock, NULL);
    struct answer a = {.kind = ANSWER_STREAM,
                       .status = status,
                       .headers = headers,
                       .n = n,
                       .fd = -1,
                       .length = length,
                       .output = &stream_output,
                       .output_ctx = s};
    /* Always through the queue: `closed` may not come before the caller has the stream. */
    exchange_answer_later(x, a);
    return s;
}

struct stream *respond_stream(struct request *r, int status, const struct header *headers, size_t n,
                              const struct stream_events *ev, void *ctx)
{
    return begin(r, status, headers, n, -1, ev, ctx);
}

struct stream *respond_stream_sized(struct request *r, int status, const struct header *headers, size_t n,
                                    uint64_t length, const struct stream_events *ev, void *ctx)
{
    return begin(r, status, headers, n, (int64_t)length, ev, ctx);
}

size_t stream_write(struct stream *s, struct str data)
{
    return exchange_write(s->x, STR_NULL, data);
}

void stream_end(struct stream *s)
{
    exchange_write_end(s->x);
}

void stream_abort(struct stream *s)
{
    exchange_post(s->x, POST_ABORT);
}

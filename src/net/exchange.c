#include "net/exchange.h"

#include "net/accesslog.h"
#include "net/conn.h"
#include "net/cookies.h"
#include "net/server.h"

static void run_posted(struct task *t);

struct exchange *exchange_new(struct loop *l, size_t size, const struct exchange_ops *ops, void *proto)
{
    struct arena a;
    arena_init_spare(&a, &l->spares);
    struct exchange *x = arena_zalloc(&a, size);
    x->arena = a;
    x->pub.arena = &x->arena;
    x->loop = l;
    x->ops = ops;
    x->proto = proto;
    x->task.run = run_posted;
    x->refs = 2;
    x->started = uv_hrtime();
    x->pub.id = atomic_fetch_add_explicit(&l->server->next_id, 1, memory_order_relaxed) + 1;
    x->answer.fd = -1;
    l->exchanges++;
    return x;
}

static void free_if_unused(struct exchange *x)
{
    if (x->refs || atomic_load(&x->posted))
        return;
    x->loop->exchanges--;
    if (x->answer.fd >= 0)
        close(x->answer.fd);
    buf_release(&x->collected);
    buf_release(&x->out);
    buf_release(&x->refusal);
    struct arena_spares *spares = &x->loop->spares;
    struct arena a = x->arena;
    arena_release_spare(&a, spares);
}

void exchange_unref(struct exchange *x)
{
    x->refs--;
    free_if_unused(x);
}

/* --- the body --- */

bool exchange_wants_body(const struct exchange *x)
{
    return x->sink.end && !atomic_load(&x->paused);
}

void exchange_body(struct exchange *x, struct str piece)
{
    if (x->sink.data && !x->body_told)
        x->sink.data(&x->pub, piece);
}

/* Not while it is paused: the handler may be using what it has on another thread. */
static void tell_end(struct exchange *x)
{
    if (!x->sink.end || x->body_told || !(x->body_done || x->broken) || atomic_load(&x->paused))
        return;
    x->body_told = true;
    x->sink.end(&x->pub, x->body_done);
}

void exchange_body_end(struct exchange *x, bool complete)
{
    x->body_done |= complete;
    x->broken |= !complete;
    tell_end(x);
}

void exchange_set_sink(struct exchange *x, const struct body_sink *sink)
{
    x->sink = *sink;
    if (x->body_done || x->broken)
        tell_end(x);
    else if (x->proto)
        x->ops->resume(x);
}

void exchange_keep(struct exchange *x, size_t n)
{
    if (!x->proto)
        return;
    x->kept += n;
    conn_keep(x->ops->carrier(x), n);
    x->ops->relieve(x);
}

/* --- the answer --- */

/* The client is gone, or was answered for: the handler's answer goes nowhere. */
static void drop_answer(struct exchange *x)
{
    struct answer *a = &x->next_answer;
    if (a->fd >= 0 && a->kind == ANSWER_FILE)
        close(a->fd);
    if (!a->output) {
        exchange_unref(x);
        return;
    }
    x->output_ctx = a->output_ctx;
    a->output->gone(x, false);
}

static void count_answer(const struct exchange *x, int status)
{
    traffic_answered(x->pub.method, x->pub.traffic, status, (uv_hrtime() - x->started) / 1000);
}

/* What the client did not take at once. On HTTP/1 it is in the socket or waits for it. */
static void keep_answer(struct exchange *x)
{
    if (x->proto && (x->pub.version == 20 || x->ops->pending(x)))
        exchange_keep(x, arena_size(&x->arena));
}

static void give_answer(struct exchange *x)
{
    x->heard = true;
    if (!x->proto || x->answered_for) {
        drop_answer(x);
        return;
    }
    x->answered = true;
    x->answer = x->next_answer;
    count_answer(x, x->answer.status);
    x->output = x->answer.output;
    x->output_ctx = x->answer.output_ctx;
    bool streamed = x->output != NULL;
    if (!streamed) {
        x->sink = (struct body_sink){0};
        x->body_told = true;
    }
    x->refs++;
    x->ops->answer(x);
    x->answer.headers = NULL;
    if (x->answer.opened && x->proto)
        x->answer.opened(x);
    if (!streamed) {
        keep_answer(x);
        x->refs--;
    }
    exchange_unref(x);
}

static const struct header *copy_headers(struct arena *a, const struct header *headers, size_t n)
{
    struct header *copy = arena_alloc(a, n * sizeof *copy + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = (struct header){arena_str(a, headers[i].name), arena_str(a, headers[i].value)};
    return copy;
}

void exchange_answer(struct exchange *x, struct answer a, bool lasting)
{
    if (loop_current() != x->loop) {
        if (!lasting && a.body.n)
            a.body.p = arena_copy(&x->arena, a.body.p, a.body.n);
        exchange_answer_later(x, a);
        return;
    }
    /* Here a small body is in the socket, or copied, before this returns. */
    a.transient = !lasting && a.body.n <= 16 * 1024 && x->pub.version != 20;
    if (!lasting && !a.transient && a.body.n)
        a.body.p = arena_copy(&x->arena, a.body.p, a.body.n);
    x->next_answer = a;
    give_answer(x);
}

void exchange_answer_later(struct exchange *x, struct answer a)
{
    a.headers = copy_headers(&x->arena, a.headers, a.n);
    x->next_answer = a;
    exchange_post(x, POST_ANSWER);
}

void exchange_flushed(struct exchange *x)
{
    if (x->output)
        x->output->flushed(x);
}

void exchange_set_watch(struct exchange *x, struct exchange_watch w)
{
    if (!x->proto) {
        w.over(w.ctx);
        return;
    }
    x->watch = w;
    const struct conn *c = x->ops->carrier(x);
    if (w.eager && (c->eof || c->hung))
        x->ops->abort(x);
}

void exchange_finish(struct exchange *x, bool complete)
{
    conn_drop(x->ops->carrier(x), x->kept);
    x->proto = NULL;
    if (!x->answered)
        count_answer(x, 499);
    if (x->watch.over)
        x->watch.over(x->watch.ctx);
    x->watch.over = NULL;
    accesslog_add(x, complete ? x->answer.status : x->answered ? x->answer.status : 499);
    x->refs++; /* the callbacks may drop the handler's */
    if (!x->body_done)
        exchange_body_end(x, false);
    if (x->output) {
        const struct exchange_output *o = x->output;
        x->output = NULL;
        o->gone(x, complete);
    }
    x->refs--;
    exchange_unref(x);
}

static void refuse_with(struct exchange *x, int status, const char *detail, const struct header *headers,
                        size_t n)
{
    if (x->answered || !x->proto)
        return;
    x->answered_for = true;
    x->answered = true;
    count_answer(x, status);
    /* Not in the arena: the handler may be using that on another thread. */
    http_problem(&x->refusal, status, detail);
    x->answer = (struct answer){.kind = ANSWER_MEMORY,
                                .status = status,
                                .headers = headers,
                                .n = n,
                                .fd = -1,
                                .body = buf_view(&x->refusal)};
    x->ops->answer(x);
}

void exchange_refuse(struct exchange *x, int status, const char *detail)
{
    refuse_with(x, status, detail, &http_problem_type, 1);
}

void exchange_refuse_large(struct exchange *x, const char *detail, struct str path, struct str cookie)
{
    struct header *forget;
    size_t n = cookies_forget_all(&x->pub, path, cookie, x->loop->server->limits.max_header, &forget);
    if (n == 0) {
        exchange_refuse(x, 431, detail);
        return;
    }
    struct header *headers = arena_array(x->pub.arena, struct header, n + 1);
    headers[0] = http_problem_type;
    memcpy(headers + 1, forget, n * sizeof *headers);
    refuse_with(
        x, 431,
        "the cookies of this site are too large. Load the page again: the browser was told to forget some of "
        "them; if that does not help, delete the cookies of this site in its settings. A page on another "
        "port "
        "of this host may have set them. 本站的 Cookie 过大，请重新加载；如仍无效，请在浏览器中清除本站的 "
        "Cookie。",
        headers, n + 1);
}

void exchange_drain(struct exchange *x)
{
    if (!x->output)
        return;
    if (x->output->drain)
        x->output->drain(x);
    else
        x->ops->abort(x);
}

void exchange_begin(struct exchange *x)
{
    struct http_server *s = x->loop->server;
    s->handler(&x->pub, s->ctx);
}

/* --- from other threads --- */

void exchange_post(struct exchange *x, unsigned what)
{
    if (atomic_fetch_or(&x->posted, what) == 0)
        loop_post(x->loop, &x->task);
}

static void send_written(struct exchange *x)
{
    pthread_mutex_lock(&x->out_lock);
    struct buf out = x->out;
    buf_init(&x->out);
    bool end = x->out_end;
    x->out_end = false;
    pthread_mutex_unlock(&x->out_lock);
    x->inflight += out.n;
    if (x->proto && x->output) {
        if (out.n)
            x->ops->write(x, buf_view(&out));
        if (x->proto && x->ops->pending(x) == 0)
            exchange_flushed(x);
        if (end && x->proto)
            x->ops->end(x);
    }
    buf_release(&out);
}

static void run_posted(struct task *t)
{
    struct exchange *x = container_of(t, struct exchange, task);
    x->refs++;
    unsigned what = atomic_exchange(&x->posted, 0);
    if (what & POST_WATCH)
        exchange_set_watch(x, x->next_watch);
    if (what & POST_SINK)
        exchange_set_sink(x, &x->next_sink);
    if ((what & POST_RESUME) && !atomic_load(&x->paused)) {
        if (x->proto)
            x->ops->resume(x);
        tell_end(x);
    }
    if (what & POST_ANSWER)
        give_answer(x);
    if (what & POST_LATER)
        x->later(x);
    if (what & POST_OUTPUT)
        send_written(x);
    if ((what & POST_ABORT) && x->proto)
        x->ops->abort(x);
    exchange_unref(x);
}

size_t exchange_write(struct exchange *x, struct str head, struct str data)
{
    size_t n = head.n + data.n;
    size_t waiting = atomic_fetch_add(&x->pending, n) + n;
    pthread_mutex_lock(&x->out_lock);
    buf_str(&x->out, head);
    buf_str(&x->out, data);
    pthread_mutex_unlock(&x->out_lock);
    exchange_post(x, POST_OUTPUT);
    return waiting;
}

void exchange_write_end(struct exchange *x)
{
    pthread_mutex_lock(&x->out_lock);
    x->out_end = true;
    pthread_mutex_unlock(&x->out_lock);
    exchange_post(x, POST_OUTPUT);
}

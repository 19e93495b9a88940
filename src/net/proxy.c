/* Forwards an exchange to an upstream HTTP/1.1 server and its answer back. Everything runs on the exchange's
 * loop; either side that is slow holds the other back. */
#include "net/proxy_own.h"

#include <stdatomic.h>
#include <stdio.h>

/* Bytes under way in one direction before the other side must wait: less when there are many. */
#define WAITING_MAX    (256u * 1024)
#define WAITING_MIN    (8u * 1024)
#define WAITING_ALL    (64u << 20)
#define HEAD_USUAL     1000 /* malloc keeps up to 1032 bytes per thread */
#define SILENCE_FACTOR 10   /* times the body time-out: how long an upstream may think */

static const struct exchange_output proxy_output;
static atomic_uint active; /* requests in the hands of the proxy, of all threads */

static uint64_t waiting_max(void)
{
    unsigned n = atomic_load_explicit(&active, memory_order_relaxed), each = WAITING_ALL / (n ? n : 1);
    return each > WAITING_MAX ? WAITING_MAX : each < WAITING_MIN ? WAITING_MIN : each;
}

static struct proxy *proxy_of(struct request *r)
{
    return exchange_of(r)->output_ctx;
}

/* --- ends --- */

void proxy_drop_upstream(struct proxy *p)
{
    if (p->c)
        conn_close(p->c);
    p->c = NULL;
}

static void release(struct proxy *p)
{
    proxy_drop_upstream(p);
    buf_release(&p->head);
    proxy_keep_no_more(p);
    proxy_answer_release(&p->answer);
}

static void tell_over(struct proxy *p)
{
    if (p->counted)
        atomic_fetch_sub_explicit(&active, 1, memory_order_relaxed);
    p->counted = false;
    if (p->told)
        return;
    p->told = true;
    p->end.sent = p->x->sent;
    if (p->t.over)
        p->t.over(p->t.ctx, &p->end);
}

static void proxy_gone(struct exchange *x, bool complete)
{
    struct proxy *p = x->output_ctx;
    p->end.cut |= !complete;
    release(p);
    tell_over(p);
    exchange_unref(x);
}

static uint64_t since_start(const struct exchange *x)
{
    return (uv_hrtime() - x->started) / 1000;
}

static void answer_instead(struct proxy *p, int status, const char *detail)
{
    struct request *r = &p->x->pub;
    auto_buf struct buf text = {0};
    if (p->no_socket && p->t.unreachable) {
        p->t.unreachable(r, p->t.ctx);
    } else if (p->t.refused) {
        p->t.refused(r, p->t.ctx, status, detail);
    } else {
        http_problem(&text, status, detail);
        respond(r, status, &http_problem_type, 1, buf_view(&text));
    }
}

void proxy_fail(struct proxy *p, enum proxy_failure why, int status, const char *detail)
{
    struct exchange *x = p->x;
    proxy_drop_upstream(p);
    p->end.failure = why;
    if (!x->proto || x->answered_for)
        return; /* proxy_gone comes or came */
    if (x->answered) {
        p->end.cut = true;
        x->ops->abort(x);
        return;
    }
    x->refs++;
    p->end.status = status;
    p->end.took_us = since_start(x);
    release(p);
    x->output = NULL;
    answer_instead(p, status, detail);
    tell_over(p);
    exchange_unref(x);
}

/* --- time --- */

/* The upstream's time begins when it has the whole request, and goes on when another gets it. */
static void wait_for_answer(struct proxy *p)
{
    uint64_t ms = p->t.time_limit_ms ? p->t.time_limit_ms
                                     : (uint64_t)p->x->loop->server->limits.body_timeout_ms * SILENCE_FACTOR;
    if (!p->c || !p->connected || !p->body_sent || p->answer.head_done)
        return;
    uint64_t now = uv_now(&p->x->loop->uv);
    if (!p->answer_by)
        p->answer_by = now + ms;
    ms = p->answer_by > now ? p->answer_by - now : 1;
    conn_deadline(p->c, (unsigned)(ms > UINT32_MAX ? UINT32_MAX : ms));
}

/* The next piece of an answer that has begun. */
static void wait_for_more(struct proxy *p)
{
    if (p->c && p->t.time_limit_ms && p->answer.head_told && !p->tunnel && !p->events)
        conn_deadline(p->c, p->c->reading ? p->t.time_limit_ms : 0);
}

/* --- client to upstream --- */

static void hold_client(struct proxy *p)
{
    if (p->c && conn_pending(p->c) > waiting_max())
        request_pause(&p->x->pub);
}

static void tell_passing(struct proxy *p, bool from_client, struct str piece)
{
    if (p->t.passing)
        p->t.passing(p->t.ctx, from_client, piece);
}

static void send_piece(struct proxy *p, struct str piece)
{
    bool chunked = p->x->pub.content_length < 0 && !p->tunnel;
    bool corked = chunked && conn_cork(p->c);
    if (chunked) {
        char size[24];
        int n = snprintf(size, sizeof size, "%zx\r\n", piece.n);
        conn_write(p->c, size, (size_t)n);
    }
    conn_write(p->c, piece.p, piece.n);
    if (chunked)
        conn_write(p->c, "\r\n", 2);
    if (corked)
        conn_uncork(p->c);
}

static void body_data(struct request *r, struct str piece)
{
    struct proxy *p = proxy_of(r);
    if (!p->c)
        return; /* the upstream has answered and left */
    if (p->tunnel) {
        tell_passing(p, true, piece);
    } else {
        p->body_bytes += (int64_t)piece.n;
        if (p->t.body_limit && p->body_bytes > p->t.body_limit) {
            proxy_fail(p, PROXY_FINE, 413, "the request body is too large");
            return;
        }
        proxy_keep(p, piece);
    }
    send_piece(p, piece);
    hold_client(p);
}

static void finish_body(struct proxy *p)
{
    if (p->x->pub.content_length < 0)
        conn_write(p->c, "0\r\n\r\n", 5);
    p->body_sent = true;
    wait_for_answer(p);
}

static void end_tunnel(struct proxy *p)
{
    struct exchange *x = p->x;
    struct conn *c = p->c;
    p->c = NULL;
    conn_linger(c);
    if (x->proto)
        x->ops->end(x);
}

static void body_end(struct request *r, bool complete)
{
    struct proxy *p = proxy_of(r);
    if (!p || !p->c)
        return;
    if (p->tunnel) {
        end_tunnel(p);
    } else if (!complete) {
        proxy_drop_upstream(p);
    } else {
        p->body_in = true;
        finish_body(p);
    }
}

static const struct body_sink sink = {body_data, body_end};

static void up_flushed(struct conn *c)
{
    struct proxy *p = c->proto;
    struct exchange *x = p->x;
    if (!atomic_load(&x->paused))
        return;
    atomic_store(&x->paused, false);
    if (x->proto)
        x->ops->resume(x);
}

/* --- upstream to client --- */

static void tunnel_opened(struct exchange *x)
{
    x->body_done = x->body_told = false;
    exchange_set_sink(x, &sink);
}

static bool is_event_stream(const struct header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_ieq(headers[i].name, STR("content-type")))
            return str_starts(headers[i].value, "text/event-stream");
    return false;
}

static void forward_head(struct proxy *p)
{
    struct exchange *x = p->x;
    struct proxy_answer *in = &p->answer;
    buf_release(&p->head);
    proxy_keep_no_more(p);
    p->c->deadline = 0;
    if (in->status == 101)
        p->tunnel = true;
    p->end.status = in->status;
    p->end.took_us = since_start(x);
    size_t n;
    struct header *headers = proxy_answer_headers(in, &x->arena, x->connect, &p->t, &n);
    p->events = is_event_stream(headers, n);
    if (p->t.answering)
        n = p->t.answering(p->t.ctx, in->status, in->length, headers, n);
    struct answer a = {.kind = p->tunnel ? ANSWER_TUNNEL : ANSWER_STREAM,
                       .status = p->tunnel && x->connect ? 200 : in->status,
                       .headers = headers,
                       .n = n,
                       .fd = -1,
                       .length = in->length,
                       .output = &proxy_output,
                       .output_ctx = p,
                       .opened = p->tunnel ? tunnel_opened : NULL};
    x->output = NULL;
    exchange_answer(x, a, true);
}

/* The answer is whole: the connection may serve another, then the client's side ends. */
static void answer_done(struct proxy *p, bool keep)
{
    struct exchange *x = p->x;
    struct conn *c = p->c;
    p->c = NULL;
    if (keep && p->key && p->body_sent && !conn_pending(c)) {
        upstream_give(x->loop->upstreams, p->key, c);
    } else {
        conn_close(c);
    }
    if (x->proto)
        x->ops->end(x);
}

static bool on_piece(void *ctx, struct str piece)
{
    struct proxy *p = ctx;
    if (p->x->proto && p->c)
        p->x->ops->write(p->x, piece);
    return p->x->proto && p->x->ops->pending(p->x) <= waiting_max();
}

static void on_answer_event(struct proxy *p, enum proxy_event e)
{
    switch (e) {
    case PROXY_MORE:
    case PROXY_HEAD:
        break;
    case PROXY_PAUSED:
        if (p->c && p->x->proto && p->x->ops->pending(p->x))
            conn_read_stop(p->c);
        break;
    case PROXY_DONE:
        answer_done(p, p->answer.keep_alive);
        break;
    case PROXY_BAD:
        proxy_fail(p, PROXY_GARBAGE, 502, "the upstream's answer is not valid HTTP");
        break;
    }
}

static size_t feed(struct proxy *p, const char *data, size_t n)
{
    struct conn *c = p->c;
    size_t used = 0;
    p->feeding = true;
    while (p->c == c && !p->tunnel && c->reading) {
        size_t step;
        enum proxy_event e = proxy_answer_feed(&p->answer, data + used, n - used, &step);
        used += step;
        if (e == PROXY_DONE && used < n)
            p->answer.keep_alive = false; /* it said more than it was asked */
        if (e == PROXY_HEAD)
            forward_head(p);
        on_answer_event(p, e);
        if (e == PROXY_MORE || e == PROXY_DONE || e == PROXY_BAD)
            break;
    }
    p->feeding = false;
    if (p->c == c)
        wait_for_more(p);
    return p->c == c ? used : n;
}

static void upstream_ended(struct proxy *p);

static void client_flushed(struct exchange *x)
{
    struct proxy *p = x->output_ctx;
    struct conn *c = p->c;
    if (!c || !p->connected)
        return;
    conn_read_start(c);
    wait_for_more(p);
    if (p->feeding)
        return;
    x->refs++;
    if (c->in.n)
        conn_kick(c);
    else if (p->answer.head_told && !p->tunnel)
        feed(p, "", 0); /* the parser may have stopped between the last byte and the end */
    if (p->c == c && p->answer.eof && !c->in.n)
        upstream_ended(p);
    exchange_unref(x);
}

static size_t up_data(struct conn *c, const char *data, size_t n)
{
    struct proxy *p = c->proto;
    struct exchange *x = p->x;
    size_t used = 0;
    x->refs++;
    /* What comes is written to the client: head and body in one piece. */
    struct conn *client = x->proto ? x->ops->carrier(x) : NULL;
    conn_uncork(c);
    bool corked = client && conn_cork(client);
    if (!p->tunnel)
        used = feed(p, data, n);
    if (p->c == c && p->tunnel && used < n) {
        tell_passing(p, false, (struct str){data + used, n - used});
        x->ops->write(x, (struct str){data + used, n - used});
        used = n;
        if (x->proto && x->ops->pending(x) > waiting_max())
            conn_read_stop(c);
    }
    if (corked)
        conn_uncork(client);
    exchange_unref(x);
    return used;
}

static void upstream_ended(struct proxy *p)
{
    struct exchange *x = p->x;
    x->refs++;
    if (p->tunnel) {
        proxy_drop_upstream(p);
        if (x->proto)
            x->ops->end(x);
    } else if (p->answer.head_done && proxy_answer_eof(&p->answer)) {
        answer_done(p, false);
    } else {
        proxy_failed(p, PROXY_BROKEN, 502,
                     "the upstream closed the connection before its answer was complete");
    }
    exchange_unref(x);
}

static void up_eof(struct conn *c)
{
    struct proxy *p = c->proto;
    if (c->in.n) { /* what is left goes first, when the client takes it */
        p->answer.eof = true;
        return;
    }
    upstream_ended(p);
}

static void up_closed(struct conn *c)
{
    struct proxy *p = c->proto;
    upstream_ended(p);
    c->proto = NULL;
}

static void up_timeout(struct conn *c)
{
    struct proxy *p = c->proto;
    if (p->connected)
        proxy_fail(p, PROXY_SILENT, 504, "the upstream does not answer");
    else if (!proxy_connect_next(p))
        proxy_failed(p, PROXY_UNREACHABLE, 504, "the upstream cannot be reached in time");
}

/* What of the body came for an upstream that failed, or the first of it. */
static void start_body(struct proxy *p)
{
    struct exchange *x = p->x;
    if (!p->taking) {
        p->taking = true;
        exchange_set_sink(x, &sink);
        return;
    }
    if (p->kept.n)
        send_piece(p, buf_view(&p->kept));
    if (p->body_in)
        finish_body(p);
    else
        request_resume(&x->pub);
}

void proxy_connected(struct proxy *p, struct conn *c)
{
    p->connected = true;
    c->deadline = 0;
    conn_read_start(c);
    if (p->x->pub.content_length == 0)
        p->body_sent = true;
    else if (p->x->proto)
        start_body(p);
    if (p->c == c)
        wait_for_answer(p);
}

static void up_connected(struct conn *c, int error)
{
    struct proxy *p = c->proto;
    struct exchange *x = p->x;
    x->refs++;
    if (!error)
        proxy_connected(p, c);
    else if (!proxy_connect_next(p))
        proxy_failed(p, PROXY_UNREACHABLE, 502, "the upstream cannot be reached");
    exchange_unref(x);
}

const struct conn_events proxy_up_events = {
    .data = up_data,
    .eof = up_eof,
    .flushed = up_flushed,
    .closed = up_closed,
    .timeout = up_timeout,
    .connected = up_connected,
};

static void proxy_drain(struct exchange *x)
{
    struct proxy *p = x->output_ctx;
    if (p->tunnel)
        x->ops->abort(x);
}

static const struct exchange_output proxy_output = {
    .flushed = client_flushed, .gone = proxy_gone, .drain = proxy_drain};

/* On the loop's thread. */
static void begin(struct exchange *x)
{
    struct proxy *p = x->later_ctx;
    if (!x->proto || x->answered_for) {
        p->end.cut = true;
        tell_over(p);
        exchange_unref(x);
        return;
    }
    p->counted = true;
    atomic_fetch_add_explicit(&active, 1, memory_order_relaxed);
    x->output = &proxy_output;
    x->output_ctx = p;
    x->heard = true;
    buf_reserve(&p->head, HEAD_USUAL);
    proxy_request_head(&p->head, x, &p->t);
    proxy_answer_init(&p->answer, str_is(x->pub.method, "HEAD"), proxy_wants_upgrade(x), on_piece, p);
    x->refs++;
    proxy_connect(p, true);
    exchange_unref(x);
}

void respond_proxy(struct request *r, const struct proxy_target *t)
{
    struct exchange *x = exchange_of(r);
    struct arena *a = &x->arena;
    struct proxy *p = arena_new(a, struct proxy);
    p->x = x;
    p->t = *t;
    p->keeping = t->keep_body > 0;
    p->t.host = arena_strdup(a, t->host);
    p->t.unix_path = arena_strdup(a, t->unix_path);
    p->t.path = arena_strdup(a, t->path);
    p->t.host_header = arena_strdup(a, t->host_header);
    p->t.strip_cookie = arena_strdup(a, t->strip_cookie);
    p->t.key = NULL;
    p->t.forwarded_prefix = arena_strdup(a, t->forwarded_prefix);
    if (t->host)
        snprintf(p->port, sizeof p->port, "%u", t->port);
    if (t->connect)
        p->key = arena_strdup(a, t->key);
    else
        p->key = t->unix_path ? arena_printf(a, "unix:%s", t->unix_path)
                              : arena_printf(a, "%s:%u", t->host, t->port);
    x->later = begin;
    x->later_ctx = p;
    if (loop_current() == x->loop)
        begin(x);
    else
        exchange_post(x, POST_LATER);
}

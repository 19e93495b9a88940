/* Forwards an exchange to an upstream HTTP/1.1 server and its answer back. Everything runs on the exchange's
 * loop; either side that is slow holds the other back. */
#include "net/conn.h"
#include "net/proxy_answer.h"
#include "net/proxy_head.h"
#include "net/server.h"
#include "net/upstream.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/un.h>

#define WAITING_MAX    (256 * 1024) /* bytes under way in one direction before the other side must wait */
#define HEAD_USUAL     1024
#define CONNECT_MS     10000
#define ADDRESSES_MAX  8  /* of one name, tried in turn */
#define SILENCE_FACTOR 10 /* times the body time-out: how long an upstream may think */

struct address {
    struct sockaddr_storage to;
    socklen_t n;
};

struct proxy {
    struct exchange *x;
    struct proxy_target t; /* copied */
    char *key;             /* of the pool; NULL: not kept */
    struct conn *c;
    struct proxy_answer answer;
    struct buf head; /* of the request, until the answer begins */
    uv_getaddrinfo_t resolving;
    char port[8];
    struct address *addresses; /* of the name, in order; those before `tried` cannot be reached */
    size_t address_count, tried;
    bool reused, retried; /* the connection was idle before; a second attempt */
    bool connected, body_sent, tunnel, feeding;
};

static const struct conn_events up_events;
static const struct exchange_output proxy_output;
static void start_connecting(struct proxy *p, bool may_reuse);
static bool connect_next(struct proxy *p);

static struct proxy *proxy_of(struct request *r)
{
    return exchange_of(r)->output_ctx;
}

/* --- ends --- */

static void drop_upstream(struct proxy *p)
{
    if (p->c)
        conn_close(p->c);
    p->c = NULL;
}

static void release(struct proxy *p)
{
    drop_upstream(p);
    buf_release(&p->head);
    proxy_answer_release(&p->answer);
}

static void proxy_gone(struct exchange *x, bool complete)
{
    (void)complete;
    release(x->output_ctx);
    exchange_unref(x);
}

/* Before the upstream's answer began: an answer of our own. After: the client must see that it is cut. */
static void fail(struct proxy *p, int status, const char *detail)
{
    struct exchange *x = p->x;
    drop_upstream(p);
    if (!x->proto || x->answered_for)
        return; /* proxy_gone comes or came */
    if (x->answered) {
        x->ops->abort(x);
        return;
    }
    release(p);
    x->output = NULL;
    auto_buf struct buf text = {0};
    http_problem(&text, status, detail);
    respond(&x->pub, status, &http_problem_type, 1, buf_view(&text));
}

/* The owner of the upstream may have more to say than that it is not there. */
static void no_upstream(struct proxy *p)
{
    struct exchange *x = p->x;
    if (!p->t.unreachable || !x->proto || x->answered_for || x->answered) {
        fail(p, 502, "the upstream cannot be reached");
        return;
    }
    release(p);
    x->output = NULL;
    p->t.unreachable(&x->pub, p->t.ctx);
}

static void wait_for_answer(struct proxy *p)
{
    uint64_t ms = (uint64_t)p->x->loop->server->limits.body_timeout_ms * SILENCE_FACTOR;
    if (p->c && p->connected && p->body_sent && !p->answer.head_done)
        conn_deadline(p->c, (unsigned)(ms > UINT32_MAX ? UINT32_MAX : ms));
}

/* --- client to upstream --- */

static void hold_client(struct proxy *p)
{
    if (p->c && conn_pending(p->c) > WAITING_MAX)
        request_pause(&p->x->pub);
}

static void tell_passing(struct proxy *p, bool from_client, struct str piece)
{
    if (p->t.passing)
        p->t.passing(p->t.ctx, from_client, piece);
}

static void body_data(struct request *r, struct str piece)
{
    struct proxy *p = proxy_of(r);
    if (!p->c)
        return; /* the upstream has answered and left */
    if (p->tunnel)
        tell_passing(p, true, piece);
    bool chunked = r->content_length < 0 && !p->tunnel;
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
    hold_client(p);
}

static void body_end(struct request *r, bool complete)
{
    struct proxy *p = proxy_of(r);
    if (!p || !p->c)
        return;
    if (p->tunnel) {
        struct exchange *x = p->x;
        struct conn *c = p->c;
        p->c = NULL;
        conn_linger(c);
        if (x->proto)
            x->ops->end(x);
        return;
    }
    if (!complete) {
        drop_upstream(p);
        return;
    }
    if (r->content_length < 0)
        conn_write(p->c, "0\r\n\r\n", 5);
    p->body_sent = true;
    wait_for_answer(p);
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

static void forward_head(struct proxy *p)
{
    struct exchange *x = p->x;
    struct proxy_answer *in = &p->answer;
    buf_release(&p->head);
    p->c->deadline = 0;
    if (in->status == 101)
        p->tunnel = true;
    size_t n;
    const struct header *headers = proxy_answer_headers(in, &x->arena, x->connect, &p->t, &n);
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
    return p->x->proto && p->x->ops->pending(p->x) <= WAITING_MAX;
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
        fail(p, 502, "the upstream's answer is not valid HTTP");
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
        if (x->proto && x->ops->pending(x) > WAITING_MAX)
            conn_read_stop(c);
    }
    if (corked)
        conn_uncork(client);
    exchange_unref(x);
    return used;
}

/* A pooled connection that died before it answered says nothing about the upstream: once more, when asking
 * twice does no harm. */
static bool try_again(struct proxy *p)
{
    const struct request *r = &p->x->pub;
    bool harmless = str_is(r->method, "GET") || str_is(r->method, "HEAD") || str_is(r->method, "OPTIONS") ||
                    str_is(r->method, "PUT") || str_is(r->method, "DELETE");
    if (!p->reused || p->retried || p->answer.started || r->content_length != 0 || !harmless)
        return false;
    p->retried = true;
    drop_upstream(p);
    start_connecting(p, false);
    return true;
}

static void upstream_ended(struct proxy *p)
{
    struct exchange *x = p->x;
    x->refs++;
    if (p->tunnel) {
        drop_upstream(p);
        if (x->proto)
            x->ops->end(x);
    } else if (p->answer.head_done && proxy_answer_eof(&p->answer)) {
        answer_done(p, false);
    } else if (!try_again(p)) {
        fail(p, 502, "the upstream closed the connection before its answer was complete");
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
    if (!p->connected && connect_next(p))
        return;
    fail(p, 504, p->connected ? "the upstream does not answer" : "the upstream cannot be reached in time");
}

static void up_connected(struct conn *c, int error)
{
    struct proxy *p = c->proto;
    if (error) {
        if (!connect_next(p))
            fail(p, 502, "the upstream cannot be reached");
        return;
    }
    p->connected = true;
    c->deadline = 0;
    conn_read_start(c);
    if (p->x->pub.content_length == 0)
        p->body_sent = true;
    else if (p->x->proto && !p->x->sink.end)
        exchange_set_sink(p->x, &sink);
    if (p->c == c)
        wait_for_answer(p);
}

static const struct conn_events up_events = {
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

/* --- connecting --- */

static void use_socket(struct proxy *p, int fd)
{
    p->c = conn_new(p->x->loop, fd, NULL, &up_events, p);
    conn_write_later(p->c, buf_view(&p->head));
    conn_deadline(p->c, CONNECT_MS);
    conn_watch_connect(p->c);
}

static bool connect_to(struct proxy *p, const struct sockaddr *to, socklen_t n)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd >= 0 && to->sa_family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (fd < 0 || (connect(fd, to, n) != 0 && errno != EINPROGRESS)) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    use_socket(p, fd);
    return true;
}

static void connect_only(struct proxy *p, const struct sockaddr *to, socklen_t n)
{
    if (!connect_to(p, to, n))
        fail(p, 502, "the upstream cannot be reached");
}

/* A name may have several addresses ("localhost" often has ::1 before 127.0.0.1) of which not all are served.
 * False when there is none left. */
static bool connect_next(struct proxy *p)
{
    drop_upstream(p);
    while (p->tried < p->address_count) {
        const struct address *a = &p->addresses[p->tried++];
        if (connect_to(p, (const struct sockaddr *)&a->to, a->n))
            return true;
    }
    return false;
}

static void connect_unix(struct proxy *p)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(p->t.unix_path);
    if (n >= sizeof to.sun_path) {
        fail(p, 502, "the upstream's socket path is too long");
        return;
    }
    memcpy(to.sun_path, p->t.unix_path, n);
    connect_only(p, (const struct sockaddr *)&to, sizeof to);
}

static void keep_addresses(struct proxy *p, const struct addrinfo *found)
{
    p->addresses = arena_array(&p->x->arena, struct address, ADDRESSES_MAX);
    p->address_count = p->tried = 0;
    for (; found && p->address_count < ADDRESSES_MAX; found = found->ai_next) {
        struct address *a = &p->addresses[p->address_count++];
        memcpy(&a->to, found->ai_addr, found->ai_addrlen);
        a->n = found->ai_addrlen;
    }
}

static void on_resolved(uv_getaddrinfo_t *q, int status, struct addrinfo *found)
{
    struct proxy *p = q->data;
    struct exchange *x = p->x;
    if (x->proto && !x->answered_for) {
        keep_addresses(p, status == 0 ? found : NULL);
        if (!connect_next(p))
            fail(p, 502,
                 status == 0 ? "the upstream cannot be reached" : "the upstream's name cannot be resolved");
    }
    uv_freeaddrinfo(found);
    exchange_unref(x);
}

static void resolve(struct proxy *p)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (uv_ip4_addr(p->t.host, p->t.port, &v4) == 0) {
        connect_only(p, (const struct sockaddr *)&v4, sizeof v4);
        return;
    }
    if (uv_ip6_addr(p->t.host, p->t.port, &v6) == 0) {
        connect_only(p, (const struct sockaddr *)&v6, sizeof v6);
        return;
    }
    static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    p->resolving.data = p;
    p->x->refs++;
    if (uv_getaddrinfo(&p->x->loop->uv, &p->resolving, on_resolved, p->t.host, p->port, &hints) == 0)
        return;
    fail(p, 502, "the upstream's name cannot be resolved");
    exchange_unref(p->x);
}

static bool reuse_idle(struct proxy *p)
{
    struct conn *c = p->key ? upstream_take(p->x->loop->upstreams, p->key) : NULL;
    if (!c)
        return false;
    p->c = c;
    p->reused = true;
    c->ev = &up_events;
    c->proto = p;
    conn_write(c, p->head.p, p->head.n);
    up_connected(c, 0);
    return true;
}

static void start_connecting(struct proxy *p, bool may_reuse)
{
    p->connected = false;
    if (may_reuse && reuse_idle(p))
        return;
    p->reused = false;
    if (p->t.connect) {
        int fd = p->t.connect(p->t.ctx);
        if (fd < 0)
            no_upstream(p);
        else
            use_socket(p, fd);
    } else if (p->t.unix_path) {
        connect_unix(p);
    } else {
        resolve(p);
    }
}

/* On the loop's thread. */
static void begin(struct exchange *x)
{
    struct proxy *p = x->later_ctx;
    if (!x->proto || x->answered_for) {
        exchange_unref(x);
        return;
    }
    x->output = &proxy_output;
    x->output_ctx = p;
    x->heard = true;
    buf_reserve(&p->head, HEAD_USUAL);
    proxy_request_head(&p->head, x, &p->t);
    proxy_answer_init(&p->answer, str_is(x->pub.method, "HEAD"), proxy_wants_upgrade(x), on_piece, p);
    x->refs++;
    start_connecting(p, true);
    exchange_unref(x);
}

void respond_proxy(struct request *r, const struct proxy_target *t)
{
    struct exchange *x = exchange_of(r);
    struct arena *a = &x->arena;
    struct proxy *p = arena_new(a, struct proxy);
    p->x = x;
    p->t = *t;
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

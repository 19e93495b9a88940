#include "net/http1.h"

#include "net/accesslog.h"
#include "net/date.h"
#include "net/exchange.h"
#include "net/http1_parse.h"
#include "net/http2.h"
#include "net/server.h"

#include <stdio.h>

#define DRAIN_MAX    (64 * 1024) /* of a body the handler did not want that is read to keep the connection */
#define LAST_CALL_MS 1000        /* for a request that is on its way when the server stops */

enum state {
    HEAD,   /* reading a header */
    BODY,   /* reading a body, for the exchange or to drop it */
    ANSWER, /* the message is complete; its answer is not sent yet */
    TUNNEL, /* bytes both ways */
};

struct http1 {
    struct http1_parser parser;
    struct conn *c;
    struct exchange *x; /* NULL: none in progress */
    enum state state;
    bool sniffed;   /* it is not HTTP/2 */
    bool parsing;   /* inside the parser */
    bool keep;      /* the connection serves another request after this */
    bool chunked;   /* the answer is */
    bool whole;     /* the answer is completely written */
    bool continued; /* 100 was sent, or is not asked for */
    bool stopping;
    bool spoilt; /* what comes is dropped */
};

static const struct exchange_ops ops;

static const struct http_limits *limits_of(const struct http1 *h)
{
    return &h->c->loop->server->limits;
}

/* The memory stays as long as the connection's: callers further up may still look at it. */
static void h1_free(struct http1 *h)
{
    h->c->proto = NULL;
    h->c->remains = h;
}

static void close_idle(struct http1 *h)
{
    struct conn *c = h->c;
    h1_free(h);
    conn_close(c);
}

/* Nothing but the output matters any more. */
static void leave(struct http1 *h)
{
    struct conn *c = h->c;
    h1_free(h);
    conn_linger(c);
}

/* --- the answer's header --- */

static bool is_clean(struct str value)
{
    return !value.n || (!memchr(value.p, '\n', value.n) && !memchr(value.p, '\r', value.n));
}

/* A line break in a value would let its author write headers of his own. */
static void put_cleaned(struct buf *b, struct str value)
{
    size_t from = b->n;
    buf_str(b, value);
    for (size_t i = from; i < b->n; i++)
        if ((unsigned char)b->p[i] < ' ' || b->p[i] == 0x7f)
            b->p[i] = ' ';
}

static void put_headers(struct buf *b, const struct answer *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct header *f = &a->headers[i];
        buf_str(b, f->name);
        buf_add(b, ": ", 2);
        if (is_clean(f->value))
            buf_str(b, f->value);
        else
            put_cleaned(b, f->value);
        buf_add(b, "\r\n", 2);
    }
}

static int64_t body_length(const struct answer *a)
{
    return a->kind == ANSWER_MEMORY ? (int64_t)a->body.n : a->length;
}

static void put_status(struct buf *b, struct http1 *h, int status)
{
    if (status == 200) {
        buf_add(b, "HTTP/1.1 200 OK\r\nDate: ", 23);
    } else {
        char line[64];
        int n = snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\nDate: ", status, http_reason(status));
        buf_add(b, line, (size_t)n);
    }
    buf_z(b, date_http(h->c->loop));
    buf_add(b, "\r\n", 2);
}

static void put_framing(struct buf *b, struct http1 *h, const struct answer *a)
{
    int64_t length = body_length(a);
    h->chunked = false;
    if (a->kind == ANSWER_TUNNEL)
        return;
    if (length >= 0 && (http_answer_has_body(a->status) || (a->status == 304 && length > 0))) {
        char line[48];
        int n = snprintf(line, sizeof line, "Content-Length: %lld\r\n", (long long)length);
        buf_add(b, line, (size_t)n);
    } else if (length < 0 && http_answer_has_body(a->status)) {
        h->chunked = h->x->pub.version == 11;
        if (h->chunked)
            buf_z(b, "Transfer-Encoding: chunked\r\n");
        else
            h->keep = false;
    }
    if (!h->keep)
        buf_z(b, "Connection: close\r\n");
    else if (h->x->pub.version == 10)
        buf_z(b, "Connection: keep-alive\r\n");
}

/* May the connection go on after an answer that comes before the body's end? */
static bool can_keep(const struct http1 *h)
{
    if (!h->parser.keep_alive || h->stopping || h->c->loop->stopping)
        return false;
    if (h->x->body_done)
        return true;
    int64_t left = http1_parser_left(&h->parser);
    return h->continued && left >= 0 && left <= DRAIN_MAX;
}

static void try_finish(struct http1 *h);

static void send_body(struct http1 *h)
{
    struct exchange *x = h->x;
    const struct answer *a = &x->answer;
    bool head = str_is(x->pub.method, "HEAD") || !http_answer_has_body(a->status);
    h->whole = a->kind == ANSWER_MEMORY || a->kind == ANSWER_FILE || (head && a->kind == ANSWER_STREAM);
    if (head)
        return;
    if (a->kind == ANSWER_FILE) {
        x->sent = (uint64_t)a->length;
        conn_write_file(h->c, a->fd, a->offset, (uint64_t)a->length);
    } else if (a->kind == ANSWER_MEMORY) {
        x->sent = a->body.n;
        if (a->transient)
            conn_write(h->c, a->body.p, a->body.n);
        else
            conn_write_ref(h->c, a->body);
    }
}

static void h1_answer(struct exchange *x)
{
    struct http1 *h = x->proto;
    struct conn *c = h->c;
    const struct answer *a = &x->answer;
    bool corked = conn_cork(c);
    h->keep = can_keep(h);
    auto_buf struct buf own = {0};
    struct buf *b = c->loop->corked == c && !conn_pending(c) ? &c->loop->cork : &own;
    put_status(b, h, a->status);
    put_headers(b, a);
    put_framing(b, h, a);
    buf_add(b, "\r\n", 2);
    if (b == &own)
        conn_write(c, own.p, own.n);
    if (a->kind == ANSWER_TUNNEL) {
        h->state = TUNNEL;
        c->deadline = 0;
    }
    send_body(h);
    if (corked)
        conn_uncork(c);
    if (h->state == BODY) /* paused or not: what is left of the body passes by */
        conn_read_start(c);
    if (a->kind == ANSWER_STREAM && (c->eof || c->hung))
        conn_fail(c); /* see h1_eof: it left before the stream began */
    try_finish(h);
}

/* --- the exchange's end --- */

static void begin_next(struct http1 *h)
{
    h->state = HEAD;
    h->parser.started = false;
    conn_deadline(h->c, h->c->loop->stopping ? LAST_CALL_MS : limits_of(h)->idle_timeout_ms);
    if (h->c->eof && !h->c->in.n) {
        leave(h);
        return;
    }
    conn_read_start(h->c);
    if (h->c->in.n || h->c->delivering)
        conn_kick(h->c);
}

/* A client that was told that its connection stays may be sending its next request. When another program
 * takes over, that one is still answered, with the word that the connection ends. */
static bool stays(const struct http1 *h)
{
    const struct loop *l = h->c->loop;
    return h->keep && !h->c->failed && (!l->stopping || l->server->handed);
}

/* When the answer is written and sent, lets go of the exchange and looks what is next. */
static void try_finish(struct http1 *h)
{
    struct exchange *x = h->x;
    if (!x || !h->whole || h->parsing || conn_pending(h->c))
        return;
    bool more_body = !x->body_done;
    h->x = NULL;
    h->whole = false;
    exchange_finish(x, true);
    if (!stays(h)) {
        leave(h);
        return;
    }
    if (more_body) {
        h->state = BODY;
        conn_deadline(h->c, limits_of(h)->body_timeout_ms);
        conn_read_start(h->c);
        conn_kick(h->c);
        return;
    }
    begin_next(h);
}

/* --- streamed answers --- */

static void h1_write(struct exchange *x, struct str piece)
{
    struct http1 *h = x->proto;
    if (h->whole || !piece.n)
        return;
    x->sent += piece.n;
    bool corked = h->chunked && conn_cork(h->c);
    if (h->chunked) {
        char size[24];
        int n = snprintf(size, sizeof size, "%zx\r\n", piece.n);
        conn_write(h->c, size, (size_t)n);
    }
    conn_write(h->c, piece.p, piece.n);
    if (h->chunked)
        conn_write(h->c, "\r\n", 2);
    if (corked)
        conn_uncork(h->c);
}

static void h1_end(struct exchange *x)
{
    struct http1 *h = x->proto;
    if (h->whole)
        return;
    if (h->chunked)
        conn_write(h->c, "0\r\n\r\n", 5);
    if (x->answer.kind == ANSWER_TUNNEL) {
        h->keep = false;
        x->body_done = true;
    }
    h->whole = true;
    try_finish(h);
}

static void send_continue(struct http1 *h)
{
    if (h->continued)
        return;
    h->continued = true;
    conn_write(h->c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
}

static size_t parse(struct http1 *h, const char *p, size_t n);
static bool ready_for_input(struct http1 *h);

static void h1_resume(struct exchange *x)
{
    struct http1 *h = x->proto;
    struct conn *c = h->c;
    if (h->state == BODY && !x->answered) {
        send_continue(h);
        conn_deadline(c, limits_of(h)->body_timeout_ms);
    }
    conn_read_start(c);
    /* The parser may have stopped between the last byte and the end of the message. */
    if (h->state == BODY && !h->parsing && !c->delivering && ready_for_input(h))
        parse(h, "", 0);
    if (c->proto == h)
        conn_kick(c);
}

static void h1_abort(struct exchange *x)
{
    conn_fail(((struct http1 *)x->proto)->c);
}

static void h1_relieve(struct exchange *x)
{
    struct conn *c = ((struct http1 *)x->proto)->c;
    if (conn_over_share(c))
        conn_fail(c);
}

static uint64_t h1_pending(const struct exchange *x)
{
    return conn_pending(((const struct http1 *)x->proto)->c);
}

static struct conn *h1_carrier(const struct exchange *x)
{
    return ((const struct http1 *)x->proto)->c;
}

static const struct exchange_ops ops = {
    .answer = h1_answer,
    .write = h1_write,
    .end = h1_end,
    .resume = h1_resume,
    .abort = h1_abort,
    .relieve = h1_relieve,
    .pending = h1_pending,
    .carrier = h1_carrier,
};

/* --- input --- */

/* The body's framing is broken while the handler has the request. */
static void refuse_body(struct http1 *h)
{
    struct exchange *x = h->x;
    h->parser.keep_alive = false;
    h->spoilt = true;
    if (!x->answered) {
        x->broken = true;
        exchange_refuse(x, h->parser.status, h->parser.detail);
        return;
    }
    /* An answer on its way still goes out. */
    h->keep = false;
    exchange_body_end(x, false);
}

/* A request that cannot be read: answer, and no more from this connection. */
static void refuse(struct http1 *h)
{
    struct exchange *x = h->x;
    if (!x) {
        leave(h);
        return;
    }
    if (h->state == BODY) {
        refuse_body(h);
        return;
    }
    h->parser.keep_alive = false;
    h->state = ANSWER;
    if (!x->pub.version)
        x->pub.version = 11;
    x->refs--; /* no handler has it */
    const struct http1_parser *p = &h->parser;
    if (p->status == 431)
        exchange_refuse_large(x, p->detail, p->target, str_is(p->name, "cookie") ? p->value : STR_NULL);
    else
        exchange_refuse(x, p->status, p->detail);
}

static void answer_asterisk(struct exchange *x)
{
    static const struct header allow = {{"Allow", 5}, {"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", 44}};
    respond_static(&x->pub, 204, &allow, 1, STR(""));
}

static void head_complete(struct http1 *h, bool message_too)
{
    struct exchange *x = h->x;
    h->state = message_too ? ANSWER : BODY;
    x->body_done = message_too;
    x->upgradable = h->parser.upgrade;
    h->continued = !h->parser.expect_continue || message_too || x->pub.version == 10;
    h->c->deadline = 0;
    if (h->parser.asterisk)
        answer_asterisk(x);
    else
        exchange_begin(x);
}

/* After a whole answer the handler does not want the body; a streamed one (the proxy's) may come before the
 * body's end. */
static bool body_unwanted(const struct http1 *h)
{
    return !h->x || (h->x->answered && (h->whole || h->x->answer.kind != ANSWER_STREAM));
}

static bool on_body(void *ctx, struct str piece)
{
    struct http1 *h = ctx;
    h->continued = true;
    if (!piece.n || body_unwanted(h))
        return true;
    exchange_body(h->x, piece);
    return body_unwanted(h) || exchange_wants_body(h->x);
}

static void body_complete(struct http1 *h)
{
    if (!h->x) {
        begin_next(h);
        return;
    }
    h->state = ANSWER;
    h->c->deadline = 0;
    exchange_body_end(h->x, true);
}

static void start_request(struct http1 *h)
{
    struct exchange *x = exchange_new(h->c->loop, sizeof *x, &ops, h);
    memcpy(x->pub.peer, h->c->peer, sizeof x->pub.peer);
    x->pub.tls = h->c->ssl != NULL;
    x->pub.tag = h->c->loop->server->tag;
    h->x = x;
    h->whole = h->keep = false;
    http1_parser_begin(&h->parser, &x->pub);
    conn_deadline(h->c, limits_of(h)->header_timeout_ms);
}

/* false: the rest cannot be taken now. */
static bool ready_for_input(struct http1 *h)
{
    switch (h->state) {
    case HEAD:
        return conn_pending(h->c) == 0;
    case BODY:
        return body_unwanted(h) || exchange_wants_body(h->x);
    case TUNNEL:
        return exchange_wants_body(h->x);
    case ANSWER:
    default:
        return false;
    }
}

static size_t parse(struct http1 *h, const char *p, size_t n)
{
    if (h->state == HEAD && !h->parser.started)
        start_request(h);
    struct conn *c = h->c;
    size_t used;
    h->parsing = true;
    enum http1_event e = http1_parser_feed(&h->parser, p, n, &used);
    h->parsing = false;
    if (h->state == BODY && e != HTTP1_DONE)
        conn_deadline(c, limits_of(h)->body_timeout_ms);
    switch (e) {
    case HTTP1_HEAD:
        head_complete(h, false);
        break;
    case HTTP1_DONE:
        if (h->state == HEAD)
            head_complete(h, true);
        else
            body_complete(h);
        break;
    case HTTP1_REFUSED:
        refuse(h);
        return n;
    case HTTP1_MORE:
    case HTTP1_PAUSED:
        break;
    }
    if (c->proto == h && h->x)
        try_finish(h);
    return used;
}

/* 1: HTTP/2, 0: not, -1: too little to say. */
static int is_http2(const char *p, size_t n)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    size_t known = n < sizeof preface - 1 ? n : sizeof preface - 1;
    if (memcmp(p, preface, known) != 0)
        return 0;
    return known == sizeof preface - 1 ? 1 : -1;
}

static size_t h1_data(struct conn *c, const char *p, size_t n)
{
    struct http1 *h = c->proto;
    size_t used = 0;
    if (!h->sniffed) {
        int two = is_http2(p, n);
        if (two < 0)
            return 0;
        if (two > 0) {
            h1_free(h);
            http2_start(c);
            return c->ev->data(c, p, n);
        }
        h->sniffed = true;
    }
    while (used < n && c->proto == h && !c->failed && !c->closing && ready_for_input(h)) {
        if (h->spoilt || (h->state == BODY && h->x && h->x->answered && !h->keep && body_unwanted(h)))
            return n;
        if (h->state == TUNNEL) {
            exchange_body(h->x, (struct str){p + used, n - used});
            return n;
        }
        used += parse(h, p + used, n - used);
    }
    /* After a switch to another owner the rest is its own. */
    if (c->lingering)
        return n;
    if (c->proto == h && (h->state == BODY || h->state == TUNNEL) && !ready_for_input(h))
        conn_read_stop(c);
    return used;
}

/* --- other events --- */

static void lose(struct http1 *h)
{
    struct exchange *x = h->x;
    h->x = NULL;
    bool bare = x && h->state == HEAD; /* no handler has it */
    if (bare) {
        x->refs--;
        x->logged = true;
    }
    if (x)
        exchange_finish(x, false);
    h1_free(h);
}

static void h1_closed(struct conn *c)
{
    lose(c->proto);
}

static bool watched_eagerly(const struct exchange *x)
{
    return x->watch.over && x->watch.eager && !x->answered;
}

static void h1_eof(struct conn *c)
{
    struct http1 *h = c->proto;
    struct exchange *x = h->x;
    h->parser.keep_alive = false;
    if (!x) {
        if (!c->in.n)
            leave(h);
        return;
    }
    if (h->state == TUNNEL) {
        exchange_body_end(x, true);
        return;
    }
    /* A client that ends its side while a stream is sent has left; one that waits for an answer may read it,
     * unless it is watched eagerly. */
    if (h->state == ANSWER && x->answer.kind != ANSWER_STREAM && !watched_eagerly(x))
        return;
    if (h->state == BODY && x->answered && x->answer.kind != ANSWER_STREAM)
        return;
    conn_fail(c);
}

static void h1_hangup(struct conn *c)
{
    struct http1 *h = c->proto;
    struct exchange *x = h->x;
    if (x && ((x->answered && x->answer.kind == ANSWER_STREAM) || watched_eagerly(x)))
        conn_fail(c);
}

static void h1_flushed(struct conn *c)
{
    struct http1 *h = c->proto;
    if (h->x)
        exchange_flushed(h->x);
    if (c->proto != h || c->closing)
        return;
    if (h->x && h->whole)
        try_finish(h);
    else if (!h->x)
        conn_kick(c);
}

static void h1_timeout(struct conn *c)
{
    struct http1 *h = c->proto;
    struct exchange *x = h->x;
    if (!x) {
        close_idle(h);
        return;
    }
    if (h->state == TUNNEL)
        return;
    h->parser.status = 408;
    if (h->state == HEAD) {
        h->parser.detail = "the request header did not come in time";
        refuse(h);
    } else if (h->state == BODY && !x->answered && exchange_wants_body(x)) {
        h->parser.detail = "the request body did not come in time";
        refuse(h);
    }
}

/* A connection that has had no request yet was made to send one, and bytes that wait are one. */
static bool request_may_come(const struct http1 *h)
{
    char byte;
    return !h->sniffed || recv(h->c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static void h1_drain(struct conn *c)
{
    struct http1 *h = c->proto;
    h->stopping = true;
    if (h->x)
        exchange_drain(h->x);
    else if (!c->in.n && !c->loop->server->handed && !request_may_come(h))
        close_idle(h);
    else if (!c->in.n)
        conn_deadline(c, LAST_CALL_MS);
}

const struct conn_events http1_events = {
    .data = h1_data,
    .eof = h1_eof,
    .hangup = h1_hangup,
    .flushed = h1_flushed,
    .closed = h1_closed,
    .timeout = h1_timeout,
    .drain = h1_drain,
};

void http1_start(struct conn *c)
{
    struct http1 *h = base_zalloc(sizeof *h);
    h->c = c;
    http1_parser_init(&h->parser, limits_of(h), on_body, h);
    c->proto = h;
    c->ev = &http1_events;
    conn_deadline(c, limits_of(h)->header_timeout_ms);
    conn_read_start(c);
}

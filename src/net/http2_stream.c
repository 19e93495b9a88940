#include "net/http2_stream.h"

#include "net/date.h"
#include "net/http1_parse.h"

#include <errno.h>
#include <stdio.h>

#define STREAM_COST (8 * 1024) /* of a stream without its bytes: the session's part, ours, a header */

static const struct exchange_ops ops;

static struct http2_stream *stream_of(const struct exchange *x)
{
    return (struct http2_stream *)x;
}

struct http2_stream *http2_stream_new(struct http2 *h, int32_t id)
{
    struct loop *l = h->c->loop;
    struct http2_stream *s = (struct http2_stream *)exchange_new(l, sizeof *s, &ops, h);
    s->h = h;
    s->id = id;
    s->in_moved = s->out_moved = uv_now(&l->uv);
    s->next = h->streams;
    if (s->next)
        s->next->prev = s;
    h->streams = s;
    h->count++;
    h->used = true;
    conn_keep(h->c, STREAM_COST);
    struct request *r = &s->x.pub;
    memcpy(r->peer, h->c->peer, sizeof r->peer);
    r->tls = h->c->ssl != NULL;
    r->tag = h->c->loop->server->tag;
    r->version = 20;
    return s;
}

void http2_stream_close(struct http2_stream *s, bool complete)
{
    struct http2 *h = s->h;
    nghttp2_session_set_stream_user_data(h->session, s->id, NULL);
    if (s->in.n) /* never taken: the connection's window gets it back */
        nghttp2_session_consume_connection(h->session, s->in.n);
    conn_drop(h->c, STREAM_COST + s->in.n + s->out.n);
    buf_release(&s->in);
    buf_release(&s->out);
    *(s->prev ? &s->prev->next : &h->streams) = s->next;
    if (s->next)
        s->next->prev = s->prev;
    h->count--;
    h->idle_since = uv_now(&s->x.loop->uv);
    if (!s->begun) { /* no handler has it */
        s->x.refs--;
        s->x.logged |= !s->x.answered;
    }
    exchange_finish(&s->x, complete);
}

/* --- the request --- */

static void refuse(struct http2_stream *s, int status, const char *detail)
{
    if (s->status)
        return;
    s->status = status;
    s->detail = detail;
}

static void pseudo_field(struct http2_stream *s, struct str name, struct str value)
{
    if (str_is(name, ":method")) {
        s->method = value;
    } else if (str_is(name, ":path")) {
        s->path = value;
    } else if (str_is(name, ":authority")) {
        s->x.pub.host = value;
        s->authorities++;
    } else if (str_is(name, ":protocol")) {
        s->protocol = value;
    }
}

void http2_stream_field(struct http2_stream *s, struct str name, struct str value)
{
    struct request *r = &s->x.pub;
    const struct http_limits *m = &s->x.loop->server->limits;
    s->header_bytes += name.n + value.n + 4;
    if (s->header_bytes > m->max_header && !s->status && str_is(name, "cookie"))
        s->large_cookie = arena_str(&s->x.arena, value);
    if (s->header_bytes > m->max_header)
        refuse(s, 431, "the header is too large");
    if (s->status)
        return;
    name = arena_str(&s->x.arena, name);
    value = arena_str(&s->x.arena, value);
    if (name.p[0] == ':') {
        pseudo_field(s, name, value);
        return;
    }
    if (r->header_count >= m->max_headers)
        refuse(s, 431, "too many headers");
    else if (!http_value_valid(value))
        refuse(s, 400, "a header value has a control character or is not UTF-8");
    if (s->status)
        return;
    if (r->header_count == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 24;
        s->headers =
            arena_grow(&s->x.arena, s->headers, s->cap * sizeof *s->headers, cap * sizeof *s->headers);
        s->cap = cap;
        r->headers = s->headers;
    }
    s->headers[r->header_count++] = (struct header){name, value};
    if (str_is(name, "host")) {
        s->hosts++;
        s->host = value;
    }
}

static void check_host(struct http2_stream *s)
{
    struct request *r = &s->x.pub;
    if (s->hosts > 1)
        refuse(s, 400, "there is more than one Host header");
    else if (s->hosts && s->authorities && !str_ieq(s->host, r->host))
        refuse(s, 400, "Host and :authority differ");
    else if (!s->authorities)
        r->host = s->host;
    if (!http_host_valid(r->host))
        refuse(s, 400, "the authority is not a host name");
}

static void check_header(struct http2_stream *s, bool ended)
{
    struct request *r = &s->x.pub;
    if (str_is(s->method, "CONNECT") && str_is(s->protocol, "websocket")) {
        s->x.connect = true; /* handlers see the GET that HTTP/1.1 would have */
        r->method = STR("GET");
    } else {
        r->method = http_known_method(s->method);
    }
    if (!r->method.p)
        refuse(s, 501, "the method is not implemented");
    if (s->path.n > s->x.loop->server->limits.max_target)
        refuse(s, 414, "the request target is too long");
    const char *wrong = http_split_target(s->path, &r->path, &r->query);
    if (wrong)
        refuse(s, 400, wrong);
    check_host(s);
    struct str length = request_header(r, "content-length");
    r->content_length = ended ? 0 : -1;
    if (!ended && length.p && !s->x.connect && !str_to_i64(length, &r->content_length))
        refuse(s, 400, "Content-Length is not a number");
    if (s->x.connect)
        r->content_length = 0;
}

void http2_stream_begin(struct http2_stream *s, bool ended)
{
    struct exchange *x = &s->x;
    check_header(s, ended);
    s->in_end = ended;
    x->body_done = ended || x->connect;
    if (s->status == 431) {
        exchange_refuse_large(x, s->detail, s->path, s->large_cookie);
        return;
    }
    if (s->status) {
        exchange_refuse(x, s->status, s->detail);
        return;
    }
    s->begun = true;
    exchange_begin(x);
}

/* --- the body --- */

static bool unwanted(const struct http2_stream *s)
{
    return s->x.answered && s->x.answer.kind != ANSWER_STREAM && s->x.answer.kind != ANSWER_TUNNEL;
}

void http2_stream_data(struct http2_stream *s, struct str piece)
{
    struct http2 *h = s->h;
    int32_t id = s->id;
    s->in_moved = uv_now(&s->x.loop->uv);
    if (unwanted(s)) {
        nghttp2_session_consume(h->session, id, piece.n);
    } else if (s->in.n || !exchange_wants_body(&s->x)) {
        conn_keep(h->c, piece.n);
        buf_str(&s->in, piece);
    } else {
        nghttp2_session_consume(h->session, id, piece.n);
        exchange_body(&s->x, piece);
    }
}

void http2_stream_ended(struct http2_stream *s)
{
    s->in_end = true;
    if (!s->in.n && !atomic_load(&s->x.paused))
        exchange_body_end(&s->x, true);
}

static void s_resume(struct exchange *x)
{
    struct http2_stream *s = stream_of(x);
    struct http2 *h = s->h;
    s->in_moved = uv_now(&x->loop->uv);
    x->refs++;
    if (s->in.n && exchange_wants_body(x)) {
        struct buf in = s->in;
        buf_init(&s->in);
        conn_drop(h->c, in.n);
        nghttp2_session_consume(h->session, s->id, in.n);
        exchange_body(x, buf_view(&in));
        buf_release(&in);
    }
    if (x->proto && s->in_end && !s->in.n && exchange_wants_body(x) && !x->body_done)
        exchange_body_end(x, true);
    if (x->proto)
        http2_flush(h);
    exchange_unref(x);
}

/* --- the answer --- */

static ssize_t read_memory(struct http2_stream *s, uint8_t *to, size_t n, uint32_t *flags)
{
    const struct answer *a = &s->x.answer;
    size_t left = a->body.n - s->out_at;
    n = n < left ? n : left;
    memcpy(to, a->body.p + s->out_at, n);
    s->out_at += n;
    if (s->out_at == a->body.n)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static ssize_t read_file(struct http2_stream *s, uint8_t *to, size_t n, uint32_t *flags)
{
    const struct answer *a = &s->x.answer;
    uint64_t left = (uint64_t)a->length - s->out_at;
    n = n < left ? n : (size_t)left;
    ssize_t got;
    do
        got = pread(a->fd, to, n, (off_t)(a->offset + s->out_at));
    while (got < 0 && errno == EINTR);
    if (got < (ssize_t)n) /* shorter than was promised */
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    s->out_at += n;
    if (s->out_at == (uint64_t)a->length)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return got;
}

static ssize_t read_stream(struct http2_stream *s, uint8_t *to, size_t n, uint32_t *flags)
{
    size_t left = s->out.n - s->out_at;
    if (!left && !s->out_end) {
        s->deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    n = n < left ? n : left;
    if (n)
        memcpy(to, s->out.p + s->out_at, n);
    s->out_at += n;
    if (s->out_at == s->out.n) {
        conn_drop(s->h->c, s->out.n);
        buf_release(&s->out);
        s->out_at = 0;
        s->drained = true;
        if (s->out_end)
            *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (ssize_t)n;
}

static ssize_t read_answer(nghttp2_session *session, int32_t id, uint8_t *to, size_t n, uint32_t *flags,
                           nghttp2_data_source *source, void *ctx)
{
    (void)source;
    (void)ctx;
    struct http2_stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (!s) /* given up, and the client is about to be told */
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    s->out_moved = uv_now(&s->x.loop->uv);
    ssize_t got = s->x.answer.kind == ANSWER_MEMORY ? read_memory(s, to, n, flags)
                  : s->x.answer.kind == ANSWER_FILE ? read_file(s, to, n, flags)
                                                    : read_stream(s, to, n, flags);
    if (got > 0)
        s->x.sent += (uint64_t)got;
    return got;
}

/* Headers that HTTP/2 does not have. */
static bool is_forbidden(struct str name)
{
    static const char *const names[] = {"connection", "keep-alive", "transfer-encoding", "upgrade",
                                        "proxy-connection"};
    for (size_t i = 0; i < countof(names); i++)
        if (str_ieq(name, str_of(names[i])))
            return true;
    return false;
}

static nghttp2_nv field(struct buf *text, struct str name, struct str value)
{
    char *p = text->p + text->n;
    for (size_t i = 0; i < name.n; i++)
        p[i] = name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] | 0x20) : name.p[i];
    char *v = p + name.n;
    for (size_t i = 0; i < value.n; i++)
        v[i] = (unsigned char)value.p[i] < ' ' || value.p[i] == 0x7f ? ' ' : value.p[i];
    text->n += name.n + value.n;
    return (nghttp2_nv){(uint8_t *)p, (uint8_t *)v, name.n, value.n, NGHTTP2_NV_FLAG_NONE};
}

static void submit(struct http2_stream *s, const nghttp2_data_provider *body)
{
    const struct answer *a = &s->x.answer;
    size_t room = 128;
    for (size_t i = 0; i < a->n; i++)
        room += a->headers[i].name.n + a->headers[i].value.n;
    auto_buf struct buf text = {0};
    buf_reserve(&text, room);
    auto_free nghttp2_nv *nv = base_alloc((a->n + 3) * sizeof *nv);
    size_t n = 0;
    char number[24];
    snprintf(number, sizeof number, "%d", a->status);
    nv[n++] = field(&text, STR(":status"), str_of(number));
    nv[n++] = field(&text, STR("date"), str_of(date_http(s->x.loop)));
    int64_t length = a->kind == ANSWER_MEMORY ? (int64_t)a->body.n : a->length;
    if (a->kind != ANSWER_TUNNEL && length >= 0 && http_answer_has_body(a->status)) {
        snprintf(number, sizeof number, "%lld", (long long)length);
        nv[n++] = field(&text, STR("content-length"), str_of(number));
    }
    for (size_t i = 0; i < a->n; i++)
        if (!is_forbidden(a->headers[i].name))
            nv[n++] = field(&text, a->headers[i].name, a->headers[i].value);
    nghttp2_submit_response(s->h->session, s->id, nv, n, body);
}

static bool is_empty(const struct http2_stream *s)
{
    const struct answer *a = &s->x.answer;
    if (a->kind == ANSWER_TUNNEL)
        return false;
    if (str_is(s->x.pub.method, "HEAD") || !http_answer_has_body(a->status))
        return true;
    return (a->kind == ANSWER_MEMORY && !a->body.n) || (a->kind == ANSWER_FILE && !a->length);
}

static void s_answer(struct exchange *x)
{
    struct http2_stream *s = stream_of(x);
    struct http2 *h = s->h;
    nghttp2_data_provider body = {.read_callback = read_answer};
    s->out_moved = uv_now(&x->loop->uv);
    submit(s, is_empty(s) ? NULL : &body);
    http2_flush(h);
}

static void wake(struct http2_stream *s)
{
    if (s->deferred)
        s->out_moved = uv_now(&s->x.loop->uv);
    s->deferred = false;
    nghttp2_session_resume_data(s->h->session, s->id);
    http2_flush(s->h);
}

static void s_write(struct exchange *x, struct str piece)
{
    struct http2_stream *s = stream_of(x);
    if (s->out_end || !piece.n || s->all_sent)
        return;
    struct http2 *h = s->h;
    conn_keep(h->c, piece.n);
    buf_str(&s->out, piece);
    wake(s);
    http2_relieve(h);
}

static void s_end(struct exchange *x)
{
    struct http2_stream *s = stream_of(x);
    s->out_end = true;
    wake(s);
}

static void s_abort(struct exchange *x)
{
    struct http2_stream *s = stream_of(x);
    nghttp2_submit_rst_stream(s->h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_INTERNAL_ERROR);
    http2_flush(s->h);
}

bool http2_stream_keeps(const struct http2_stream *s)
{
    return s->x.kept || s->in.n || s->out.n;
}

static void s_relieve(struct exchange *x)
{
    http2_relieve(x->proto);
}

static uint64_t s_pending(const struct exchange *x)
{
    const struct http2_stream *s = stream_of(x);
    return s->out.n - s->out_at;
}

static struct conn *s_carrier(const struct exchange *x)
{
    return ((const struct http2 *)x->proto)->c;
}

static const struct exchange_ops ops = {
    .answer = s_answer,
    .write = s_write,
    .end = s_end,
    .resume = s_resume,
    .abort = s_abort,
    .relieve = s_relieve,
    .pending = s_pending,
    .carrier = s_carrier,
};

/* --- time --- */

static bool has_output(const struct http2_stream *s)
{
    return s->x.answered && !s->all_sent && !s->deferred;
}

void http2_stream_check_time(struct http2_stream *s, uint64_t now)
{
    const struct http_limits *m = &s->x.loop->server->limits;
    struct exchange *x = &s->x;
    if (!s->begun && !x->answered && now - s->in_moved > m->header_timeout_ms) {
        nghttp2_session_terminate_session(s->h->session, NGHTTP2_PROTOCOL_ERROR);
    } else if (has_output(s) && now - s->out_moved > m->write_timeout_ms) {
        nghttp2_submit_rst_stream(s->h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
    } else if (s->begun && !s->in_end && !x->connect && exchange_wants_body(x) &&
               now - s->in_moved > m->body_timeout_ms) {
        s->in_moved = now;
        if (x->answered)
            s_abort(x);
        else
            exchange_refuse(x, 408, "the request body did not come in time");
    }
}

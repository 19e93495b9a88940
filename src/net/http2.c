#include "net/http2.h"

#include "net/http2_stream.h"

#define OUT_MAX           (128 * 1024) /* output waiting for the socket before we stop to ask for more */
#define STREAM_WINDOW     (256 * 1024)
#define CONN_WINDOW       (4 * 1024 * 1024)
#define RESET_BURST       500 /* cancelled streams before the connection is ended, */
#define RESET_RATE        50  /* and how many of them are forgiven per second */
#define MAX_SETTINGS      32
#define OUTBOUND_ACKS     256
#define MAX_CONTINUATIONS 8

static const struct http_limits *limits_of(const struct http2 *h)
{
    return &h->c->loop->server->limits;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static void set_deadline(struct http2 *h)
{
    const struct http_limits *m = limits_of(h);
    if (!h->count) {
        if (h->used) /* the first request has the time a header has */
            conn_deadline(h->c, m->idle_timeout_ms);
        return;
    }
    /* A look at all streams from time to time. */
    unsigned look = 1 + least(least(m->body_timeout_ms, m->write_timeout_ms), m->header_timeout_ms) / 2;
    if (!h->c->deadline || h->c->deadline > uv_now(&h->c->loop->uv) + look)
        conn_deadline(h->c, look);
}

/* --- sending --- */

static void tell_drained(struct http2 *h)
{
    struct http2_stream *s = h->streams;
    while (s) {
        if (!s->drained) {
            s = s->next;
            continue;
        }
        s->drained = false;
        exchange_flushed(&s->x);
        s = h->streams; /* the callback may have ended any of them */
    }
}

static void end_if_done(struct http2 *h)
{
    struct conn *c = h->c;
    if (h->busy || conn_pending(c) || c->failed)
        return;
    bool over = !nghttp2_session_want_read(h->session) && !nghttp2_session_want_write(h->session);
    if (!over && !(h->draining && !h->count))
        return;
    while (h->streams)
        http2_stream_close(h->streams, false);
    nghttp2_session_del(h->session);
    free(h);
    conn_linger(c);
}

static void pump(struct http2 *h)
{
    struct conn *c = h->c;
    bool corked = conn_cork(c);
    h->busy = true;
    while (conn_pending(c) < OUT_MAX && !c->failed) {
        const uint8_t *p;
        ssize_t n = nghttp2_session_mem_send(h->session, &p);
        if (n < 0)
            conn_fail(c);
        if (n <= 0)
            break;
        conn_write(c, p, (size_t)n);
    }
    h->busy = false;
    if (corked)
        conn_uncork(c);
}

void http2_flush(struct http2 *h)
{
    if (h->busy || h->c->failed || h->c->closing)
        return;
    pump(h);
    tell_drained(h);
    if (h->draining && !h->count)
        conn_deadline(h->c, 1);
}

/* --- memory --- */

/* The newest one for which something is kept; *ret_only when there is no other. */
static struct http2_stream *newest_kept(const struct http2 *h, bool *ret_only)
{
    struct http2_stream *found = NULL;
    for (struct http2_stream *s = h->streams; s; s = s->next) {
        if (!http2_stream_keeps(s))
            continue;
        *ret_only = !found;
        if (found)
            break;
        found = s;
    }
    return found;
}

void http2_relieve(struct http2 *h)
{
    while (!h->busy && !h->c->failed) {
        bool only = false, share = conn_over_share(h->c);
        if (!share && h->c->kept <= limits_of(h)->max_kept_each)
            return;
        struct http2_stream *s = newest_kept(h, &only);
        if (!s || (only && !share))
            return;
        /* Not when nghttp2 has told the client: that may not take anything. */
        nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_ENHANCE_YOUR_CALM);
        http2_stream_close(s, false);
        http2_flush(h);
    }
}

/* --- nghttp2's callbacks --- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *f, void *ctx)
{
    struct http2 *h = ctx;
    if (f->hd.type != NGHTTP2_HEADERS || f->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (conn_over_share(h->c)) {
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, f->hd.stream_id, NGHTTP2_REFUSED_STREAM);
        return 0;
    }
    struct http2_stream *s = http2_stream_new(h, f->hd.stream_id);
    nghttp2_session_set_stream_user_data(session, s->id, s);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *f, const uint8_t *name, size_t name_n,
                     const uint8_t *value, size_t value_n, uint8_t flags, void *ctx)
{
    (void)flags;
    (void)ctx;
    struct http2_stream *s = nghttp2_session_get_stream_user_data(session, f->hd.stream_id);
    if (s && f->headers.cat == NGHTTP2_HCAT_REQUEST)
        http2_stream_field(s, (struct str){(const char *)name, name_n},
                           (struct str){(const char *)value, value_n});
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *f, void *ctx)
{
    (void)ctx;
    bool ended = f->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (f->hd.type != NGHTTP2_HEADERS && f->hd.type != NGHTTP2_DATA)
        return 0;
    struct http2_stream *s = nghttp2_session_get_stream_user_data(session, f->hd.stream_id);
    if (!s)
        return 0;
    if (f->hd.type == NGHTTP2_HEADERS && f->headers.cat == NGHTTP2_HCAT_REQUEST)
        http2_stream_begin(s, ended);
    else if (ended)
        http2_stream_ended(s);
    return 0;
}

static int on_chunk(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                    void *ctx)
{
    (void)flags;
    (void)ctx;
    struct http2_stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (s)
        http2_stream_data(s, (struct str){(const char *)p, n});
    else
        nghttp2_session_consume(session, id, n);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *ctx)
{
    (void)ctx;
    struct http2_stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (s)
        http2_stream_close(s, code == NGHTTP2_NO_ERROR && s->all_sent);
    return 0;
}

/* The answer is whole; a client that still sends is told to stop. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *f, void *ctx)
{
    (void)ctx;
    if (!(f->hd.flags & NGHTTP2_FLAG_END_STREAM) ||
        (f->hd.type != NGHTTP2_HEADERS && f->hd.type != NGHTTP2_DATA))
        return 0;
    struct http2_stream *s = nghttp2_session_get_stream_user_data(session, f->hd.stream_id);
    if (!s)
        return 0;
    s->all_sent = true;
    if (!s->in_end)
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_NO_ERROR);
    return 0;
}

static nghttp2_session *new_session(struct http2 *h)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    nghttp2_session *session;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        abort();
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    if (nghttp2_option_new(&option) != 0)
        abort();
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_settings(option, MAX_SETTINGS);
    nghttp2_option_set_max_outbound_ack(option, OUTBOUND_ACKS);
    nghttp2_option_set_stream_reset_rate_limit(option, RESET_BURST, RESET_RATE);
    nghttp2_option_set_max_continuations(option, MAX_CONTINUATIONS);
    if (nghttp2_session_server_new2(&session, callbacks, h, option) != 0)
        abort();
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

/* --- the connection's events --- */

static size_t h2_data(struct conn *c, const char *p, size_t n)
{
    struct http2 *h = c->proto;
    h->busy = true;
    ssize_t used = nghttp2_session_mem_recv(h->session, (const uint8_t *)p, n);
    h->busy = false;
    if (used < 0) {
        conn_fail(c);
        return n;
    }
    http2_flush(h);
    http2_relieve(h);
    set_deadline(h);
    end_if_done(h);
    return n;
}

static void h2_eof(struct conn *c)
{
    conn_fail(c);
}

static void h2_flushed(struct conn *c)
{
    struct http2 *h = c->proto;
    http2_flush(h);
    end_if_done(h);
}

static void h2_closed(struct conn *c)
{
    struct http2 *h = c->proto;
    h->busy = true; /* nothing is sent any more */
    while (h->streams)
        http2_stream_close(h->streams, false);
    nghttp2_session_del(h->session);
    c->proto = NULL;
    free(h);
}

static void h2_timeout(struct conn *c)
{
    struct http2 *h = c->proto;
    uint64_t now = uv_now(&c->loop->uv);
    if (!h->count) {
        if (h->draining || now - h->idle_since >= (h->used ? limits_of(h)->idle_timeout_ms : 0))
            nghttp2_session_terminate_session(h->session, NGHTTP2_NO_ERROR);
    } else {
        for (struct http2_stream *s = h->streams, *next; s; s = next) {
            next = s->next;
            http2_stream_check_time(s, now);
        }
    }
    http2_flush(h);
    set_deadline(h);
    end_if_done(h);
}

static void h2_drain(struct conn *c)
{
    struct http2 *h = c->proto;
    h->draining = true;
    nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h->session),
                          NGHTTP2_NO_ERROR, NULL, 0);
    for (struct http2_stream *s = h->streams, *next; s; s = next) {
        next = s->next;
        exchange_drain(&s->x);
    }
    http2_flush(h);
    end_if_done(h);
}

static const struct conn_events http2_events = {
    .data = h2_data,
    .eof = h2_eof,
    .flushed = h2_flushed,
    .closed = h2_closed,
    .timeout = h2_timeout,
    .drain = h2_drain,
};

void http2_start(struct conn *c)
{
    struct http2 *h = base_zalloc(sizeof *h);
    h->c = c;
    h->session = new_session(h);
    c->proto = h;
    c->ev = &http2_events;
    const struct http_limits *m = limits_of(h);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, m->max_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)m->max_header},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
    };
    nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, countof(settings));
    nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0, CONN_WINDOW);
    conn_deadline(c, m->header_timeout_ms);
}

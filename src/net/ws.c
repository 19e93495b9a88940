/* WebSocket over an exchange that became a tunnel. The peer's frames arrive on the loop's thread; ours may be
 * written by any. Closing: whichever side starts, both close frames pass, then the server ends the
 * connection. */
#include "net/exchange.h"
#include "net/ws_frame.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>

#define DEFAULT_MAX   (1024 * 1024)
#define TICK_MS       5000
#define PING_MS       30000
#define SILENT_MS     90000
#define CLOSE_WAIT_MS 5000

struct ws {
    struct exchange *x;
    const struct ws_events *ev;
    void *ctx;
    struct ws_reader reader;
    uv_timer_t *timer; /* of its own, since it closes later than this is freed */
    uint64_t heard_at, pinged_at;
    int code; /* what `closed` reports */
    bool peer_closed, over;
    /* Our close frame is written: no more messages. Apart from its neighbours, which other threads do not
     * see. */
    _Alignas(16) atomic_bool closing;
};

static size_t send_frame(struct ws *w, enum ws_opcode opcode, struct str payload)
{
    uint8_t head[10];
    size_t n = ws_head(opcode, payload.n, head);
    return exchange_write(w->x, (struct str){(char *)head, n}, payload);
}

static void send_close(struct ws *w, int code, const char *reason)
{
    char payload[125] = {(char)(code >> 8), (char)code};
    size_t n = reason ? strnlen(reason, sizeof payload - 2) : 0;
    if (n)
        memcpy(payload + 2, reason, n);
    while (n && !utf8_valid((struct str){payload + 2, n}))
        n--; /* cut in the middle of a character */
    if (!atomic_exchange(&w->closing, true))
        send_frame(w, WS_CLOSE, code ? (struct str){payload, n + 2} : STR(""));
}

/* --- what comes --- */

static void end_after_close(struct ws *w)
{
    w->peer_closed = true;
    exchange_write_end(w->x);
}

static bool on_close(struct ws *w, struct str payload)
{
    unsigned code = payload.n >= 2 ? (unsigned)((uint8_t)payload.p[0] << 8 | (uint8_t)payload.p[1]) : 1005;
    bool valid = payload.n == 0 || (payload.n >= 2 && ws_close_code_valid(code) &&
                                    utf8_valid((struct str){payload.p + 2, payload.n - 2}));
    if (!w->code)
        w->code = valid ? (int)code : 1002;
    send_close(w, !valid ? 1002 : payload.n ? (int)code : 0, NULL);
    end_after_close(w);
    return false;
}

static bool on_frame(void *ctx, enum ws_opcode opcode, struct str payload)
{
    struct ws *w = ctx;
    switch (opcode) {
    case WS_TEXT:
    case WS_BINARY:
        if (!atomic_load(&w->closing))
            w->ev->message(w, opcode == WS_TEXT, payload, w->ctx);
        return !w->over;
    case WS_PING:
        if (!atomic_load(&w->closing))
            send_frame(w, WS_PONG, payload);
        return true;
    case WS_CLOSE:
        return on_close(w, payload);
    case WS_PONG:
    default:
        return true;
    }
}

static struct ws *ws_of(struct request *r)
{
    return exchange_of(r)->output_ctx;
}

static void ws_data(struct request *r, struct str piece)
{
    struct ws *w = ws_of(r);
    w->heard_at = uv_now(&w->x->loop->uv);
    if (w->peer_closed || w->over)
        return;
    if (ws_reader_feed(&w->reader, piece.p, piece.n) || !w->reader.error)
        return;
    if (!w->code)
        w->code = w->reader.error;
    send_close(w, w->reader.error, NULL);
    end_after_close(w);
}

static void ws_end(struct request *r, bool complete)
{
    (void)complete;
    struct ws *w = ws_of(r);
    if (w && !w->over && !w->peer_closed)
        end_after_close(w);
}

/* --- the answer's events --- */

static void ws_flushed(struct exchange *x)
{
    struct ws *w = x->output_ctx;
    size_t n = x->inflight;
    x->inflight = 0;
    if (n && atomic_fetch_sub(&x->pending, n) == n && w->ev->drained && !w->over)
        w->ev->drained(w, w->ctx);
}

static void free_timer(uv_handle_t *h)
{
    free(h);
}

static void ws_gone(struct exchange *x, bool complete)
{
    (void)complete;
    struct ws *w = x->output_ctx;
    w->over = true;
    if (w->timer) {
        w->timer->data = NULL;
        uv_close((uv_handle_t *)w->timer, free_timer);
    }
    ws_reader_release(&w->reader);
    w->ev->closed(w, w->code ? w->code : 1006, w->ctx);
    x->output_ctx = NULL;
    exchange_unref(x);
}

static void ws_drain(struct exchange *x)
{
    ws_close(x->output_ctx, 1001, "the server stops");
}

static const struct exchange_output ws_output = {.flushed = ws_flushed, .gone = ws_gone, .drain = ws_drain};

/* --- time --- */

static void on_timer(uv_timer_t *t)
{
    struct ws *w = t->data;
    struct exchange *x = w->x;
    uint64_t now = uv_now(&x->loop->uv), silent = now - w->heard_at;
    bool closing = atomic_load(&w->closing);
    if (!x->proto)
        return;
    if (silent >= SILENT_MS || (closing && silent >= CLOSE_WAIT_MS)) {
        x->ops->abort(x);
    } else if (!closing && now - w->pinged_at >= PING_MS) {
        w->pinged_at = now;
        send_frame(w, WS_PING, STR(""));
    }
}

/* Runs on the loop with the answer. */
static void ws_opened(struct exchange *x)
{
    struct ws *w = x->output_ctx;
    w->heard_at = w->pinged_at = uv_now(&x->loop->uv);
    w->timer = base_zalloc(sizeof *w->timer);
    uv_timer_init(&x->loop->uv, w->timer);
    w->timer->data = w;
    uv_timer_start(w->timer, on_timer, TICK_MS, TICK_MS);
    x->body_done = x->body_told = false;
    exchange_set_sink(x, &(struct body_sink){ws_data, ws_end});
}

/* --- the handshake --- */

static bool has_token(struct str list, const char *token)
{
    while (list.n)
        if (str_ieq(str_trim(str_cut(list, ',', &list)), str_of(token)))
            return true;
    return false;
}

static void accept_key(struct str key, char ret[32])
{
    char text[24 + 37];
    uint8_t sum[SHA_DIGEST_LENGTH];
    int n = snprintf(text, sizeof text, STR_FMT "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", STR_ARG(key));
    SHA1((const uint8_t *)text, (size_t)n, sum);
    EVP_EncodeBlock((uint8_t *)ret, sum, sizeof sum);
}

static void refuse(struct request *r, int status, const char *detail)
{
    auto_buf struct buf text = {0};
    http_problem(&text, status, detail);
    const struct header headers[] = {
        http_problem_type, {STR("Sec-WebSocket-Version"), STR("13")}, {STR("Upgrade"), STR("websocket")}};
    respond(r, status, headers, status == 426 ? 3 : 1, buf_view(&text));
}

/* The key's text, or STR_NULL after having refused. Over HTTP/2 there is none: STR(""). */
static struct str check_handshake(struct request *r)
{
    struct exchange *x = exchange_of(r);
    if (!str_is(request_header(r, "sec-websocket-version"), "13")) {
        refuse(r, 426, "this address speaks WebSocket version 13");
        return STR_NULL;
    }
    if (x->connect)
        return STR("");
    struct str key = request_header(r, "sec-websocket-key");
    if (!x->upgradable || !str_is(r->method, "GET") ||
        !has_token(request_header(r, "upgrade"), "websocket")) {
        refuse(r, 426, "this address speaks WebSocket");
        return STR_NULL;
    }
    uint8_t raw[24];
    if (key.n != 24 || EVP_DecodeBlock(raw, (const uint8_t *)key.p, 24) != 18 || key.p[23] != '=') {
        refuse(r, 400, "Sec-WebSocket-Key must be 16 bytes in base64");
        return STR_NULL;
    }
    return key;
}

struct ws *respond_ws(struct request *r, const struct ws_options *o, const struct ws_events *ev, void *ctx)
{
    struct exchange *x = exchange_of(r);
    struct str key = check_handshake(r);
    if (!key.p)
        return NULL;
    struct ws *w = arena_new(&x->arena, struct ws);
    w->x = x;
    w->ev = ev;
    w->ctx = ctx;
    ws_reader_init(&w->reader, o && o->max_message ? o->max_message : DEFAULT_MAX, on_frame, w);
    struct header headers[4];
    size_t n = 0;
    char accept[32];
    if (key.n) {
        accept_key(key, accept);
        headers[n++] = (struct header){STR("Upgrade"), STR("websocket")};
        headers[n++] = (struct header){STR("Connection"), STR("Upgrade")};
        headers[n++] = (struct header){STR("Sec-WebSocket-Accept"), str_of(accept)};
    }
    if (o && o->protocol)
        headers[n++] = (struct header){STR("Sec-WebSocket-Protocol"), str_of(o->protocol)};
    pthread_mutex_init(&x->out_lock, NULL);
    struct answer a = {.kind = ANSWER_TUNNEL,
                       .status = key.n ? 101 : 200,
                       .headers = headers,
                       .n = n,
                       .fd = -1,
                       .length = -1,
                       .output = &ws_output,
                       .output_ctx = w,
                       .opened = ws_opened};
    exchange_answer_later(x, a);
    return w;
}

size_t ws_send(struct ws *w, bool text, struct str data)
{
    if (atomic_load(&w->closing))
        return atomic_load(&w->x->pending);
    return send_frame(w, text ? WS_TEXT : WS_BINARY, data);
}

void ws_close(struct ws *w, int code, const char *reason)
{
    send_close(w, code, reason);
}

#include "net/ws_client.h"

#include "base/hash.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>

#define MAX_MESSAGE (1 << 20)
#define MAX_HEAD    (64 << 10)
#define MAX_BODY    (64 << 10)
#define PIECE       (64 << 10)
#define CONNECT_S   10L
#define WAIT_MS     30000

struct ws_client {
    CURL *curl;
    int fd;
    struct ws_reader reader;
    bool closed; /* a close frame came */
    bool (*frame)(void *ctx, enum ws_opcode opcode, struct str payload);
    void *ctx;
    struct err *err; /* of the call in progress */
};

static bool failed(const struct client_request *q, const char *why, struct err *err)
{
    return err_set(err, ERR_UPSTREAM, NULL, "%s: %s", q->url, why);
}

/* --- bytes --- */

static bool wait_fd(struct ws_client *c, short events, struct err *err)
{
    struct pollfd p = {.fd = c->fd, .events = events};
    int n;
    while ((n = poll(&p, 1, WAIT_MS)) < 0 && errno == EINTR) {
    }
    return n > 0 || err_set(err, ERR_UPSTREAM, NULL, "the server does not answer");
}

static bool send_all(struct ws_client *c, const void *data, size_t n, struct err *err)
{
    for (const char *p = data; n > 0;) {
        size_t sent = 0;
        CURLcode code = curl_easy_send(c->curl, p, n, &sent);
        if (code == CURLE_AGAIN) {
            if (!wait_fd(c, POLLOUT, err))
                return false;
            continue;
        }
        if (code != CURLE_OK)
            return err_set(err, ERR_UPSTREAM, NULL, "the connection is lost: %s", curl_easy_strerror(code));
        p += sent;
        n -= sent;
    }
    return true;
}

/* *ret_n is 0 at the end of the connection; *ret_again when nothing is there. */
static bool receive_some(struct ws_client *c, char *space, size_t size, size_t *ret_n, bool *ret_again,
                         struct err *err)
{
    *ret_n = 0;
    CURLcode code = curl_easy_recv(c->curl, space, size, ret_n);
    *ret_again = code == CURLE_AGAIN;
    return code == CURLE_OK || *ret_again ||
           err_set(err, ERR_UPSTREAM, NULL, "the connection is lost: %s", curl_easy_strerror(code));
}

/* --- frames --- */

bool ws_client_send(struct ws_client *c, enum ws_opcode opcode, struct str data, struct err *err)
{
    uint8_t head[14], mask[4];
    size_t n = ws_head(opcode, data.n, head);
    head[1] |= 0x80;
    random_bytes(mask, sizeof mask);
    auto_buf struct buf out = {0};
    buf_add(&out, head, n);
    buf_add(&out, mask, sizeof mask);
    buf_str(&out, data);
    for (size_t i = 0; i < data.n; i++)
        out.p[n + 4 + i] = (char)(out.p[n + 4 + i] ^ mask[i & 3]);
    return send_all(c, out.p, out.n, err);
}

static bool on_frame(void *ctx, enum ws_opcode opcode, struct str payload)
{
    struct ws_client *c = ctx;
    if (opcode == WS_PING)
        return ws_client_send(c, WS_PONG, payload, c->err);
    if (opcode == WS_PONG)
        return true;
    if (opcode != WS_CLOSE)
        return c->frame(c->ctx, opcode, payload);
    struct err ignored = {0};
    c->closed = true;
    ws_client_send(c, WS_CLOSE, (struct str){payload.p, payload.n < 2 ? 0 : 2}, &ignored);
    return false;
}

static bool feed(struct ws_client *c, const char *p, size_t n, bool *ret_open, struct err *err)
{
    c->err = err;
    if (ws_reader_feed(&c->reader, p, n))
        return true;
    *ret_open = false;
    if (c->reader.error)
        return err_set(err, ERR_UPSTREAM, NULL, "the server sent a broken message (%d)", c->reader.error);
    return c->closed || !err->code;
}

bool ws_client_receive(struct ws_client *c, bool *ret_open, struct err *err)
{
    auto_free char *space = base_alloc(PIECE);
    *ret_open = !c->closed;
    while (*ret_open) {
        size_t n;
        bool again;
        if (!receive_some(c, space, PIECE, &n, &again, err))
            return false;
        if (again)
            return true;
        if (n == 0)
            return err_set(err, ERR_UPSTREAM, NULL, "the server closed the connection");
        if (!feed(c, space, n, ret_open, err))
            return false;
    }
    return true;
}

/* --- the handshake --- */

static struct str base64(struct arena *a, const void *p, size_t n)
{
    unsigned char *out = arena_alloc(a, 4 * (n + 2) / 3 + 4);
    int length = EVP_EncodeBlock(out, p, (int)n);
    return (struct str){(char *)out, (size_t)length};
}

static struct str accept_of(struct arena *a, struct str key)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    const char *text = arena_printf(a, STR_FMT "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", STR_ARG(key));
    EVP_Digest(text, strlen(text), hash, &n, EVP_sha1(), NULL);
    return base64(a, hash, n);
}

static bool send_request(struct ws_client *c, const struct client_request *q, struct str key, struct err *err)
{
    auto_buf struct buf text = {0};
    struct str rest = str_of(q->url), host;
    ptrdiff_t at = str_find(rest, STR("://"));
    rest = (struct str){rest.p + at + 3, rest.n - (size_t)at - 3};
    host = str_cut(rest, '/', &rest);
    buf_printf(&text, "GET /" STR_FMT " HTTP/1.1\r\nHost: " STR_FMT "\r\n", STR_ARG(rest), STR_ARG(host));
    for (size_t i = 0; i < q->header_count; i++)
        buf_printf(&text, "%s: %s\r\n", q->headers[i].name, q->headers[i].value);
    buf_printf(&text,
               "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: " STR_FMT "\r\n\r\n",
               STR_ARG(key));
    return send_all(c, text.p, text.n, err);
}

/* Reads until the head is whole; what follows it is already of the body or of frames. */
static bool read_head(struct ws_client *c, struct buf *in, size_t *ret_head, struct err *err)
{
    char space[4096];
    for (;;) {
        size_t n;
        bool again;
        ptrdiff_t end = in->n ? str_find(buf_view(in), STR("\r\n\r\n")) : -1;
        if (end >= 0) {
            *ret_head = (size_t)end + 4;
            return true;
        }
        if (in->n > MAX_HEAD)
            return err_set(err, ERR_UPSTREAM, NULL, "the answer's head is too large");
        if (!receive_some(c, space, sizeof space, &n, &again, err) || (again && !wait_fd(c, POLLIN, err)))
            return false;
        if (!again && n == 0)
            return err_set(err, ERR_UPSTREAM, NULL, "the server closed the connection");
        buf_add(in, space, n);
    }
}

/* The rest of a refusal, as long as its Content-Length says. */
static bool read_body(struct ws_client *c, struct buf *in, size_t head, size_t length, struct err *err)
{
    char space[4096];
    while (in->n < head + length && in->n < head + MAX_BODY) {
        size_t n;
        bool again;
        if (!receive_some(c, space, sizeof space, &n, &again, err) || (again && !wait_fd(c, POLLIN, err)))
            return false;
        if (!again && n == 0)
            return true;
        buf_add(in, space, n);
    }
    return true;
}

static bool shake_hands(struct ws_client *c, struct arena *a, const struct client_request *q,
                        struct client_answer *ret, struct err *err)
{
    uint8_t nonce[16];
    auto_buf struct buf in = {0};
    size_t head;
    uint64_t length = 0;
    random_bytes(nonce, sizeof nonce);
    struct str key = base64(a, nonce, sizeof nonce);
    if (!send_request(c, q, key, err) || !read_head(c, &in, &head, err))
        return false;
    *ret = (struct client_answer){.raw_headers = arena_str(a, (struct str){in.p, head})};
    int status = 0;
    if (sscanf(ret->raw_headers.p, "HTTP/1.1 %3d", &status) != 1)
        return failed(q, "the answer is no HTTP", err);
    ret->status = status;
    if (status != 101) {
        str_to_u64(client_header_value(ret, "Content-Length"), &length);
        if (length > MAX_BODY)
            length = MAX_BODY;
        if (!read_body(c, &in, head, (size_t)length, err))
            return false;
        ret->body = arena_str(a, (struct str){in.p + head, in.n - head});
        return false; /* a refusal: err stays empty */
    }
    if (!str_eq(client_header_value(ret, "Sec-WebSocket-Accept"), accept_of(a, key)))
        return failed(q, "the answer is not to this request", err);
    bool open;
    return in.n == head || feed(c, in.p + head, in.n - head, &open, err);
}

static bool connect_to(struct ws_client *c, const struct client_request *q, struct err *err)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    c->curl = curl_easy_init();
    if (!c->curl)
        return failed(q, "cannot start the client", err);
    curl_easy_setopt(c->curl, CURLOPT_URL, q->url);
    curl_easy_setopt(c->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(c->curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    if (q->insecure) {
        curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (q->ca_file)
        curl_easy_setopt(c->curl, CURLOPT_CAINFO, q->ca_file);
    CURLcode code = curl_easy_perform(c->curl);
    if (code == CURLE_OK)
        code = curl_easy_getinfo(c->curl, CURLINFO_ACTIVESOCKET, &fd);
    c->fd = (int)fd;
    return code == CURLE_OK || failed(q, curl_easy_strerror(code), err);
}

struct ws_client *ws_client_open(struct arena *a, const struct client_request *q,
                                 bool (*frame)(void *ctx, enum ws_opcode opcode, struct str payload),
                                 void *ctx, struct client_answer *ret, struct err *err)
{
    struct ws_client *c = base_zalloc(sizeof *c);
    c->frame = frame;
    c->ctx = ctx;
    ws_reader_init(&c->reader, MAX_MESSAGE, on_frame, c);
    c->reader.of_server = true;
    if (connect_to(c, q, err) && shake_hands(c, a, q, ret, err))
        return c;
    ws_client_free(c);
    return NULL;
}

void ws_client_free(struct ws_client *c)
{
    if (!c)
        return;
    if (c->curl)
        curl_easy_cleanup(c->curl);
    ws_reader_release(&c->reader);
    free(c);
}

int ws_client_fd(const struct ws_client *c)
{
    return c->fd;
}

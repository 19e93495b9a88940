/* One request to S3: addressed, signed, sent, and sent again when that may help. */
#include "base/clock.h"
#include "codec/xml.h"
#include "net/url.h"
#include "store/s3_own.h"
#include "store/s3_sign.h"

#include <errno.h>
#include <time.h>

#define FIRST_PAUSE_MS 100
#define LAST_PAUSE_MS  3000
#define ASK_MS         100

/* Keys keep their slashes, everything else that is not plain is escaped. */
static struct str path_of(const struct s3 *s, struct arena *a, struct str key)
{
    auto_buf struct buf b = {0};
    buf_printf(&b, "/%s", s->bucket);
    if (key.n)
        buf_char(&b, '/');
    while (key.n) {
        bool more = memchr(key.p, '/', key.n) != NULL;
        buf_z(&b, url_encode(a, str_cut(key, '/', &key)));
        if (more)
            buf_char(&b, '/');
    }
    return arena_str(a, buf_view(&b));
}

static bool hash_part(const struct s3_request *q, uint8_t ret[SHA256_SIZE], struct err *err)
{
    struct sha256 *h = sha256_new();
    auto_free char *piece = base_alloc(1 << 18);
    int64_t at = q->body_at, end = q->body_at + q->body_size;
    while (at < end) {
        size_t want = end - at < 1 << 18 ? (size_t)(end - at) : 1 << 18;
        ssize_t n = pread(q->fd, piece, want, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            sha256_free(h);
            return err_errno(err, n < 0 ? errno : EIO, "cannot read what goes to the object store");
        }
        sha256_add(h, piece, (size_t)n);
        at += n;
    }
    sha256_finish(h, ret);
    return true;
}

static bool payload_of(const struct s3_request *q, char ret[SHA256_HEX + 1], struct err *err)
{
    uint8_t hash[SHA256_SIZE];
    if (q->hash)
        memcpy(hash, q->hash, sizeof hash);
    else if (q->body.p || q->body_size == 0)
        sha256_of(q->body.p ? q->body : STR(""), hash);
    else if (!hash_part(q, hash, err))
        return false;
    hex_encode(hash, sizeof hash, ret);
    return true;
}

static bool is_alive(struct s3 *s, const struct s3_request *q)
{
    return !atomic_load(&s->ended) && (!s->alive || s->alive(s->ctx)) && (!q->alive || q->alive(q->sink_ctx));
}

bool s3_pause(struct s3 *s, const struct s3_request *q, unsigned attempt)
{
    unsigned ms = FIRST_PAUSE_MS << (attempt < 5 ? attempt : 5);
    uint16_t random;
    random_bytes(&random, sizeof random);
    ms = (ms < LAST_PAUSE_MS ? ms : LAST_PAUSE_MS) / 2 + random % (ms / 2 + 1);
    for (; ms > 0 && is_alive(s, q); ms -= ms < ASK_MS ? ms : ASK_MS)
        nanosleep(&(struct timespec){.tv_nsec = (ms < ASK_MS ? ms : ASK_MS) * 1000000L}, NULL);
    return is_alive(s, q);
}

struct watched {
    struct s3 *s;
    const struct s3_request *q;
    bool began;
};

static bool watched_tick(void *ctx, unused_ok int64_t sent, unused_ok int64_t received)
{
    const struct watched *w = ctx;
    return is_alive(w->s, w->q);
}

static bool watched_sink(void *ctx, struct str piece)
{
    struct watched *w = ctx;
    w->began = true;
    return w->q->sink(w->q->sink_ctx, piece);
}

/* One try; what is signed includes the time, so each try is signed anew. */
static bool attempt(struct s3 *s, struct arena *a, struct watched *w, struct str path, const char *payload,
                    struct client_answer *ret, struct err *err)
{
    const struct s3_request *q = w->q;
    struct client_header headers[6];
    size_t n = 0;
    char date[S3_DATE_MAX];
    struct s3_signing sign = {s->key,    s->secret, s->token,         s->region, s->host,
                              q->method, path,      str_of(q->query), "",        clock_now()};
    memcpy(sign.payload, payload, sizeof sign.payload);
    if (s->key) {
        headers[n++] = (struct client_header){"Authorization", s3_sign(a, &sign, date)};
        headers[n++] = (struct client_header){"X-Amz-Date", date};
        headers[n++] = (struct client_header){"X-Amz-Content-Sha256", payload};
    }
    if (s->key && s->token)
        headers[n++] = (struct client_header){"X-Amz-Security-Token", s->token};
    if (q->range)
        headers[n++] = (struct client_header){"Range", q->range};
    bool from_file = !q->body.p && q->body_size > 0;
    if (from_file && lseek(q->fd, q->body_at, SEEK_SET) < 0)
        return err_errno(err, errno, "cannot read what goes to the object store");
    struct client_request c = {.method = q->method,
                               .url = arena_printf(a, "%s" STR_FMT "%s%s", s->base, STR_ARG(path),
                                                   q->query ? "?" : "", q->query ? q->query : ""),
                               .headers = headers,
                               .header_count = n,
                               .body = q->body,
                               .body_fd = from_file ? q->fd : -1,
                               .body_size = from_file ? q->body_size : 0,
                               .max_answer = q->max_answer,
                               .timeout_s = s->timeout_s,
                               .ca_file = s->ca_file,
                               .sink = q->sink ? watched_sink : NULL,
                               .sink_ctx = w,
                               .sink_success = true,
                               .sink_status = q->range ? 206 : 0,
                               .tick = watched_tick,
                               .tick_ctx = w,
                               .patient = true,
                               .keep = true};
    return client_do(a, &c, ret, err);
}

static bool again(int status)
{
    return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

static bool nobody(struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, NULL, "no request waits for it any more");
}

bool s3_exchange(struct s3 *s, struct arena *a, const struct s3_request *q, struct client_answer *ret,
                 struct err *err)
{
    struct str path = path_of(s, a, q->key);
    char payload[SHA256_HEX + 1];
    struct watched w = {s, q, false};
    if (!payload_of(q, payload, err))
        return false;
    for (unsigned i = 0;; i++) {
        struct err why = {0};
        bool last = i + 1 >= s->tries;
        bool answered = attempt(s, a, &w, path, payload, ret, &why);
        if (answered && (last || w.began || !again(ret->status)))
            return true;
        if (!is_alive(s, q))
            return nobody(err);
        if (!answered && strcmp(why.field, "certificate") == 0)
            return err_set(err, ERR_UPSTREAM, NULL, "the certificate of the object store is not trusted: %s",
                           why.message);
        if (!answered && (last || w.began || why.code != ERR_UPSTREAM))
            return err_set(err, why.code == ERR_UPSTREAM ? ERR_UNAVAILABLE : why.code, NULL,
                           "the object store does not answer: %s", why.message);
        if (!s3_pause(s, q, i))
            return nobody(err);
    }
}

bool s3_refused(struct s3 *s, const struct s3_request *q, const struct client_answer *answer, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err ignored = {0};
    const struct xml_node *x = answer->body.n ? xml_parse(&a, answer->body, &ignored) : NULL;
    struct str code = xml_text(xml_child(x, "Code")), text = xml_text(xml_child(x, "Message"));
    if (answer->status == 404 && !str_is(code, "NoSuchBucket"))
        return err_set(err, ERR_NOT_FOUND, NULL, "the object store has no \"" STR_FMT "\" in bucket %s",
                       STR_ARG(q->key), s->bucket);
    enum err_code kind = again(answer->status) ? ERR_UNAVAILABLE : ERR_UPSTREAM;
    return err_set(err, kind, NULL,
                   "the object store at %s refused %s of \"%s/" STR_FMT "\" with %d%s" STR_FMT "%s" STR_FMT,
                   s->host, q->method, s->bucket, STR_ARG(q->key), answer->status, code.n ? " " : "",
                   STR_ARG(code), text.n ? ": " : "", STR_ARG(text));
}

bool s3_call(struct s3 *s, struct arena *a, const struct s3_request *q, struct client_answer *ret,
             struct err *err)
{
    if (!s3_exchange(s, a, q, ret, err))
        return false;
    return (ret->status >= 200 && ret->status < 300) || s3_refused(s, q, ret, err);
}

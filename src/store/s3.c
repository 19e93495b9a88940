#include "store/s3.h"

#include "base/buf.h"
#include "base/messages.h"
#include "store/s3_own.h"

#include <stdio.h>

/* "https://host:443/" becomes "https://host": what is signed must be what the Host header says. */
static bool take_endpoint(struct s3 *s, const char *text, struct err *err)
{
    struct str rest = str_of(text);
    const char *scheme = str_starts(rest, "https://")  ? "https://"
                         : str_starts(rest, "http://") ? "http://"
                                                       : NULL;
    if (!scheme)
        return err_set(err, ERR_INVALID, "endpoint", "endpoint: \"%s\" must begin with http:// or https://",
                       text);
    rest.p += strlen(scheme);
    rest.n -= strlen(scheme);
    if (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    for (size_t i = 0; i < rest.n; i++)
        if ((unsigned char)rest.p[i] <= ' ' || strchr("/?#@\\%\"<>", rest.p[i]))
            return err_set(err, ERR_INVALID, "endpoint",
                           "endpoint: \"%s\" must be only a scheme, a host and a port", text);
    const char *own = scheme[4] == 's' ? ":443" : ":80";
    if (str_ends(rest, own))
        rest.n -= strlen(own);
    if (!rest.n)
        return err_set(err, ERR_INVALID, "endpoint", "endpoint: \"%s\" has no host", text);
    if (asprintf(&s->host, STR_FMT, STR_ARG(rest)) < 0 || asprintf(&s->base, "%s%s", scheme, s->host) < 0)
        return err_set(err, ERR_INTERNAL, NULL, "out of memory");
    for (char *c = s->host; *c; c++) /* as curl writes it */
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    return true;
}

static bool plain(const char *text, const char *more)
{
    for (const char *c = text; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              strchr(more, *c)))
            return false;
    return *text != 0;
}

static char *copy(const char *z)
{
    return z ? base_strdup(z) : NULL;
}

static bool take_options(struct s3 *s, const struct s3_options *o, struct err *err)
{
    const char *region = o->region && *o->region ? o->region : "us-east-1";
    char amazon[128];
    if (!o->bucket || strlen(o->bucket) > 63 || !plain(o->bucket, ".-_") || o->bucket[0] == '.')
        return err_set(err, ERR_INVALID, "bucket",
                       "bucket: \"%s\" must have 1 to 63 letters, digits, '.', '-' or '_'",
                       o->bucket ? o->bucket : "");
    if (strlen(region) > 60 || !plain(region, "-_"))
        return err_set(err, ERR_INVALID, "region", "region: \"%s\" must have letters, digits and '-'",
                       region);
    if (o->key && (!*o->key || !o->secret || !*o->secret))
        return err_set(err, ERR_INVALID, "secret_key", "an access key needs its secret key");
    if ((o->key && !plain(o->key, "-_=+./")) || (o->token && !plain(o->token, "-_=+/.")))
        return err_set(err, ERR_INVALID, "access_key",
                       "the access key or session token has characters that none has");
    snprintf(amazon, sizeof amazon, "https://s3.%s.amazonaws.com", region);
    s->bucket = copy(o->bucket);
    s->region = copy(region);
    s->key = copy(o->key);
    s->secret = copy(o->secret);
    s->token = copy(o->token);
    s->ca_file = copy(o->ca_file);
    s->tries = o->tries ? o->tries : 5;
    s->timeout_s = o->timeout_s ? o->timeout_s : 60;
    s->alive = o->alive;
    s->ctx = o->ctx;
    return take_endpoint(s, o->endpoint ? o->endpoint : amazon, err);
}

struct s3 *s3_new(const struct s3_options *o, struct err *err)
{
    struct s3 *s = base_zalloc(sizeof *s);
    if (take_options(s, o, err))
        return s;
    s3_free(s);
    return NULL;
}

void s3_free(struct s3 *s)
{
    if (!s)
        return;
    char *const texts[] = {s->base, s->host, s->bucket, s->region, s->key, s->secret, s->token, s->ca_file};
    if (s->secret)
        explicit_bzero(s->secret, strlen(s->secret));
    for (size_t i = 0; i < countof(texts); i++)
        free(texts[i]);
    free(s);
}

void s3_end(struct s3 *s)
{
    atomic_store(&s->ended, true);
}

const char *s3_host(const struct s3 *s)
{
    return s->host;
}

bool s3_size(struct str text, struct str key, int64_t *ret, struct err *err)
{
    int64_t size;
    if (!str_to_i64(text, &size) || size < 0 || size > S3_OBJECT_MAX)
        return err_message(err, ERR_UPSTREAM, NULL, MESSAGE_OBJECT_SIZE, (int)(text.n > 40 ? 40 : text.n),
                           text.p, (int)key.n, key.p);
    *ret = size;
    return true;
}

bool s3_head(struct s3 *s, struct str key, int64_t *ret_size, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer answer;
    if (!s3_call(s, &a, &(struct s3_request){.method = "HEAD", .key = key}, &answer, err))
        return false;
    int64_t size;
    if (!s3_size(client_header_value(&answer, "content-length"), key, &size, err))
        return false;
    if (ret_size)
        *ret_size = size;
    return true;
}

/* --- getting --- */

struct getting {
    const struct s3_sink *sink;
    int64_t got;
    struct err err; /* the sink's */
    bool ended;
};

static bool get_piece(void *ctx, struct str piece)
{
    struct getting *g = ctx;
    g->ended = !g->sink->piece(g->sink->ctx, piece, &g->err);
    g->got += (int64_t)piece.n;
    return !g->ended;
}

static bool get_alive(void *ctx)
{
    const struct getting *g = ctx;
    return g->sink->alive(g->sink->ctx);
}

/* One exchange from where the former ended. *again: it broke in the middle, and going on may help. */
static bool get_once(struct s3 *s, struct str key, int64_t from, int64_t n, struct getting *g, bool *broke,
                     struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer answer;
    int64_t at = from + g->got, before = g->got;
    char range[64] = "";
    if (n >= 0)
        snprintf(range, sizeof range, "bytes=%lld-%lld", (long long)at, (long long)(from + n - 1));
    else if (at > 0)
        snprintf(range, sizeof range, "bytes=%lld-", (long long)at);
    struct s3_request q = {.method = "GET",
                           .key = key,
                           .range = *range ? range : NULL,
                           .sink = get_piece,
                           .alive = g->sink->alive ? get_alive : NULL,
                           .sink_ctx = g};
    bool ok = s3_call(s, &a, &q, &answer, err);
    if (ok && *range && answer.status != 206)
        return err_set(err, ERR_UPSTREAM, NULL, "the object store at %s does not answer ranges", s->host);
    *broke = !ok && g->got > before;
    return ok;
}

bool s3_get(struct s3 *s, struct str key, int64_t from, int64_t n, const struct s3_sink *sink,
            struct err *err)
{
    struct getting g = {.sink = sink};
    if (n == 0)
        return true;
    for (unsigned i = 0; i < s->tries; i++) {
        struct err why = {0};
        bool broke = false, ok = get_once(s, key, from, n, &g, &broke, &why);
        if (g.ended) {
            *err = g.err;
            return false;
        }
        if (ok || (n >= 0 && g.got >= n))
            return true;
        struct s3_request waiting = {.alive = sink->alive ? get_alive : NULL, .sink_ctx = &g};
        if (!broke || i + 1 == s->tries || !s3_pause(s, &waiting, i)) {
            *err = why;
            return false;
        }
    }
    return false;
}

struct reading {
    struct buf buf;
    size_t max;
};

static bool read_piece(void *ctx, struct str piece, struct err *err)
{
    struct reading *r = ctx;
    if (piece.n > r->max - r->buf.n)
        return err_set(err, ERR_TOO_LARGE, NULL, "the object is larger than %zu bytes", r->max);
    buf_str(&r->buf, piece);
    return true;
}

bool s3_read(struct s3 *s, struct arena *a, struct str key, size_t max, struct str *ret, struct err *err)
{
    struct reading r = {.max = max};
    bool ok = s3_get(s, key, 0, -1, &(struct s3_sink){read_piece, &r, NULL}, err);
    if (ok)
        *ret = arena_str(a, buf_view(&r.buf));
    buf_release(&r.buf);
    return ok;
}

bool s3_delete(struct s3 *s, struct str key, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct client_answer answer;
    struct err why = {0};
    if (s3_call(s, &a, &(struct s3_request){.method = "DELETE", .key = key}, &answer, &why) ||
        why.code == ERR_NOT_FOUND)
        return true;
    *err = why;
    return false;
}

/* The public functions about a request and its body. */
#include "net/exchange.h"
#include "net/url.h"

struct str request_header(const struct request *r, const char *name)
{
    struct str want = str_of(name);
    for (size_t i = 0; i < r->header_count; i++)
        if (str_eq(r->headers[i].name, want))
            return r->headers[i].value;
    return STR_NULL;
}

size_t request_cookies(const struct request *r, const char *name, struct str *ret)
{
    size_t n = 0;
    *ret = STR_NULL;
    for (size_t i = 0; i < r->header_count; i++) {
        if (!str_is(r->headers[i].name, "cookie"))
            continue;
        struct str rest = r->headers[i].value;
        while (rest.n) {
            struct str pair = str_trim(str_cut(rest, ';', &rest)), value;
            struct str key = str_cut(pair, '=', &value);
            if (value.p && str_is(key, name) && n++ == 0)
                *ret = value;
        }
    }
    return n;
}

struct str request_cookie(const struct request *r, const char *name)
{
    struct str value;
    request_cookies(r, name, &value);
    return value;
}

bool request_param(struct request *r, const char *name, struct str *ret, struct err *err)
{
    struct str rest = r->query;
    *err = (struct err){0};
    while (rest.n) {
        struct str value, key = str_cut(str_cut(rest, '&', &rest), '=', &value), decoded;
        if (!url_value(r->arena, key, &decoded, err))
            return false;
        if (str_is(decoded, name))
            return url_value(r->arena, value.p ? value : STR(""), ret, err);
    }
    return false;
}

/* --- the body --- */

static void set_sink(struct exchange *x, const struct body_sink *sink)
{
    if (loop_current() == x->loop) {
        exchange_set_sink(x, sink);
        return;
    }
    x->next_sink = *sink;
    exchange_post(x, POST_SINK);
}

void request_stream(struct request *r, const struct body_sink *sink)
{
    set_sink(exchange_of(r), sink);
}

void request_pause(struct request *r)
{
    atomic_store(&exchange_of(r)->paused, true);
}

void request_resume(struct request *r)
{
    struct exchange *x = exchange_of(r);
    atomic_store(&x->paused, false);
    exchange_post(x, POST_RESUME);
}

static void refuse_large(struct request *r)
{
    auto_buf struct buf text = {0};
    http_problem(&text, 413, "the request body is too large");
    respond(r, 413, &http_problem_type, 1, buf_view(&text));
}

static void collect_data(struct request *r, struct str piece)
{
    struct exchange *x = exchange_of(r);
    if (piece.n > x->collect_limit - x->collected.n) {
        x->sink.data = NULL;
        x->body_told = true;
        x->collect_large(r);
        return;
    }
    if (!x->collected.cap && r->content_length > 0)
        buf_reserve(&x->collected, (size_t)r->content_length);
    buf_str(&x->collected, piece);
    exchange_keep(x, piece.n);
}

static void collect_end(struct request *r, bool complete)
{
    struct exchange *x = exchange_of(r);
    if (!complete) {
        x->collect_done(r, STR_NULL, false);
        return;
    }
    /* The buffer lives as long as the exchange. */
    x->collect_done(r, x->collected.n ? buf_view(&x->collected) : STR(""), true);
}

void request_collect(struct request *r, size_t limit,
                     void (*done)(struct request *r, struct str body, bool complete))
{
    request_collect_else(r, limit, done, refuse_large);
}

void request_collect_else(struct request *r, size_t limit,
                          void (*done)(struct request *r, struct str body, bool complete),
                          void (*large)(struct request *r))
{
    struct exchange *x = exchange_of(r);
    if (r->content_length > 0 && (uint64_t)r->content_length > limit) {
        large(r);
        return;
    }
    x->collect_limit = limit;
    x->collect_done = done;
    x->collect_large = large;
    set_sink(x, &(struct body_sink){collect_data, collect_end});
}

void request_watch(struct request *r, bool eager, void (*over)(void *ctx), void *ctx)
{
    struct exchange *x = exchange_of(r);
    struct exchange_watch w = {over, ctx, eager};
    if (loop_current() == x->loop) {
        exchange_set_watch(x, w);
        return;
    }
    x->next_watch = w;
    exchange_post(x, POST_WATCH);
}

void request_abort(struct request *r)
{
    exchange_post(exchange_of(r), POST_ABORT);
}

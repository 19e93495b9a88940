#include "infer/server.h"

#include "base/clock.h"
#include "infer/call.h"
#include "net/url.h"

#define MAX_SEGMENTS 6

/* ':' stands for a model's name, '#' for its version. */
static const struct route {
    const char *method;
    const char *path[MAX_SEGMENTS + 1];
    void (*serve)(struct call *c);
} routes[] = {
    {"POST", {"v2", "models", ":", "infer"}, v2_serve_infer},
    {"POST", {"v2", "models", ":", "versions", "#", "infer"}, v2_serve_infer},
    {"POST", {"v2", "models", ":", "predict"}, predict_serve},
    {"POST", {"v2", "models", ":", "versions", "#", "predict"}, predict_serve},
    {"GET", {"v2", "health", "live"}, v2_serve_health},
    {"GET", {"v2", "health", "ready"}, v2_serve_ready},
    {"GET", {"v2"}, v2_serve_server},
    {"GET", {"v2", "models", "stats"}, v2_serve_stats},
    {"GET", {"v2", "models", ":"}, v2_serve_model},
    {"GET", {"v2", "models", ":", "versions", "#"}, v2_serve_model},
    {"GET", {"v2", "models", ":", "ready"}, v2_serve_model_ready},
    {"GET", {"v2", "models", ":", "versions", "#", "ready"}, v2_serve_model_ready},
    {"GET", {"v2", "models", ":", "config"}, v2_serve_config},
    {"GET", {"v2", "models", ":", "versions", "#", "config"}, v2_serve_config},
    {"GET", {"v2", "models", ":", "stats"}, v2_serve_stats},
    {"GET", {"v2", "models", ":", "versions", "#", "stats"}, v2_serve_stats},
    {"POST", {"v2", "repository", "index"}, v2_serve_index},
    {"POST", {"v2", "repository", "models", ":", "load"}, v2_serve_load},
    {"POST", {"v2", "repository", "models", ":", "unload"}, v2_serve_unload},
    {"GET", {"metrics"}, metrics_serve},
};

struct segments {
    struct str list[MAX_SEGMENTS + 1];
    size_t n;
};

/* More than any route has stay one too many. */
static bool split(struct arena *a, struct str path, struct segments *ret, struct err *err)
{
    ret->n = 0;
    path = (struct str){path.p + 1, path.n - 1};
    while (path.p && ret->n <= MAX_SEGMENTS) {
        struct str raw = str_cut(path, '/', &path);
        if (raw.n == 0 && !path.p && ret->n)
            break; /* a slash at the end */
        bool plain = !memchr(raw.p, '%', raw.n) && raw.n && raw.p[0] != '.';
        if (plain)
            ret->list[ret->n] = raw;
        else if (!url_segment(a, raw, &ret->list[ret->n], err))
            return false;
        ret->n++;
    }
    return true;
}

static bool matches(const struct route *route, const struct segments *s, struct call *c)
{
    size_t i = 0;
    for (; i < s->n && i < MAX_SEGMENTS && route->path[i]; i++) {
        const char *want = route->path[i];
        if (*want == ':')
            c->name = s->list[i];
        else if (*want == '#')
            c->version = s->list[i];
        else if (!str_is(s->list[i], want))
            return false;
    }
    return i == s->n && !route->path[i];
}

static void handle(struct request *r, void *ctx)
{
    struct server *s = ctx;
    struct call *c = arena_new(r->arena, struct call);
    struct segments path;
    struct err err = {0};
    bool other = false, head = str_is(r->method, "HEAD");
    *c = (struct call){.server = s, .request = r, .arena = r->arena, .began = clock_mono()};
    trace_begin(&c->trace, request_header(r, "traceparent"));
    r->log_user = c->trace.id;
    if (!split(r->arena, r->path, &path, &err)) {
        call_fail(c, &err);
        return;
    }
    for (size_t i = 0; i < countof(routes); i++) {
        c->name = c->version = STR_NULL;
        if (!matches(&routes[i], &path, c))
            continue;
        other = true;
        if (str_is(r->method, routes[i].method) || (head && str_is(STR("GET"), routes[i].method))) {
            routes[i].serve(c);
            return;
        }
    }
    if (other)
        err_set(&err, ERR_METHOD, NULL, "%.20s is not for this address", arena_strz(r->arena, r->method));
    else
        err_set(&err, ERR_NOT_FOUND, NULL, "there is nothing at %.200s", arena_strz(r->arena, r->path));
    call_fail(c, &err);
}

struct server *server_start(const struct server_options *o, struct err *err)
{
    struct server *s = base_zalloc(sizeof *s);
    s->o = *o;
    s->o.http.handler = handle;
    s->o.http.ctx = s;
    s->pool = pool_new("work", o->threads, o->max_queue);
    s->http = http_start(&s->o.http, err);
    if (!s->http) {
        pool_free(s->pool);
        free(s);
        return NULL;
    }
    return s;
}

uint16_t server_port(const struct server *s)
{
    return http_port(s->http);
}

void server_set_ready(struct server *s, bool ready)
{
    atomic_store(&s->ready, ready);
}

void server_stop(struct server *s, unsigned timeout_ms)
{
    http_stop(s->http, timeout_ms);
    pool_free(s->pool);
    free(s);
}

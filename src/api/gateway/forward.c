/* From an allowed request to a replica: limits, choice, and what happens when a replica fails. */
#include "api/gateway/model_path.h"
#include "api/gateway/visit.h"
#include "base/clock.h"
#include "base/messages.h"
#include "core/job/job.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#define KEEP_BODY     (1u << 20)  /* bytes of a body that may be sent again */
#define BODY_USUAL    (64u << 20) /* where the service has no limit */
#define TIME_USUAL_MS 60000
#define BUSY_WAIT_MS  1000
#define AGAIN_WAIT_MS 5000
#define COOKIES       "ingot_"

/* --- the replica --- */

static int visit_connect(void *ctx)
{
    struct visit *v = ctx;
    struct err err = {0};
    int one = 1;
    struct exec *x = jobs_exec(v->core->jobs);
    int fd = x ? x->ops->connect(x, v->up->id, v->up->port, &err) : -1;
    if (fd < 0) {
        errno = ECONNREFUSED;
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void use(struct visit *v, const struct serve_side *side, const struct serve_upstream *up)
{
    v->side = side;
    v->up = up;
    snprintf(v->pool_key, sizeof v->pool_key, "r%" PRIx64, up->key);
}

static void count(struct visit *v, enum serve_class class, uint64_t us)
{
    bool well = class == SERVE_OK || class == SERVE_CLIENT || class == SERVE_ERROR;
    if (class == SERVE_LEFT)
        serve_give_back(v->route, v->side, v->up);
    else
        serve_done(v->route, v->side, v->up, well, clock_mono());
    serve_traffic_add(v->route, v->side, class, us);
}

static const char *model_name(const struct serve_route *r, const struct serve_side *s)
{
    return s->model_name ? s->model_name : r->name;
}

/* The other side, where it speaks the same way and nobody asked for this one. */
static const struct serve_side *other_side(const struct visit *v)
{
    const struct serve_route *r = v->route;
    const struct serve_side *o = v->side == &r->canary ? &r->production : &r->canary;
    if (v->want != SERVE_ANY || o->n == 0 || (o == &r->canary && !r->has_canary) ||
        o->model != v->side->model || strcmp(model_name(r, o), model_name(r, v->side)) != 0)
        return NULL;
    return o;
}

/* A failure counts for the version that failed, also when another one answers then. */
static bool visit_next(void *ctx, enum proxy_failure why, const char **ret_key)
{
    struct visit *v = ctx;
    (void)why;
    if (v->n_tried == VISIT_TRIES)
        return false;
    const struct serve_side *side = v->side;
    uint64_t now = clock_mono();
    v->tried[v->n_tried++] = v->up->key;
    const struct serve_upstream *up = serve_take(v->route, side, v->tried, v->n_tried, now);
    if (!up && (side = other_side(v)))
        up = serve_take(v->route, side, v->tried, v->n_tried, now);
    if (!up) {
        v->n_tried--;
        return false;
    }
    count(v, SERVE_FAILED, 0);
    use(v, side, up);
    *ret_key = v->pool_key;
    return true;
}

/* --- ends --- */

static enum serve_class class_of(const struct proxy_end *end)
{
    if (end->failure == PROXY_SILENT)
        return SERVE_TIMEOUT;
    if (end->failure != PROXY_FINE)
        return SERVE_FAILED;
    if (end->status == 0)
        return SERVE_LEFT;
    return end->status < 400 ? SERVE_OK : end->status < 500 ? SERVE_CLIENT : SERVE_ERROR;
}

static void visit_over(void *ctx, const struct proxy_end *end)
{
    struct visit *v = ctx;
    count(v, class_of(end), end->took_us);
    visit_end(v, end->status, end->sent, end->took_us);
}

static void visit_refused(struct request *r, void *ctx, int status, const char *detail)
{
    struct visit *v = ctx;
    struct err err = {0};
    (void)r;
    switch (status) {
    case 413:
        err_message(&err, ERR_TOO_LARGE, NULL, MESSAGE_GATEWAY_BODY, (long long)v->route->body_limit);
        break;
    case 504:
        err_message(&err, ERR_UPSTREAM, NULL, MESSAGE_GATEWAY_SILENT, v->route->name);
        break;
    default:
        err_message(&err, ERR_UPSTREAM, NULL, MESSAGE_GATEWAY_FAILED, v->route->name, detail);
    }
    visit_problem(v, status, &err, status == 413 ? 0 : BUSY_WAIT_MS);
}

static void refuse_stopped(struct visit *v)
{
    const struct serve_route *r = v->route;
    struct err err = {0};
    if (v->want != SERVE_ANY) {
        const char *word = v->want == SERVE_CANARY ? "canary" : "production";
        err_message(&err, ERR_UNAVAILABLE, NULL, MESSAGE_GATEWAY_NO_SIDE, r->name, word);
    } else {
        const char *why = r->reason ? r->reason : "no replica is ready";
        err_set(&err, ERR_UNAVAILABLE, NULL, "the service %s does not answer now (%s): %s", r->name,
                r->state ? r->state : "stopped", why);
        err_chinese(&err, "gateway-stopped", "服务 %s 目前不可用（%s）：%s", r->name,
                    r->state ? r->state : "stopped", r->reason_zh ? r->reason_zh : "没有就绪的副本");
    }
    visit_refuse(v, 503, &err, AGAIN_WAIT_MS);
}

/* --- limits --- */

static bool header_fits(const struct visit *v)
{
    int64_t size = (int64_t)(v->r->path.n + v->r->query.n);
    for (size_t i = 0; i < v->r->header_count; i++)
        size += (int64_t)(v->r->headers[i].name.n + v->r->headers[i].value.n + 4);
    return v->route->header_limit <= 0 || size <= v->route->header_limit;
}

static int64_t body_limit(const struct visit *v)
{
    return v->route->body_limit > 0 ? v->route->body_limit : BODY_USUAL;
}

/* 0: it fits, otherwise the status to refuse it with. */
static int over_limits(struct visit *v, struct err *err)
{
    if (!header_fits(v)) {
        err_message(err, ERR_MALFORMED, NULL, MESSAGE_GATEWAY_HEADER, (long long)v->route->header_limit);
        return 431;
    }
    if (v->r->content_length > body_limit(v)) {
        err_message(err, ERR_TOO_LARGE, NULL, MESSAGE_GATEWAY_BODY, (long long)body_limit(v));
        return 413;
    }
    if (!serve_enter(v->route)) {
        err_message(err, ERR_UNAVAILABLE, NULL, MESSAGE_GATEWAY_BUSY, v->route->name);
        return 503;
    }
    v->entered = true;
    return 0;
}

/* --- on its way --- */

static size_t add_headers(struct visit *v)
{
    size_t n = 0;
    v->add[n++] = (struct header){STR("x-request-id"), str_of(v->id)};
    v->add[n++] = (struct header){STR("traceparent"), str_of(v->trace)};
    v->add[n++] = (struct header){STR("x-api-key"), STR_NULL};
    v->add[n++] = (struct header){STR("x-ingot-version"), STR_NULL};
    return n;
}

/* What is meant to go on; for others the head of the answer tells. */
static bool lasts(const struct request *r)
{
    return request_header(r, "upgrade").n || str_is(r->method, "CONNECT") ||
           str_find(request_header(r, "accept"), STR("text/event-stream")) >= 0;
}

static void go(struct visit *v)
{
    const struct serve_route *r = v->route;
    bool shared = v->inside || !r->host || v->prefix.n;
    struct proxy_target t = {
        .connect = visit_connect,
        .ctx = v,
        .key = v->pool_key,
        .path = v->path,
        .strip_auth = true,
        .strip_cookie = COOKIES,
        .no_cookies = shared,
        .guarded = shared,
        .forwarded_prefix = v->prefix.n ? arena_strz(v->r->arena, v->prefix) : NULL,
        .next = visit_next,
        .resend = r->resend == SERVE_RESEND_ALL,
        .keep_body = r->resend == SERVE_RESEND_ALL ? KEEP_BODY : 0,
        .body_limit = body_limit(v),
        .time_limit_ms = r->time_limit_ms > 0 ? (unsigned)r->time_limit_ms : TIME_USUAL_MS,
        .add = v->add,
        .n_add = add_headers(v),
        .answering = visit_answering,
        .refused = visit_refused,
        .over = visit_over,
    };
    respond_proxy(v->r, &t);
}

static bool find_path(struct visit *v, struct err *err)
{
    if (v->side->model)
        v->path = model_path(v->route, model_name(v->route, v->side), v->rest, v->r->arena, err);
    else
        v->path = arena_strz(v->r->arena, v->rest.n ? v->rest : STR("/"));
    return v->path != NULL;
}

void visit_forward(struct visit *v, const struct caller *c)
{
    struct err err = {0};
    int status = over_limits(v, &err);
    if (status) {
        visit_refuse(v, status, &err, status == 503 ? BUSY_WAIT_MS : 0);
        return;
    }
    const struct serve_side *side = serve_choose(v->route, v->want);
    const struct serve_upstream *up = side ? serve_take(v->route, side, NULL, 0, clock_mono()) : NULL;
    if (!up) {
        refuse_stopped(v);
        return;
    }
    use(v, side, up);
    if (!find_path(v, &err)) {
        serve_give_back(v->route, v->side, v->up);
        v->up = NULL;
        visit_refuse(v, err.code == ERR_FORBIDDEN ? 403 : 404, &err, 0);
        return;
    }
    visit_allow(v, c);
    if (lasts(v->r))
        visit_watch(v);
    go(v);
}

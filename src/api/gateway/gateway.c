#include "api/gateway/gateway.h"

#include "api/gateway/visit.h"
#include "base/clock.h"
#include "base/messages.h"
#include "core/account/accounts.h"

/* --- where --- */

/* "/vision/fruit/v2/health/live" */
static void find_route(struct visit *v)
{
    struct str path = v->r->path;
    v->route = serve_routes_host(v->routes, v->r->host);
    if (v->route) {
        v->rest = path;
        return;
    }
    struct str rest = {path.p + 1, path.n - 1};
    struct str project = str_cut(rest, '/', &rest), service = str_cut(rest, '/', &rest);
    v->route = serve_routes_find(v->routes, project, service);
    if (!v->route)
        return;
    v->prefix = (struct str){path.p, (size_t)(service.p + service.n - path.p)};
    v->rest = (struct str){path.p + v->prefix.n, path.n - v->prefix.n};
}

/* Pages have relative links, which need the slash. */
static void add_slash(struct visit *v)
{
    struct request *r = v->r;
    const char *where = arena_printf(r->arena, STR_FMT "/%s" STR_FMT, STR_ARG(v->prefix),
                                     r->query.n ? "?" : "", STR_ARG(r->query));
    const struct header headers[] = {{STR("Location"), str_of(where)}, {STR("X-Request-Id"), str_of(v->id)}};
    visit_end(v, 308, 0, 0);
    respond(r, 308, headers, countof(headers), STR_NULL);
}

/* --- other origins --- */

static bool is_preflight(const struct request *r)
{
    return str_is(r->method, "OPTIONS") && request_header(r, "access-control-request-method").n;
}

/* True: it goes on. */
static bool origin_ok(struct visit *v)
{
    struct str origin = request_header(v->r, "origin");
    struct err err = {0};
    if (!origin.p)
        return true;
    v->crosses = visit_origin_ok(v, origin);
    if (!v->crosses) {
        err_message(&err, ERR_FORBIDDEN, NULL, MESSAGE_GATEWAY_ORIGIN);
        visit_refuse(v, 403, &err, 0);
        return false;
    }
    if (is_preflight(v->r)) {
        visit_preflight(v);
        return false;
    }
    return true;
}

/* --- who --- */

static struct str shown_secret(const struct request *r)
{
    struct str rest, scheme = str_cut(request_header(r, "authorization"), ' ', &rest);
    if (str_ieq(scheme, STR("bearer")) && str_trim(rest).n)
        return str_trim(rest);
    return str_trim(request_header(r, "x-api-key"));
}

/* The same for what is not there: who has no key does not learn which services a platform has. */
static void refuse_unknown(struct visit *v)
{
    struct err err = {0};
    err_message(&err, ERR_UNAUTHORIZED, NULL, MESSAGE_GATEWAY_KEY);
    visit_refuse(v, 401, &err, 0);
}

static void with_caller(struct visit *v, const struct caller *c)
{
    struct err err = {0};
    if (c->job || !v->route) {
        refuse_unknown(v);
        return;
    }
    if (!caller_need(c, "service.invoke", v->route->project, &err)) {
        visit_refuse(v, err.code == ERR_FORBIDDEN ? 403 : 401, &err, 0);
        return;
    }
    v->user = c->user;
    if (c->name)
        v->r->log_user = arena_strdup(v->r->arena, c->name);
    visit_forward(v, c);
}

/* On a pool thread: a token that no cache knows. */
static void look_up(void *arg)
{
    struct visit *v = arg;
    struct core *core = v->core;
    struct caller c = {0};
    struct err err = {0};
    if (accounts_resolve(core->accounts, v->secret, false, &c, &err)) {
        c.peer = v->r->peer;
        with_caller(v, &c);
        accounts_caller_release(core->accounts, &c);
    } else if (err.code == ERR_UNAUTHORIZED) {
        refuse_unknown(v);
    } else {
        visit_refuse(v, 503, &err, 1000);
    }
}

static void by_token(struct visit *v)
{
    struct core *core = v->core;
    struct caller c = {0};
    struct err err = {0};
    switch (accounts_peek(core->accounts, v->secret, false, &c)) {
    case AUTH_HIT:
        c.peer = v->r->peer;
        with_caller(v, &c);
        accounts_caller_release(core->accounts, &c);
        break;
    case AUTH_NONE:
        refuse_unknown(v);
        break;
    case AUTH_UNKNOWN:
        if (pool_submit(core->pool, look_up, v))
            break;
        err_set(&err, ERR_UNAVAILABLE, NULL, "too many requests are waiting");
        visit_refuse(v, 503, &err, 1000);
    }
}

static void by_key(struct visit *v, const struct serve_key *k)
{
    struct err err = {0};
    uint64_t wait_ms;
    if (k->expires_at && k->expires_at <= clock_now()) {
        err_message(&err, ERR_UNAUTHORIZED, NULL, MESSAGE_GATEWAY_EXPIRED);
        visit_refuse(v, 401, &err, 0);
    } else if (!serve_key_enter(v->route, k, clock_mono(), &wait_ms)) {
        err_message(&err, ERR_TOO_MANY, NULL, MESSAGE_GATEWAY_LIMIT, k->rate, (long long)k->burst,
                    (long long)k->concurrency);
        visit_refuse(v, 429, &err, wait_ms);
    } else {
        v->key = k;
        visit_forward(v, NULL);
    }
}

/* --- all --- */

static bool read_want(struct visit *v)
{
    struct str word = request_header(v->r, "x-ingot-version");
    struct err err = {0};
    v->want = str_is(word, "production") ? SERVE_PRODUCTION
              : str_is(word, "canary")   ? SERVE_CANARY
                                         : SERVE_ANY;
    if (!word.p || v->want != SERVE_ANY)
        return true;
    err_message(&err, ERR_MALFORMED, NULL, MESSAGE_GATEWAY_WANT);
    visit_refuse(v, 400, &err, 0);
    return false;
}

void gateway_handle(struct request *r, void *core)
{
    struct visit *v = visit_begin(core, r);
    r->traffic = TRAFFIC_SERVICES;
    find_route(v);
    if (!origin_ok(v))
        return;
    v->secret = shown_secret(r);
    if (!v->secret.n) {
        refuse_unknown(v);
        return;
    }
    if (!read_want(v))
        return;
    if (v->route && v->rest.n == 0 && str_is(r->method, "GET")) {
        add_slash(v);
        return;
    }
    const struct serve_key *k = v->route ? serve_key_find(v->route, v->secret) : NULL;
    if (k)
        by_key(v, k);
    else
        by_token(v);
}

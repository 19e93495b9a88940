/* What the gateway says itself, and what it changes in the answers of services. */
#include "api/gateway/visit.h"
#include "base/json.h"
#include "base/messages.h"

#include <stdio.h>

#define HEADERS_MAX  12
#define SHORT_ANSWER (64 << 10) /* bytes */

/* --- other origins --- */

static struct str without_scheme(struct str origin)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < countof(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (str_starts(origin, schemes[i]))
            return (struct str){origin.p + n, origin.n - n};
    }
    return STR_NULL;
}

bool visit_origin_ok(const struct visit *v, struct str origin)
{
    const struct serve_route *r = v->route;
    if (!r)
        return false;
    /* A page of its own: only where no other service has the same origin. */
    if (r->host && v->prefix.n == 0 && str_ieq(without_scheme(origin), v->r->host))
        return true;
    for (size_t i = 0; i < r->n_origins; i++)
        if (strcmp(r->origins[i], "*") == 0 || str_ieq(str_of(r->origins[i]), origin))
            return true;
    return false;
}

static size_t cross_headers(const struct visit *v, struct header *to)
{
    if (!v->crosses)
        return 0;
    to[0] = (struct header){STR("Access-Control-Allow-Origin"), request_header(v->r, "origin")};
    to[1] = (struct header){STR("Access-Control-Expose-Headers"), STR("X-Request-Id, X-Ingot-Version")};
    to[2] = (struct header){STR("Vary"), STR("Origin")};
    return 3;
}

void visit_preflight(struct visit *v)
{
    struct request *r = v->r;
    struct header headers[HEADERS_MAX] = {
        {STR("X-Request-Id"), str_of(v->id)},
        {STR("Access-Control-Allow-Methods"), STR("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")},
        {STR("Access-Control-Allow-Headers"), request_header(r, "access-control-request-headers")},
        {STR("Access-Control-Max-Age"), STR("600")},
    };
    size_t n = 4 + cross_headers(v, headers + 4);
    if (!headers[2].value.p)
        headers[2].value = STR("*");
    visit_end(v, 204, 0, 0);
    respond(r, 204, headers, n, STR_NULL);
}

/* --- problems --- */

static const struct {
    int status;
    const char *name, *title;
} problems[] = {
    {400, "malformed", "Bad Request"},
    {401, "unauthorized", "Unauthorized"},
    {403, "forbidden", "Forbidden"},
    {404, "not-found", "Not Found"},
    {413, "too-large", "Content Too Large"},
    {429, "too-many", "Too Many Requests"},
    {431, "header-too-large", "Request Header Fields Too Large"},
    {502, "upstream", "Bad Gateway"},
    {503, "unavailable", "Service Unavailable"},
    {504, "timeout", "Gateway Timeout"},
};

static void write_problem(const struct visit *v, int status, const struct err *err, struct buf *out)
{
    size_t i = 0;
    struct json_out o;
    char type[64];
    while (i < countof(problems) - 1 && problems[i].status != status)
        i++;
    snprintf(type, sizeof type, "/problems/%s", problems[i].name);
    json_begin(&o, out);
    json_object(&o);
    json_kz(&o, "type", type);
    json_kz(&o, "title", problems[i].title);
    json_kint(&o, "status", status);
    json_kz(&o, "code", problems[i].name);
    json_kz(&o, "detail", err->message);
    json_kz(&o, "detail_zh", err->id ? err->zh : NULL);
    json_kz(&o, "message", err->id);
    json_kz(&o, "request", v->id);
    json_object_end(&o);
}

void visit_problem(struct visit *v, int status, const struct err *err, uint64_t wait_ms)
{
    struct request *r = v->r;
    char wait[24];
    struct header headers[HEADERS_MAX] = {
        {STR("Content-Type"), STR("application/problem+json")},
        {STR("Cache-Control"), STR("no-store")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
        {STR("X-Request-Id"), str_of(v->id)},
    };
    size_t n = 4;
    if (status == 401)
        headers[n++] = (struct header){STR("WWW-Authenticate"), STR("Bearer realm=\"ingot services\"")};
    if (wait_ms) {
        snprintf(wait, sizeof wait, "%llu", (unsigned long long)((wait_ms + 999) / 1000));
        headers[n++] = (struct header){STR("Retry-After"), str_of(wait)};
    }
    n += cross_headers(v, headers + n);
    auto_buf struct buf body = {0};
    write_problem(v, status, err, &body);
    respond(r, status, headers, n, buf_view(&body));
}

void visit_refuse(struct visit *v, int status, const struct err *err, uint64_t wait_ms)
{
    visit_end(v, status, 0, 0);
    visit_problem(v, status, err, wait_ms);
}

/* --- answers of services --- */

/* Services without a host name of their own share an origin with each other, and their host's cookies with
 * the platform. */
static bool shares_host(const struct visit *v)
{
    return v->inside || !v->route->host || v->prefix.n;
}

static bool is_ours_to_say(const struct visit *v, struct str name)
{
    static const char *const always[] = {"x-request-id", "x-ingot-version"};
    static const char *const shared[] = {"set-cookie", "set-cookie2", "refresh", "x-content-type-options"};
    struct str cross = STR("access-control-");
    for (size_t i = 0; i < countof(always); i++)
        if (str_ieq(name, str_of(always[i])))
            return true;
    for (size_t i = 0; shares_host(v) && i < countof(shared); i++)
        if (str_ieq(name, str_of(shared[i])))
            return true;
    return name.n > cross.n && str_ieq((struct str){name.p, cross.n}, cross);
}

static struct str host_name(struct str host)
{
    struct str port;
    if (host.n && host.p[0] == '[')
        return host;
    return str_cut(host, ':', &port);
}

/* A service must not send people to the platform's pages: the same host by another port, or the public
 * address. */
static bool leads_to_platform(const struct visit *v, struct str location)
{
    struct str rest = without_scheme(location), after, own = v->r->host;
    if (str_starts(location, "//"))
        rest = (struct str){location.p + 2, location.n - 2};
    if (!rest.p)
        return false;
    for (size_t i = 0; i < rest.n; i++)
        if (rest.p[i] == '/' || rest.p[i] == '?' || rest.p[i] == '#' || rest.p[i] == '\\')
            rest.n = i;
    str_cut(rest, '@', &after);
    if (after.p)
        rest = after;
    struct str public = without_scheme(str_of(v->core->public_url));
    if (public.n && str_ieq(host_name(rest), host_name(str_cut(public, '/', &after))))
        return true;
    return str_ieq(host_name(rest), host_name(own)) && !str_ieq(rest, own);
}

/* "/login" of a service that does not know where it stands. */
static struct str placed(const struct visit *v, struct str location)
{
    struct str p = v->prefix;
    bool absolute = location.n && location.p[0] == '/' && !str_starts(location, "//");
    bool inside = location.n >= p.n && memcmp(location.p, p.p ? p.p : "", p.n) == 0 &&
                  (location.n == p.n || location.p[p.n] == '/');
    if (!absolute || p.n == 0 || inside)
        return location;
    return str_of(arena_printf(v->r->arena, STR_FMT STR_FMT, STR_ARG(p), STR_ARG(location)));
}

/* What a browser would show as a page that can act. Without a type it would guess. */
static bool is_page(struct str type)
{
    struct str parameters, name = str_trim(str_cut(type, ';', &parameters));
    return !type.n || str_ieq(name, STR("text/html")) || str_find(name, STR("xml")) >= 0 ||
           str_ieq(name, STR("application/pdf"));
}

/* An answer that may go on for long; small ones end by themselves, and are not worth the lock. */
static bool is_long(int64_t length)
{
    return length < 0 || length > SHORT_ANSWER;
}

size_t visit_answering(void *visit, int status, int64_t length, struct header *headers, size_t n)
{
    struct visit *v = visit;
    struct str type = STR_NULL;
    size_t kept = 0;
    if (is_long(length))
        visit_watch(v);
    for (size_t i = 0; i < n; i++) {
        struct header h = headers[i];
        bool location = str_ieq(h.name, STR("location"));
        if (is_ours_to_say(v, h.name) || (location && leads_to_platform(v, h.value)))
            continue;
        if (location)
            h.value = placed(v, h.value);
        if (str_ieq(h.name, STR("content-type")))
            type = h.value;
        headers[kept++] = h;
    }
    headers[kept++] = (struct header){STR("X-Request-Id"), str_of(v->id)};
    headers[kept++] = (struct header){STR("X-Ingot-Version"),
                                      v->side == &v->route->canary ? STR("canary") : STR("production")};
    if (shares_host(v) && status != 101) {
        headers[kept++] = (struct header){STR("X-Content-Type-Options"), STR("nosniff")};
        if (is_page(type) || v->inside)
            headers[kept++] = (struct header){STR("Content-Security-Policy"), STR("sandbox")};
    }
    return kept + cross_headers(v, headers + kept);
}

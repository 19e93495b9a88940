/* What clients and replicas say to the gateway: addresses of models, origins, and whole answers of replicas
 * with the headers that are passed on. The first line is the path, the second the Origin, the third the Host;
 * the rest is the answer. */
#include "api/gateway/model_path.h"
#include "api/gateway/visit.h"
#include "net/proxy_answer.h"

static const char *const aliases[] = {"old", "former/older"};
static const char *const origins[] = {"https://shop.example"};
static const struct serve_route route = {.service = 5,
                                         .project = 7,
                                         .project_name = "vision",
                                         .name = "fruit",
                                         .aliases = aliases,
                                         .n_aliases = 2,
                                         .origins = origins,
                                         .n_origins = 1};

static void check_path(struct arena *a, struct str path)
{
    struct err err = {0};
    const char *got = model_path(&route, "inside", path, a, &err);
    if (!got && !err.code)
        abort();
    if (got && (strncmp(got, "/v2", 3) != 0 || strstr(got, "/../") || strchr(got, '%')))
        abort();
    if (got && strncmp(got, "/v2/repository/", 15) == 0 && strcmp(got, "/v2/repository/index") != 0)
        abort();
}

static bool take(void *ctx, struct str piece)
{
    *(size_t *)ctx += piece.n;
    return true;
}

/* Nothing that a service without a host of its own says may reach the platform's cookies. */
static void check_headers(struct visit *v, const struct proxy_answer *in)
{
    struct proxy_target t = {.guarded = true, .strip_cookie = "ingot_"};
    size_t n;
    struct header *h = proxy_answer_headers(in, v->r->arena, false, &t, &n);
    n = visit_answering(v, in->status, 0, h, n); /* a short one: nobody watches it */
    if (n > in->count + PROXY_ROOM)
        abort();
    for (size_t i = 0; i < n; i++)
        if (str_ieq(h[i].name, STR("set-cookie")) || str_ieq(h[i].name, STR("clear-site-data")))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str rest = {(const char *)data, n}, path = str_cut(rest, '\n', &rest);
    struct header header = {STR("origin"), str_cut(rest, '\n', &rest)};
    struct core core = {.public_url = "https://ingot.example"};
    struct request r = {.arena = &a, .headers = &header, .header_count = 1, .path = path};
    r.host = str_cut(rest, '\n', &rest);
    struct visit v = {
        .core = &core, .r = &r, .route = &route, .side = &route.production, .prefix = STR("/vision/fruit")};
    check_path(&a, path);
    v.crosses = visit_origin_ok(&v, header.value);
    if (v.crosses && !str_ieq(header.value, str_of(origins[0])))
        abort();
    struct proxy_answer in;
    size_t body = 0;
    proxy_answer_init(&in, false, false, take, &body);
    for (size_t at = 0; at < rest.n;) {
        size_t step = rest.n - at < 7 ? rest.n - at : 7, used;
        enum proxy_event e = proxy_answer_feed(&in, rest.p + at, step, &used);
        at += used;
        if (e == PROXY_HEAD)
            check_headers(&v, &in);
        if (e == PROXY_BAD || e == PROXY_DONE || (e == PROXY_MORE && used == 0))
            break;
    }
    proxy_answer_eof(&in);
    proxy_answer_release(&in);
    return 0;
}

#include "infer/call.h"

#include "base/clock.h"
#include "base/log.h"

#define HEAVY_BODY   ((size_t)128 << 10) /* bytes of JSON, or compressed: not on a loop's thread */
#define LARGE_BODY   ((size_t)4 << 20)
#define MAX_HEADERS  8
#define WORTH_A_PACK 1024

static void let_go(struct call *c)
{
    buf_release(&c->expanded);
    if (c->served)
        models_drop(c->server->o.models, c->served);
    c->served = NULL;
}

void call_answer(struct call *c, int status, const struct header *headers, size_t n, struct str body)
{
    struct header all[MAX_HEADERS];
    struct buf packed = {0};
    enum squeeze pack = body.n >= WORTH_A_PACK
                            ? squeeze_accepted(request_header(c->request, "accept-encoding"))
                            : SQUEEZE_NONE;
    for (size_t i = 0; i < n; i++)
        all[i] = headers[i];
    all[n++] = (struct header){STR("Traceparent"), str_of(c->trace.parent)};
    if (pack) {
        squeeze_pack(pack, body, &packed);
        all[n++] = (struct header){STR("Content-Encoding"), str_of(squeeze_name(pack))};
        body = buf_view(&packed);
    }
    metric_add(&c->server->answers[status / 100], 1);
    let_go(c);
    respond(c->request, status, all, n, body); /* c is in the request's memory */
    buf_release(&packed);
}

/* The protocol has one status for what is wrong with a request. */
static int status_of(const struct err *err)
{
    return err->code == ERR_INVALID ? 400 : err_info(err->code)->status;
}

void call_fail(struct call *c, const struct err *err)
{
    static const struct header again = {{"Retry-After", 11}, {"1", 1}};
    auto_buf struct buf text = {0};
    int status = status_of(err);
    struct header headers[2] = {{STR("Content-Type"), STR("application/json")}};
    size_t n = 1;
    if (status == 429 || status == 503)
        headers[n++] = again;
    if (status >= 500)
        log_warn("%s: %.*s: %s", c->trace.id, (int)c->request->path.n, c->request->path.p, err->message);
    v2_error(&text, err);
    call_answer(c, status, headers, n, buf_view(&text));
}

void call_json(struct call *c, struct buf *body)
{
    static const struct header type = {{"Content-Type", 12}, {"application/json", 16}};
    call_answer(c, 200, &type, 1, buf_view(body));
}

void call_count(struct call *c, bool ok)
{
    figures_add(&c->served->figures, ok, clock_mono() - c->began, c->stages);
}

bool call_model(struct call *c)
{
    struct err err = {0};
    c->served = models_find(c->server->o.models, c->name, c->version, &c->part, &err);
    if (c->served)
        return true;
    call_fail(c, &err);
    return false;
}

/* --- the body --- */

struct collecting {
    struct call *c;
    bool waits;
    void (*then)(struct call *c, enum batcher_where where);
};

static void on_pool(void *arg)
{
    struct collecting *k = arg;
    k->then(k->c, BATCHER_WAITS);
}

static bool heavy(const struct call *c)
{
    struct str encoding = request_header(c->request, "content-encoding");
    bool json = !request_header(c->request, "inference-header-content-length").p;
    return c->body.n > (json || encoding.n ? HEAVY_BODY : LARGE_BODY);
}

static void collected(struct request *r, struct str body, bool complete)
{
    struct collecting *k = r->user;
    struct call *c = k->c;
    struct err err = {0};
    c->body = body;
    if (!complete) {
        err_set(&err, ERR_MALFORMED, NULL, "the body did not come whole");
        call_fail(c, &err);
    } else if (!k->waits && !heavy(c)) {
        k->then(c, BATCHER_LOOP);
    } else if (!pool_submit(c->server->pool, on_pool, k)) {
        err_set(&err, ERR_TOO_MANY, NULL, "too many requests wait: try again");
        call_fail(c, &err);
    }
}

/* Also of a body that does not say its length. */
static void too_large(struct request *r)
{
    const struct collecting *k = r->user;
    struct err err = {0};
    err_set(&err, ERR_TOO_LARGE, NULL, "the body is too large; at most %zu bytes are taken",
            k->c->server->o.max_body);
    call_fail(k->c, &err);
}

void call_collect(struct call *c, bool waits, void (*then)(struct call *c, enum batcher_where where))
{
    struct collecting *k = arena_new(c->arena, struct collecting);
    *k = (struct collecting){c, waits, then};
    c->request->user = k;
    /* Nothing is held while the body comes. */
    let_go(c);
    request_collect_else(c->request, c->server->o.max_body, collected, too_large);
}

bool call_expand(struct call *c, struct err *err)
{
    enum squeeze packed;
    if (!squeeze_of(request_header(c->request, "content-encoding"), &packed, err))
        return false;
    if (packed == SQUEEZE_NONE)
        return true;
    if (!squeeze_expand(packed, c->body, c->server->o.max_body, &c->expanded, err))
        return false;
    c->body = c->expanded.n ? buf_view(&c->expanded) : STR("");
    return true;
}

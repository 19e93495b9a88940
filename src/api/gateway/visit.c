#include "api/gateway/visit.h"

#include "base/hash.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* Ids are unique, not secret: what they lead to asks for a permission. */
static uint64_t id_start;
static atomic_uint_least64_t id_next;
static pthread_once_t id_once = PTHREAD_ONCE_INIT;

static void choose_start(void)
{
    random_bytes(&id_start, sizeof id_start);
}

static void number(struct visit *v)
{
    pthread_once(&id_once, choose_start);
    uint64_t n = atomic_fetch_add_explicit(&id_next, 1, memory_order_relaxed) + 1;
    snprintf(v->id, sizeof v->id, "%016" PRIx64 "%016" PRIx64, id_start, n);
}

static bool is_hex(struct str s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return true;
}

/* W3C: 00-<trace>-<parent>-<flags>. One that is not is replaced by one that leads to our id. */
static bool is_trace(struct str s)
{
    return s.n == 55 && s.p[2] == '-' && s.p[35] == '-' && s.p[52] == '-' && is_hex(s, 0, 2) &&
           is_hex(s, 3, 35) && is_hex(s, 36, 52) && is_hex(s, 53, 55) && !str_starts(s, "ff");
}

static void trace(struct visit *v)
{
    struct str given = request_header(v->r, "traceparent");
    if (is_trace(given))
        snprintf(v->trace, sizeof v->trace, STR_FMT, STR_ARG(given));
    else
        snprintf(v->trace, sizeof v->trace, "00-%s-%s-01", v->id, v->id + 16);
}

struct visit *visit_begin(struct core *core, struct request *r)
{
    struct visit *v = arena_new(r->arena, struct visit);
    v->core = core;
    v->r = r;
    v->routes = serve_routes_acquire(core);
    number(v);
    trace(v);
    return v;
}

static void write_line(struct visit *v, int status, uint64_t sent, uint64_t took_us)
{
    char replica[EXEC_ID_MAX];
    const struct serve_upstream *up = v->up;
    if (!v->core->request_log)
        return;
    request_log_add(v->core->request_log,
                    &(struct request_line){.id = v->id,
                                           .service = v->route->service,
                                           .version = v->side ? v->side->version : 0,
                                           .generation = v->side ? v->side->generation : 0,
                                           .replica = up ? exec_id_format(up->id, replica) : NULL,
                                           .key = v->key ? v->key->id : 0,
                                           .user = v->user,
                                           .method = v->r->method,
                                           .path = v->r->path,
                                           .status = status,
                                           .sent = sent,
                                           .took_us = took_us,
                                           .attempts = (unsigned)v->n_tried + (up != NULL)});
}

void visit_end(struct visit *v, int status, uint64_t sent, uint64_t took_us)
{
    if (!v->routes)
        return;
    if (v->route)
        write_line(v, status, sent, took_us);
    if (v->key)
        serve_key_leave(v->route, v->key);
    if (v->entered)
        serve_leave(v->route);
    serve_routes_release(v->routes);
    v->routes = NULL;
    v->route = NULL;
    v->key = NULL;
    v->entered = false;
}

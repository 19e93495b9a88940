#include "core/serve/route.h"

#include "base/log.h"
#include "base/thread.h"
#include "core/serve/gate_own.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#define WAIT_S 10 /* for the first routes */

struct serve_routes {
    atomic_uint refs;
    struct arena arena;
    struct serve_gate *gate; /* NULL until it is published */
    struct routed *routes;
    size_t n;
    struct map *by_name, *by_host, *by_id;
};

/* --- copying --- */

static const char *const *copy_texts(struct arena *a, const char *const *texts, size_t n)
{
    const char **copy = arena_array(a, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_strdup(a, texts[i]);
    return copy;
}

static void copy_side(struct arena *a, struct serve_side *s)
{
    s->upstreams = arena_copy(a, s->upstreams, s->n * sizeof *s->upstreams);
    s->model_name = arena_strdup(a, s->model_name);
}

static void copy_route(struct arena *a, const struct serve_route *from, struct serve_route *to)
{
    *to = *from;
    to->project_name = arena_strdup(a, from->project_name);
    to->name = arena_strdup(a, from->name);
    to->project_title = arena_strdup(a, from->project_title);
    to->title = arena_strdup(a, from->title);
    to->host = arena_strdup(a, from->host);
    to->state = arena_strdup(a, from->state);
    to->reason = arena_strdup(a, from->reason);
    to->reason_zh = arena_strdup(a, from->reason_zh);
    to->aliases = copy_texts(a, from->aliases, from->n_aliases);
    to->origins = copy_texts(a, from->origins, from->n_origins);
    to->keys = arena_copy(a, from->keys, from->n_keys * sizeof *from->keys);
    copy_side(a, &to->production);
    copy_side(a, &to->canary);
}

/* --- names --- */

static void set_new(struct map *m, struct str key, void *value)
{
    if (!map_get(m, key))
        map_set(m, key, value);
}

/* The service under each name that its project has in addresses. */
static void name_it(struct serve_routes *s, struct arena *a, struct routed *r, const char *name)
{
    set_new(s->by_name, str_of(arena_printf(a, "%s/%s", r->r.project_name, name)), r);
    set_new(s->by_name, str_of(arena_printf(a, "id.%" PRId64 "/%s", r->r.project, name)), r);
}

static struct str lower(struct arena *a, struct str s)
{
    char *copy = arena_strz(a, s);
    for (char *c = copy; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return (struct str){copy, s.n};
}

static void name_routes(struct serve_routes *s, struct arena *a)
{
    for (size_t i = 0; i < s->n; i++) {
        struct routed *r = &s->routes[i];
        name_it(s, a, r, r->r.name);
        name_it(s, a, r, arena_printf(a, "id.%" PRId64, r->r.service));
        map_set(s->by_id, str_of(arena_printf(a, "%" PRId64, r->r.service)), r);
        if (r->r.host)
            set_new(s->by_host, lower(a, str_of(r->r.host)), r);
    }
    for (size_t i = 0; i < s->n; i++) {
        struct routed *r = &s->routes[i];
        for (size_t j = 0; j < r->r.n_aliases; j++) {
            if (strchr(r->r.aliases[j], '/'))
                set_new(s->by_name, str_of(r->r.aliases[j]), r);
            else
                name_it(s, a, r, r->r.aliases[j]);
        }
    }
}

/* --- the snapshot --- */

struct serve_routes *serve_routes_new(const struct serve_route *r, size_t n)
{
    struct serve_routes *s = base_zalloc(sizeof *s);
    auto_arena struct arena names;
    arena_init(&names);
    arena_init(&s->arena);
    atomic_init(&s->refs, 1);
    s->n = n;
    s->routes = arena_array(&s->arena, struct routed, n + 1);
    s->by_name = map_new();
    s->by_host = map_new();
    s->by_id = map_new();
    for (size_t i = 0; i < n; i++)
        copy_route(&s->arena, &r[i], &s->routes[i].r);
    name_routes(s, &names);
    return s;
}

void serve_routes_release(struct serve_routes *r)
{
    if (!r || atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    if (r->gate) {
        pthread_mutex_lock(&r->gate->lock);
        gate_unbind(r->gate, r->routes, r->n);
        pthread_mutex_unlock(&r->gate->lock);
    }
    map_free(r->by_name);
    map_free(r->by_host);
    map_free(r->by_id);
    arena_release(&r->arena);
    free(r);
}

void serve_routes_publish(struct core *core, struct serve_routes *routes)
{
    struct serve_gate *g = core->gate;
    pthread_mutex_lock(&g->lock);
    struct serve_routes *former = g->routes;
    routes->gate = g;
    gate_bind(g, routes->routes, routes->n, &routes->arena);
    g->routes = routes;
    g->published = true;
    pthread_cond_broadcast(&g->first);
    if (g->on_publish)
        g->on_publish();
    pthread_mutex_unlock(&g->lock);
    serve_routes_release(former);
}

void serve_routes_on_publish(struct core *core, void (*fn)(void))
{
    pthread_mutex_lock(&core->gate->lock);
    core->gate->on_publish = fn;
    pthread_mutex_unlock(&core->gate->lock);
}

static bool has_services(struct core *core)
{
    auto_arena struct arena a;
    struct db_row row;
    struct err err = {0};
    bool found = false;
    arena_init(&a);
    return db_query_one(core->db, &a, "SELECT 1 FROM services LIMIT 1", DB_NO_ARGS, &row, &found, &err) &&
           found;
}

void serve_routes_wait(struct core *core)
{
    struct serve_gate *g = core->gate;
    uint64_t until = thread_in(WAIT_S);
    if (!has_services(core))
        return;
    pthread_mutex_lock(&g->lock);
    while (!g->published && thread_wait(&g->first, &g->lock, until))
        ;
    if (!g->published)
        log_warn("the routes of services are not there yet: the gateway begins without them");
    pthread_mutex_unlock(&g->lock);
}

struct serve_routes *serve_routes_acquire(struct core *core)
{
    struct serve_gate *g = core->gate;
    pthread_mutex_lock(&g->lock);
    struct serve_routes *r = g->routes;
    atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
    pthread_mutex_unlock(&g->lock);
    return r;
}

/* --- finding --- */

static const struct serve_route *found(const struct routed *r)
{
    return r ? &r->r : NULL;
}

#define ADDRESS_MAX 512 /* bytes of both names */

const struct serve_route *serve_routes_find(const struct serve_routes *r, struct str project,
                                            struct str service)
{
    char key[ADDRESS_MAX];
    if (!project.n || !service.n || project.n + service.n + 1 > sizeof key)
        return NULL;
    memcpy(key, project.p, project.n);
    key[project.n] = '/';
    memcpy(key + project.n + 1, service.p, service.n);
    return found(map_get(r->by_name, (struct str){key, project.n + service.n + 1}));
}

const struct serve_route *serve_routes_host(const struct serve_routes *r, struct str host)
{
    char name[256];
    if (map_count(r->by_host) == 0)
        return NULL;
    struct str port, bare = host.n && host.p[0] == '[' ? host : str_cut(host, ':', &port);
    if (bare.n == 0 || bare.n > sizeof name)
        return NULL;
    for (size_t i = 0; i < bare.n; i++)
        name[i] = bare.p[i] >= 'A' && bare.p[i] <= 'Z' ? (char)(bare.p[i] - 'A' + 'a') : bare.p[i];
    return found(map_get(r->by_host, (struct str){name, bare.n}));
}

const struct serve_route *serve_routes_service(const struct serve_routes *r, int64_t service)
{
    char key[24];
    int n = snprintf(key, sizeof key, "%" PRId64, service);
    return found(map_get(r->by_id, (struct str){key, (size_t)n}));
}

size_t serve_routes_count(const struct serve_routes *r)
{
    return r->n;
}

const struct serve_route *serve_routes_at(const struct serve_routes *r, size_t i)
{
    return &r->routes[i].r;
}

/* From rows to the routes of the gateway. */
#include "base/hash.h"
#include "core/image/repository.h"
#include "core/serve/look.h"
#include "core/serve/route.h"
#include "core/serve/version.h"

/* What the routes need beside services, versions and replicas. */
struct more {
    struct db_rows projects, keys;
};

static bool load_more(struct look *l, struct more *ret, struct err *err)
{
    return db_query(l->core->db, l->arena,
                    "SELECT id, name FROM projects WHERE id IN (SELECT project FROM services) ORDER BY id",
                    DB_NO_ARGS, &ret->projects, err) &&
           db_query(
               l->core->db, l->arena,
               "SELECT service, id, hash, expires_at, rate, burst, concurrency FROM service_keys ORDER BY"
               " service, id",
               DB_NO_ARGS, &ret->keys, err);
}

static struct str project_title(const struct more *m, int64_t project)
{
    for (size_t i = 0; i < m->projects.n; i++)
        if (m->projects.row[i].v[0].i == project)
            return m->projects.row[i].v[1].s;
    return STR("");
}

static double real_of(const struct db_value *v)
{
    return v->type == DB_REAL ? v->r : v->type == DB_INT ? (double)v->i : 0;
}

static void add_keys(struct look *l, const struct more *m, struct serve_route *r)
{
    struct serve_key *keys = arena_array(l->arena, struct serve_key, m->keys.n + 1);
    for (size_t i = 0; i < m->keys.n; i++) {
        const struct db_value *v = m->keys.row[i].v;
        if (v[0].i != r->service)
            continue;
        struct serve_key k = {.id = v[1].i,
                              .expires_at = v[3].type == DB_INT ? v[3].i : 0,
                              .rate = real_of(&v[4]),
                              .burst = v[5].i,
                              .concurrency = v[6].i};
        if (hex_decode(v[2].s, k.hash, sizeof k.hash))
            keys[r->n_keys++] = k;
    }
    r->keys = keys;
}

/* A JSON list of texts; with `names` only those that can stand in an address. */
static const char *const *texts(struct look *l, struct str list, bool names, size_t *ret_n)
{
    struct err ignored = {0};
    yyjson_val *doc = list.n ? json_parse(l->arena, list, &ignored) : NULL, *v;
    const char **all = arena_array(l->arena, const char *, yyjson_arr_size(doc) + 1);
    size_t i, max, n = 0;
    if (doc)
        yyjson_arr_foreach(doc, i, max, v)
        {
            const char *text = arena_strz(l->arena, json_str(v));
            if (!names || strcmp(repository_project_text(l->arena, 0, str_of(text)), "id.0") != 0)
                all[n++] = text;
        }
    *ret_n = n;
    return all;
}

static struct serve_side side_of(struct look *l, const struct look_service *s, enum slot slot)
{
    const struct object *target = s->slot[slot].target;
    size_t most = (size_t)s->slot[slot].ready;
    struct serve_upstream *list = arena_array(l->arena, struct serve_upstream, most + 1);
    struct serve_side side = {.upstreams = list};
    for (size_t i = 0; most && i < l->n_replicas; i++) {
        const struct replica *r = &l->replica[i];
        if (r->service != s->service->id || r->slot != slot || !replica_answers(r) || side.n == most)
            continue;
        list[side.n++] = (struct serve_upstream){
            .id = replica_container(r), .port = r->port, .version = r->version, .key = replica_key(r)};
    }
    if (target) {
        side.version = target->id;
        side.generation = object_int(target, "generation");
        side.model = version_is_model(target);
        side.model_name = arena_strz(l->arena, object_text(s->service, "model_name"));
    }
    return side;
}

static enum serve_resend resend_of(const struct serve_route *r, struct str setting)
{
    bool models = r->production.model && (!r->has_canary || r->canary.model);
    bool all = str_is(setting, "on") || (str_is(setting, "auto") && models);
    return all ? SERVE_RESEND_ALL : SERVE_RESEND_SAFE;
}

static struct serve_route route_of(struct look *l, const struct look_service *s, const struct more *m)
{
    const struct object *o = s->service;
    struct str host = object_text(o, "host"), project = project_title(m, o->project);
    struct serve_route r = {
        .service = o->id,
        .project = o->project,
        .project_name = repository_project_text(l->arena, o->project, project),
        .project_title = arena_strz(l->arena, project),
        .title = arena_strz(l->arena, object_text(o, "name")),
        .name = service_address_name(l->arena, o),
        .host = host.n ? arena_strz(l->arena, host) : NULL,
        .share = object_int(o, "share"),
        .production = side_of(l, s, SLOT_PRODUCTION),
        .canary = side_of(l, s, SLOT_CANARY),
        .has_canary = s->slot[SLOT_CANARY].target != NULL,
        .state = s->state,
        .reason = s->reason.en,
        .reason_zh = s->reason.zh,
        .body_limit = object_int(o, "body_limit"),
        .time_limit_ms = object_int(o, "time_limit_s") * 1000,
    };
    r.resend = resend_of(&r, object_text(o, "resend"));
    r.aliases = texts(l, object_text(o, "former_names"), true, &r.n_aliases);
    r.origins = texts(l, object_text(o, "origins"), false, &r.n_origins);
    add_keys(l, m, &r);
    return r;
}

/* --- is it new? --- */

static void write_side(struct buf *b, const struct serve_side *s)
{
    buf_printf(b, "%lld %lld %d %s:", (long long)s->version, (long long)s->generation, s->model,
               s->model_name ? s->model_name : "");
    for (size_t i = 0; i < s->n; i++)
        buf_printf(b, "%llu/%u/%lld ", (unsigned long long)s->upstreams[i].key, s->upstreams[i].port,
                   (long long)s->upstreams[i].version);
}

static void write_route(struct buf *b, const struct serve_route *r)
{
    buf_printf(b, "%lld %lld %s/%s %s/%s %s %lld %d %d %lld %lld %s %s %s\n", (long long)r->service,
               (long long)r->project, r->project_name, r->name, r->project_title, r->title,
               r->host ? r->host : "", (long long)r->share, r->has_canary, (int)r->resend,
               (long long)r->body_limit, (long long)r->time_limit_ms, r->state, r->reason ? r->reason : "",
               r->reason_zh ? r->reason_zh : "");
    write_side(b, &r->production);
    write_side(b, &r->canary);
    for (size_t i = 0; i < r->n_aliases; i++)
        buf_printf(b, "a %s\n", r->aliases[i]);
    for (size_t i = 0; i < r->n_origins; i++)
        buf_printf(b, "o %s\n", r->origins[i]);
    for (size_t i = 0; i < r->n_keys; i++) {
        const struct serve_key *k = &r->keys[i];
        buf_printf(b, "k %lld %lld %g %lld %lld ", (long long)k->id, (long long)k->expires_at, k->rate,
                   (long long)k->burst, (long long)k->concurrency);
        buf_add(b, k->hash, sizeof k->hash);
    }
}

bool look_publish(struct look *l, uint64_t *seen, struct err *err)
{
    struct more more;
    auto_buf struct buf text = {0};
    if (!load_more(l, &more, err))
        return false;
    struct serve_route *list = arena_array(l->arena, struct serve_route, l->n_services + 1);
    buf_z(&text, "routes\n");
    for (size_t i = 0; i < l->n_services; i++) {
        list[i] = route_of(l, &l->of[i], &more);
        write_route(&text, &list[i]);
    }
    uint64_t now = hash64(buf_view(&text));
    if (now == *seen)
        return true;
    serve_routes_publish(l->core, serve_routes_new(list, l->n_services));
    *seen = now;
    return true;
}

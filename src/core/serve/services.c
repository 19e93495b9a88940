/* The controller of services: looks, compares, does what is missing. */
#include "base/clock.h"
#include "core/controllers.h"
#include "core/row.h"
#include "core/serve/look.h"

#include <pthread.h>
#include <time.h>

#define SOON_NS  UINT64_C(100000000)
#define SETTLE_S 2

struct services {
    struct checks *checks;
    uint64_t published;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t looked;
    uint64_t begun, done; /* looks */
    pthread_t thread;     /* that looks */
};

/* --- looking --- */

static bool load_all(struct look *l, const struct kind *k, struct object **ret, size_t *ret_n,
                     struct err *err)
{
    struct db_rows rows;
    auto_sql struct sql q;
    sql_init(&q);
    row_select(&q, k);
    sql_add(&q, "\"id\" > ");
    sql_arg(&q, db_int(0));
    sql_add(&q, " ORDER BY \"id\"");
    if (!db_query(l->core->db, l->arena, q.text.p, sql_args(&q), &rows, err))
        return false;
    *ret = arena_array(l->arena, struct object, rows.n + 1);
    *ret_n = rows.n;
    for (size_t i = 0; i < rows.n; i++)
        (*ret)[i] = row_read(l->arena, k, &rows.row[i]);
    return true;
}

static const struct object *find(const struct object *list, size_t n, int64_t id)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && list[low].id == id ? &list[low] : NULL;
}

const struct object *look_version(const struct look *l, int64_t id)
{
    return find(l->version, l->n_versions, id);
}

const struct object *look_service_of(const struct look *l, int64_t id)
{
    return find(l->service, l->n_services, id);
}

bool look_objects(struct look *l, struct err *err)
{
    if (!load_all(l, &kind_service, &l->service, &l->n_services, err) ||
        !load_all(l, &kind_service_version, &l->version, &l->n_versions, err))
        return false;
    l->of = arena_array(l->arena, struct look_service, l->n_services + 1);
    for (size_t i = 0; i < l->n_services; i++)
        l->of[i] = (struct look_service){.service = &l->service[i]};
    for (size_t i = 0; i < l->n_versions; i++) {
        const struct object *v = &l->version[i], *s = look_service_of(l, v->parent);
        enum slot slot = slot_of(object_text(v, "role"));
        if (!s || slot == SLOTS)
            continue;
        struct look_slot *at = &l->of[s - l->service].slot[slot];
        at->target = v;
        at->wanted = service_wanted(s, v);
    }
    return true;
}

static void count(struct look *l, struct look_slot *s, const struct replica *r)
{
    bool current =
        s->target && r->version == s->target->id && r->generation == object_int(s->target, "generation");
    s->ready += replica_answers(r);
    if (r->state >= REPLICA_DRAINING)
        return;
    s->alive++;
    s->current += current;
    s->current_ready += current && replica_answers(r);
    s->queued += current && r->job_state == JOB_QUEUED;
    l->starting = l->starting || (r->state == REPLICA_STARTING && r->job_state == JOB_RUNNING);
    if (current && r->state == REPLICA_STARTING && r->reason.n)
        s->waits = (struct words){arena_strz(l->arena, r->reason),
                                  arena_strz(l->arena, r->reason_zh.n ? r->reason_zh : r->reason)};
}

bool look_replicas(struct look *l, struct err *err)
{
    if (!replica_list(l->core, l->arena, &l->replica, &l->n_replicas, err))
        return false;
    l->starting = false;
    for (size_t i = 0; i < l->n_services; i++)
        for (int k = 0; k < SLOTS; k++) {
            struct look_slot *s = &l->of[i].slot[k];
            *s = (struct look_slot){.target = s->target, .wanted = s->wanted};
        }
    for (size_t i = 0; i < l->n_replicas; i++) {
        const struct replica *r = &l->replica[i];
        const struct object *s = look_service_of(l, r->service);
        if (s && r->slot != SLOTS)
            count(l, &l->of[s - l->service].slot[r->slot], r);
    }
    return true;
}

/* --- the row --- */

static void count_look(struct services *s, uint64_t *which, uint64_t n)
{
    pthread_mutex_lock(&s->lock);
    s->thread = pthread_self();
    *which = n;
    pthread_cond_broadcast(&s->looked);
    pthread_mutex_unlock(&s->lock);
}

void services_settle(struct core *core)
{
    struct services *s = core->services;
    struct timespec until;
    controller_wake(core, &controller_services);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SETTLE_S;
    pthread_mutex_lock(&s->lock);
    uint64_t wanted = s->begun + 1; /* the first that begins from now on */
    bool own = s->begun && pthread_equal(s->thread, pthread_self());
    while (!own && s->begun && s->done < wanted &&
           pthread_cond_timedwait(&s->looked, &s->lock, &until) == 0) {
    }
    pthread_mutex_unlock(&s->lock);
}

/* What failed of one step, or of one service, is told and holds up no other. */
static bool step(bool ok, struct err *one, struct err *err)
{
    if (!ok)
        err_keep(err, one);
    *one = (struct err){0};
    return ok;
}

static bool look(struct core *core, bool *ret_soon, struct err *err)
{
    struct err one = {0};
    struct services *s = core->services;
    auto_arena struct arena a;
    arena_init(&a);
    struct look l = {.core = core, .arena = &a, .now = clock_now()};
    jobs_exec_wait(core->jobs);
    if (!look_objects(&l, err) || !look_replicas(&l, err))
        return false;
    bool ok = step(look_settle(&l, &one), &one, err);
    if (!look_replicas(&l, err))
        return false;
    ok &= step(look_check(&l, s->checks, &one), &one, err);
    ok &= step(look_judge(&l, &one), &one, err);
    if (!look_objects(&l, err) || !look_replicas(&l, err))
        return false;
    ok &= step(look_roll(&l, &one), &one, err);
    if (!look_replicas(&l, err))
        return false;
    ok &= step(look_tell(&l, &one), &one, err);
    ok &= step(look_publish(&l, &s->published, &one), &one, err);
    *ret_soon = l.changed || l.starting;
    return ok;
}

static bool tick(struct core *core, struct err *err)
{
    struct services *s = core->services;
    count_look(s, &s->begun, s->begun + 1);
    bool soon = false, ok = look(core, &soon, err);
    count_look(s, &s->done, s->begun);
    if (soon) {
        controller_wake(core, &controller_services);
        controller_rest(core, &controller_services, SOON_NS);
    }
    return ok;
}

void services_wake(struct core *core)
{
    controller_wake(core, &controller_services);
}

static bool start(struct core *core, const struct core_options *o, struct err *err)
{
    (void)o;
    (void)err;
    core->services = base_zalloc(sizeof *core->services);
    core->services->checks = checks_new();
    pthread_mutex_init(&core->services->lock, NULL);
    pthread_cond_init(&core->services->looked, NULL);
    return true;
}

static void free_services(struct core *core)
{
    checks_free(core->services->checks);
    pthread_mutex_destroy(&core->services->lock);
    pthread_cond_destroy(&core->services->looked);
    free(core->services);
}

const struct controller controller_services = {
    .name = "services",
    .title = {"Starts, checks and replaces the replicas of services, publishes their routes",
              "启动、检查和替换服务副本，发布路由"},
    .thread = "services",
    .first_s = 0,
    .every_s = 1,
    .start = start,
    .tick = tick,
    .free = free_services,
};

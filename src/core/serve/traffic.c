#include "core/serve/traffic.h"

#include "base/clock.h"
#include "core/controllers.h"
#include "core/serve/gate_own.h"
#include "core/serve/judge_keep.h"
#include "core/serve/request_log.h"
#include "core/serve/traffic_curve.h"

#include <stdio.h>

const char *const serve_class_names[SERVE_CLASSES] = {
    [SERVE_OK] = "ok",         [SERVE_CLIENT] = "client",   [SERVE_ERROR] = "error",
    [SERVE_FAILED] = "failed", [SERVE_TIMEOUT] = "timeout", [SERVE_LEFT] = "left",
};

/* --- counting --- */

void serve_traffic_add(const struct serve_route *r, const struct serve_side *side, enum serve_class class,
                       uint64_t us)
{
    struct version_mark *v = bound_of(r, side)->version;
    if (!v)
        return;
    struct traffic_counts *c = &v->shard[metric_shard()];
    metric_add(&c->class[class], 1);
    if (class == SERVE_OK || class == SERVE_CLIENT || class == SERVE_ERROR) {
        metric_add(&c->times[judge_bucket(us)], 1);
        metric_add(&c->sum_us, us);
    }
}

static uint64_t count_of(const struct version_mark *v, enum serve_class class)
{
    uint64_t n = 0;
    for (size_t i = 0; i < METRIC_SHARDS; i++)
        n += metric_read(&v->shard[i].class[class]);
    return n;
}

void traffic_read(const struct version_mark *v, struct judge_side *ret)
{
    *ret = (struct judge_side){0};
    for (int c = 0; c < SERVE_CLASSES; c++) {
        uint64_t n = count_of(v, c);
        ret->requests += c == SERVE_LEFT ? 0 : n;
        ret->errors += c == SERVE_ERROR || c == SERVE_FAILED || c == SERVE_TIMEOUT ? n : 0;
    }
    for (size_t i = 0; i < METRIC_SHARDS; i++)
        for (size_t b = 0; b < JUDGE_BUCKETS; b++)
            ret->times[b] += metric_read(&v->shard[i].times[b]);
}

/* --- versions come and go --- */

void traffic_bind(struct version_mark *v, const struct serve_route *r, int64_t version)
{
    if (!v->shard) {
        size_t size = METRIC_SHARDS * sizeof *v->shard;
        v->shard = aligned_alloc(_Alignof(struct traffic_counts), size);
        if (!v->shard)
            abort();
        memset(v->shard, 0, size);
    }
    v->version = version;
    v->service = r->service;
    snprintf(v->project_name, sizeof v->project_name, "%s", r->project_name);
    snprintf(v->service_name, sizeof v->service_name, "%s", r->name);
}

static void total(const struct version_mark *v, struct traffic_total *ret)
{
    traffic_read(v, &ret->side);
    for (int c = 0; c < SERVE_CLASSES; c++)
        ret->class[c] = count_of(v, c);
}

/* What it answered since it was rolled last counts, too. */
void traffic_unbind(struct version_mark *v)
{
    struct traffic_total t;
    if (v->curve) {
        total(v, &t);
        traffic_curve_end(v->curve, &t, clock_now());
    }
    traffic_curve_close(v->curve);
    free(v->shard);
}

/* --- the canary's trial --- */

void traffic_trial(struct serve_gate *g, struct routed *r)
{
    struct service_mark *m = r->service;
    const struct serve_side *p = &r->r.production, *c = &r->r.canary;
    if (!r->r.has_canary || !r->side[0].version || !r->side[1].version) {
        free(m->trial);
        m->trial = NULL;
        return;
    }
    if (m->trial && m->trial->production == p->version && m->trial->canary == c->version &&
        m->trial->generation == c->generation)
        return;
    if (!m->trial)
        m->trial = base_alloc(sizeof *m->trial);
    *m->trial = (struct trial){.production = p->version,
                               .canary = c->version,
                               .generation = c->generation,
                               .awaits = !g->published,
                               .kept = TRIAL_NEW};
    traffic_read(r->side[0].version, &m->trial->before[0]);
    traffic_read(r->side[1].version, &m->trial->before[1]);
}

bool traffic_trial_now(struct serve_gate *g, int64_t service, struct serve_trial *ret)
{
    const struct service_mark *m = gate_mark_find(g, 's', (uint64_t)service);
    const struct trial *t = m ? m->trial : NULL;
    const struct version_mark *p = t ? gate_mark_find(g, 'v', (uint64_t)t->production) : NULL;
    const struct version_mark *c = t ? gate_mark_find(g, 'v', (uint64_t)t->canary) : NULL;
    struct judge_side now;
    if (!p || !c)
        return false;
    ret->production = t->production;
    ret->canary = t->canary;
    ret->generation = t->generation;
    for (size_t i = 0; i < 2; i++) {
        traffic_read(i ? c : p, &now);
        judge_minus(&now, &t->before[i], &ret->side[i]);
        judge_add(&ret->side[i], &t->earlier[i]);
    }
    return true;
}

bool serve_traffic_trial(struct core *core, int64_t service, struct serve_trial *ret)
{
    pthread_mutex_lock(&core->gate->lock);
    bool found = traffic_trial_now(core->gate, service, ret);
    pthread_mutex_unlock(&core->gate->lock);
    return found;
}

bool serve_traffic_version(struct core *core, int64_t version, struct judge_side *ret)
{
    struct serve_gate *g = core->gate;
    pthread_mutex_lock(&g->lock);
    const struct version_mark *v = gate_mark_find(g, 'v', (uint64_t)version);
    if (v)
        traffic_read(v, ret);
    pthread_mutex_unlock(&g->lock);
    return v != NULL;
}

/* --- once a second --- */

static void roll(struct core *core, struct version_mark *v, int64_t now)
{
    struct traffic_total t;
    if (!v->curve)
        v->curve = traffic_curve_open(core, v->version);
    total(v, &t);
    traffic_curve_roll(v->curve, &t, now);
}

bool serve_traffic_roll(struct core *core, struct err *err)
{
    struct serve_gate *g = core->gate;
    struct str name;
    void *value;
    int64_t now = clock_now();
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; map_next(g->marks, &i, &name, &value);)
        if (name.p[0] == 'v')
            roll(core, value, now);
    pthread_mutex_unlock(&g->lock);
    bool kept = judge_keep(core, err); /* either is tried when the other fails */
    return request_log_flush(core->request_log, err) && kept;
}

static bool start(struct core *core, const struct core_options *o, struct err *err)
{
    (void)o;
    core->request_log = request_log_open(core->data, err);
    return core->request_log != NULL;
}

/* The series end before the marks do. */
static void stop(struct core *core)
{
    struct serve_gate *g = core->gate;
    struct str name;
    void *value;
    struct err err = {0};
    serve_traffic_roll(core, &err);
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; map_next(g->marks, &i, &name, &value);) {
        struct version_mark *v = value;
        if (name.p[0] != 'v')
            continue;
        traffic_curve_close(v->curve);
        v->curve = NULL;
    }
    pthread_mutex_unlock(&g->lock);
}

static void end(struct core *core)
{
    request_log_close(core->request_log);
    core->request_log = NULL;
}

const struct controller controller_traffic = {
    .name = "service-traffic",
    .title = {"Add up the requests of services", "汇总服务的请求"},
    .thread = "traffic",
    .first_s = 1,
    .every_s = 1,
    .after_requests = true,
    .start = start,
    .tick = serve_traffic_roll,
    .stop = stop,
    .free = end,
};

/* --- as text --- */

typedef void each_version(const struct version_mark *v, const char *const *labels, const char *name,
                          struct buf *out);

static void write_versions(struct core *core, const char *name, each_version *fn, struct buf *out)
{
    struct serve_gate *g = core->gate;
    struct str key;
    void *value;
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; map_next(g->marks, &i, &key, &value);) {
        const struct version_mark *v = value;
        if (key.p[0] != 'v')
            continue;
        char version[24];
        snprintf(version, sizeof version, "%lld", (long long)v->version);
        const char *labels[] = {
            "project", v->project_name, "service", v->service_name, "version", version, NULL, NULL, NULL};
        fn(v, labels, name, out);
    }
    pthread_mutex_unlock(&g->lock);
}

static void write_counts(const struct version_mark *v, const char *const *labels, const char *name,
                         struct buf *out)
{
    const char *with[9] = {labels[0], labels[1], labels[2], labels[3], labels[4], labels[5], "class"};
    for (int c = 0; c < SERVE_CLASSES; c++) {
        with[7] = serve_class_names[c];
        metric_value(out, name, "_total", with, (double)count_of(v, c));
    }
}

/* The platform's buckets, out of the finer ones. */
static void write_times(const struct version_mark *v, const char *const *labels, const char *name,
                        struct buf *out)
{
    struct judge_side s;
    struct metric_times times = {0};
    traffic_read(v, &s);
    for (unsigned b = 0; b < JUDGE_BUCKETS; b++) {
        size_t at = 0;
        while (at < METRIC_BOUNDS && judge_bucket_us(b) > metric_bounds[at].us)
            at++;
        metric_add(&times.shard[0].bucket[at], s.times[b]);
    }
    for (size_t i = 0; i < METRIC_SHARDS; i++)
        metric_add(&times.shard[0].sum_us, metric_read(&v->shard[i].sum_us));
    metric_times_write(out, name, labels, &times);
}

void serve_traffic_metrics(struct core *core, const char *name, struct buf *out)
{
    write_versions(core, name, write_counts, out);
}

void serve_traffic_times(struct core *core, const char *name, struct buf *out)
{
    write_versions(core, name, write_times, out);
}

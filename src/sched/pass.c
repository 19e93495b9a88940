#include "sched/pass.h"
#include "sched/play.h"

void pass_init(struct pass *p, const struct sched_snapshot *s, struct arena *a)
{
    const struct sched_options *o = &s->options;
    *p = (struct pass){.s = s, .arena = a, .least_priority = INT32_MAX};
    p->aging = o->aging ? o->aging : INT64_C(3600000000);
    p->grace = o->grace ? o->grace : INT64_C(30000000);
    p->max_evicting = o->max_evicting ? o->max_evicting : 16;
    cluster_init(&p->cluster, s, a);
    view_init(&p->now, &p->cluster, a);
    for (int32_t i = 0; i < s->n_running; i++) {
        const struct sched_running *r = &s->running[i];
        for (int32_t k = 0; k < r->n_ranks; k++)
            view_apply(&p->now, &p->cluster, &r->ranks[k], &r->request, -1);
        if (r->preemptible && !r->stopping && r->priority < p->least_priority)
            p->least_priority = r->priority;
    }
    view_build_tree(&p->now, &p->cluster, a);
    shapes_init(&p->shapes, &p->cluster, a);
    quotas_init(&p->quotas, s, a);
    share_init(&p->share, &p->quotas, p->aging, a);
    p->reservations = arena_array(a, struct reservation, (size_t)p->cluster.n_classes + 1);
    p->reserved = arena_array(a, bool, (size_t)p->cluster.n_slots + 1);
    p->evicted = arena_array(a, bool, (size_t)s->n_running + 1);
    p->evictions = arena_array(a, struct sched_eviction, (size_t)s->n_running + 1);
    p->promises = arena_array(a, struct sched_promise, (size_t)s->n_waiting + 1);
    p->settled = arena_array(a, bool, (size_t)s->n_waiting + 1);
    p->waits = arena_array(a, struct sched_wait, (size_t)s->n_waiting + 1);
    p->starts = arena_array(a, struct sched_start, (size_t)s->n_waiting + 1);
    p->live = arena_array(a, struct live, (size_t)s->n_waiting + 1);
    p->order = arena_array(a, int32_t, (size_t)s->n_waiting + 1);
    p->shape_of = arena_array(a, struct shape *, (size_t)s->n_waiting + 1);
    preempt_init(p);
}

const struct sched_rank *pass_take(struct pass *p, const struct candidate *k, struct view *done)
{
    int32_t n = k->job->n_ranks, project = k->job->project;
    const struct sched_rank *ranks = fit_keep(p->scratch.ranks, n, p->arena);
    for (int32_t i = 0; i < n; i++) {
        int32_t slot = p->cluster.slot_of[ranks[i].node];
        if (done == &p->after) {
            /* What is free already is for this job, so that it does not wait for more to stop than it must.
             */
            view_apply(&p->now, &p->cluster, &ranks[i], &k->job->request, -1);
            view_limit(&p->now, &p->cluster, slot, &p->after);
        } else {
            if (done != &p->now)
                view_apply(&p->now, &p->cluster, &ranks[i], &k->job->request, -1);
            if (p->has_after)
                view_apply(&p->after, &p->cluster, &ranks[i], &k->job->request, -1);
        }
        if (p->has_held && done != &p->held)
            view_limit(&p->held, &p->cluster, slot, &p->now);
    }
    quota_add(&p->quotas, p->quotas.used, project, &k->demand, 1);
    quota_add(&p->quotas, p->quotas.later, project, &k->demand, 1);
    quota_pass_hold(&p->quotas, project, &k->demand, k->end);
    int64_t wait = done == &p->after && k->end != SCHED_NEVER ? p->grace : 0;
    p->live[p->n_live++] = (struct live){ranks, &k->job->request, n, project, k->end + wait};
    return ranks;
}

static bool start(struct pass *p, const struct candidate *k)
{
    struct shape *shape = k->shape;
    bool delays = backfill_delays(p, k);
    struct view *view = delays ? &p->held : &p->now;
    int32_t *refused = delays ? &shape->refused_held : &shape->refused_now, n = k->job->n_ranks;
    if (n >= *refused || n >= shape->refused_now)
        return false;
    if (!fit_gang(view, &p->cluster, shape, n, &p->scratch, p->arena)) {
        *refused = n;
        return false;
    }
    const struct sched_rank *ranks = pass_take(p, k, view);
    p->starts[p->n_starts++] = (struct sched_start){k->index, ranks, n};
    return true;
}

/* Whether there is room at this moment, reserved or not. */
static bool has_room(struct pass *p, const struct candidate *k)
{
    struct shape *shape = k->shape;
    int32_t n = k->job->n_ranks;
    if (n >= shape->refused_now)
        return false;
    if (!fit_gang(&p->now, &p->cluster, shape, n, &p->scratch, p->arena)) {
        shape->refused_now = n;
        return false;
    }
    for (int32_t i = 0; i < n; i++)
        view_apply(&p->now, &p->cluster, &p->scratch.ranks[i], &k->job->request, 1);
    return true;
}

static struct sched_wait quota_wait(const struct pass *p, const struct candidate *k, enum sched_reason reason,
                                    int32_t i)
{
    int32_t r = k->demand.resource[i], project = k->job->project;
    return (struct sched_wait){
        .reason = reason,
        .resource = r < RESOURCE_DEVICE ? (enum sched_resource)r : SCHED_DEVICE,
        .kind = r < RESOURCE_DEVICE ? 0 : r - RESOURCE_DEVICE,
        .pool = SCHED_NONE,
        .wanted = k->demand.amount[i],
        .limit = quota_limit(p->s, project, r),
        .used = p->quotas.used[(size_t)project * (size_t)p->quotas.width + (size_t)r],
    };
}

/* For jobs that could run some day but not now. */
static struct sched_wait hold_back(struct pass *p, const struct candidate *k)
{
    struct sched_wait w = {.reason = SCHED_TURN, .pool = SCHED_NONE, .count = p->n_blocked++};
    int32_t late = quota_short(&p->quotas, p->quotas.later, k->job->project, &k->demand);
    if (late >= 0) {
        w = quota_wait(p, k, SCHED_QUOTA, late);
        w.estimate = backfill_hold_quota(p, k);
        return w;
    }
    if (!quota_passes_hold(&p->quotas, k->job->project, &k->demand, k->end))
        return w;
    int32_t evicted = 0;
    if (preempt_claim(p, k) || (evicted = preempt_for(p, k))) {
        w.reason = SCHED_EVICTING;
        w.count = evicted;
        w.estimate = p->s->now + p->grace;
        return w;
    }
    int32_t short_now = quota_short(&p->quotas, p->quotas.used, k->job->project, &k->demand);
    bool head = backfill_reserve(p, k, &w.estimate);
    if (short_now >= 0) {
        int64_t estimate = w.estimate;
        w = quota_wait(p, k, SCHED_QUOTA, short_now);
        w.estimate = estimate;
    } else if (head || !has_room(p, k)) {
        w.reason = SCHED_RESOURCE;
    }
    return w;
}

static void prepare(struct pass *p, struct candidate *k)
{
    const struct sched_waiting *job = k->job;
    k->shape = p->shape_of[k->index] = shapes_get(&p->shapes, job);
    k->demand = demand_of(&job->request, job->n_ranks);
    k->end = job->duration ? p->s->now + job->duration : SCHED_NEVER;
}

static struct sched_wait consider(struct pass *p, struct candidate *k)
{
    const struct sched_waiting *job = k->job;
    struct sched_wait w = {.reason = SCHED_STARTS, .pool = SCHED_NONE};
    if (job->not_before > p->s->now) {
        w.reason = SCHED_BACKOFF;
        w.until = w.estimate = job->not_before;
        return w;
    }
    prepare(p, k);
    if (why_never(p, k, &w))
        return w;
    int32_t over = quota_over(&p->quotas, job->project, &k->demand);
    if (over >= 0)
        return quota_wait(p, k, SCHED_OVER_QUOTA, over);
    if (p->s->options.no_backfill && p->n_blocked) {
        w.reason = SCHED_TURN;
        w.count = p->n_blocked++;
        return w;
    }
    if (quota_short(&p->quotas, p->quotas.used, job->project, &k->demand) < 0 &&
        quota_passes_hold(&p->quotas, job->project, &k->demand, k->end) && start(p, k))
        return w;
    return hold_back(p, k);
}

/* Gives a job the room that it was promised, now or when the jobs that have it have gone. */
static void redeem(struct pass *p, int32_t i)
{
    struct candidate k = {.index = i, .job = &p->s->waiting[i]};
    int32_t n = k.job->n_ranks, project = k.job->project;
    if (k.job->not_before > p->s->now)
        return;
    prepare(p, &k);
    fit_scratch_reserve(&p->scratch, n, &k.job->request, p->arena);
    memcpy(p->scratch.ranks, k.job->promised, sizeof *k.job->promised * (size_t)n);
    struct sched_wait w = {.reason = SCHED_STARTS, .pool = SCHED_NONE};
    if (quota_short(&p->quotas, p->quotas.used, project, &k.demand) < 0 &&
        fit_exact(&p->now, &p->cluster, &k.job->request, k.job->promised, n)) {
        p->starts[p->n_starts++] = (struct sched_start){i, pass_take(p, &k, &p->now), n};
    } else if (p->has_after && quota_short(&p->quotas, p->quotas.later, project, &k.demand) < 0 &&
               fit_exact(&p->after, &p->cluster, &k.job->request, k.job->promised, n)) {
        pass_take(p, &k, &p->after);
        w.reason = SCHED_EVICTING;
        w.estimate = p->s->now + p->grace;
    } else {
        return;
    }
    p->waits[i] = w;
    p->settled[i] = true;
    p->order[p->n_order++] = i;
}

static int by_promise(const void *va, const void *vb, void *snapshot)
{
    const struct sched_snapshot *s = snapshot;
    const struct sched_waiting *a = &s->waiting[*(const int32_t *)va], *b = &s->waiting[*(const int32_t *)vb];
    if (a->promised_at != b->promised_at)
        return a->promised_at < b->promised_at ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static void redeem_all(struct pass *p)
{
    int32_t *promised = arena_array(p->arena, int32_t, (size_t)p->s->n_waiting + 1), n = 0;
    for (int32_t i = 0; i < p->s->n_waiting; i++)
        if (p->s->waiting[i].promised)
            promised[n++] = i;
    qsort_r(promised, (size_t)n, sizeof *promised, by_promise, (void *)p->s);
    for (int32_t i = 0; i < n; i++)
        redeem(p, promised[i]);
}

void pass_run(struct pass *p)
{
    redeem_all(p);
    for (int32_t i; (i = share_next(&p->share)) != SCHED_NONE;) {
        struct candidate k = {.index = i, .job = &p->s->waiting[i]};
        if (p->settled[i])
            continue;
        p->order[p->n_order++] = i;
        p->waits[i] = consider(p, &k);
    }
    why_finish(p);
}

bool sched_pass(const struct sched_snapshot *s, struct arena *a, struct sched_plan *ret, struct err *err)
{
    if (!sched_check(s, err))
        return false;
    struct pass p;
    pass_init(&p, s, a);
    pass_run(&p);
    if (s->options.estimates > 0)
        play_estimates(&p);
    *ret = (struct sched_plan){
        .starts = p.starts,
        .n_starts = p.n_starts,
        .evictions = p.evictions,
        .n_evictions = p.n_evictions,
        .promises = p.promises,
        .n_promises = p.n_promises,
        .waits = p.waits,
        .n_waits = s->n_waiting,
    };
    return true;
}

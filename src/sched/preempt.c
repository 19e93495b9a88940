/* Room from jobs that stop. Those that are being stopped already come first: what they leave can be claimed.
 * If that is not enough, jobs of lower priority are evicted: rank by rank on the slot where it costs least,
 * and at the end those that turn out not to be needed are let be. */
#include "sched/pass.h"

enum { VICTIMS_SEEN_MAX = 2000000, VICTIMS_PER_SLOT_MAX = 256 };

void preempt_init(struct pass *p)
{
    const struct sched_snapshot *s = p->s;
    for (int32_t i = 0; i < s->n_running; i++) {
        const struct sched_running *r = &s->running[i];
        if (!r->stopping)
            continue;
        if (!p->has_after) {
            view_copy(&p->after, &p->now, &p->cluster, p->arena);
            p->has_after = true;
        }
        for (int32_t k = 0; k < r->n_ranks; k++)
            view_apply(&p->after, &p->cluster, &r->ranks[k], &r->request, 1);
    }
}

bool preempt_claim(struct pass *p, const struct candidate *k)
{
    struct shape *shape = k->shape;
    if (!p->has_after)
        return false;
    if (shape->after_epoch != p->after_epoch) {
        shape->after_epoch = p->after_epoch;
        shape->refused_after = INT32_MAX;
    }
    if (k->job->n_ranks >= shape->refused_after)
        return false;
    if (!fit_gang(&p->after, &p->cluster, shape, k->job->n_ranks, &p->scratch, p->arena)) {
        shape->refused_after = k->job->n_ranks;
        return false;
    }
    pass_take(p, k, &p->after);
    return true;
}

/* --- jobs that could be evicted, by slot, cheapest first --- */

/* Least priority, then least work lost. */
static int cheaper(const void *va, const void *vb, void *snapshot)
{
    const struct sched_snapshot *s = snapshot;
    const struct sched_running *a = &s->running[*(const int32_t *)va], *b = &s->running[*(const int32_t *)vb];
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    if (a->started_at != b->started_at)
        return a->started_at > b->started_at ? -1 : 1;
    return (a->id < b->id) - (a->id > b->id);
}

static bool evictable(const struct pass *p, int32_t running)
{
    const struct sched_running *r = &p->s->running[running];
    if (!r->preemptible || r->stopping)
        return false;
    for (int32_t i = 0; i < r->n_ranks; i++) {
        int32_t slot = p->cluster.slot_of[r->ranks[i].node];
        if (slot != SCHED_NONE && p->reserved[slot])
            return false;
    }
    return true;
}

static void list_victims(struct pass *p)
{
    if (p->victims)
        return;
    const struct sched_snapshot *s = p->s;
    const struct cluster *c = &p->cluster;
    int32_t *order = arena_array(p->arena, int32_t, (size_t)s->n_running + 1), n = 0;
    p->first_victim = arena_array(p->arena, int32_t, (size_t)c->n_slots + 2);
    int32_t *first = p->first_victim;
    for (int32_t i = 0; i < s->n_running; i++) {
        if (!evictable(p, i))
            continue;
        order[n++] = i;
        for (int32_t k = 0; k < s->running[i].n_ranks; k++)
            first[c->slot_of[s->running[i].ranks[k].node] + 2]++;
    }
    qsort_r(order, (size_t)n, sizeof *order, cheaper, (void *)s);
    first[1] = 0; /* ranks on nodes without a slot */
    for (int32_t i = 1; i <= c->n_slots + 1; i++)
        first[i] += first[i - 1];
    p->victims = arena_array(p->arena, struct victim, (size_t)first[c->n_slots + 1] + 1);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < s->running[order[i]].n_ranks; k++) {
            int32_t slot = c->slot_of[s->running[order[i]].ranks[k].node];
            if (slot != SCHED_NONE)
                p->victims[first[slot + 1]++] = (struct victim){order[i], k};
        }
}

/* --- one attempt --- */

struct cost {
    int32_t priority, jobs;
    int64_t lost; /* microseconds of work, over all ranks */
};

static bool costs_less(const struct cost *a, const struct cost *b)
{
    if (a->priority != b->priority)
        return a->priority < b->priority;
    return a->jobs != b->jobs ? a->jobs < b->jobs : a->lost < b->lost;
}

struct attempt {
    struct pass *pass;
    const struct candidate *k;
    bool *gone;      /* by running job */
    int32_t *chosen; /* running jobs */
    int32_t n_chosen;
    bool *used; /* by slot, for gangs that spread; else NULL */
    struct sched_rank *ranks;
    struct sched_share *shares;
};

/* What would have to go so that one rank fits into the slot; false if that is not possible or costs more than
 * best. The trial view is as before afterwards. */
static bool price_slot(struct attempt *t, int32_t slot, const struct cost *best, struct cost *ret,
                       struct victim *set, int32_t *ret_n)
{
    struct pass *p = t->pass;
    const struct sched_demand *r = &t->k->job->request;
    struct cost cost = {.priority = INT32_MIN};
    int32_t n = 0;
    bool fits = fit_count(&p->trial, &p->cluster, slot, r, 1) > 0;
    for (int32_t i = p->first_victim[slot]; i < p->first_victim[slot + 1] && !fits; i++) {
        const struct sched_running *v = &p->s->running[p->victims[i].running];
        p->victims_seen++;
        if (v->priority >= t->k->job->priority || n == VICTIMS_PER_SLOT_MAX)
            break;
        if (t->gone[p->victims[i].running] || p->evicted[p->victims[i].running] ||
            !evictable(p, p->victims[i].running))
            continue;
        bool again = n > 0 && set[n - 1].running == p->victims[i].running;
        cost.priority = v->priority;
        cost.jobs += !again;
        cost.lost += again ? 0 : (p->s->now - v->started_at) * v->n_ranks;
        if (best->jobs >= 0 && !costs_less(&cost, best))
            break;
        set[n++] = p->victims[i];
        view_apply(&p->trial, &p->cluster, &v->ranks[p->victims[i].rank], &v->request, 1);
        fits = fit_count(&p->trial, &p->cluster, slot, r, 1) > 0;
    }
    for (int32_t i = 0; i < n; i++) {
        const struct sched_running *v = &p->s->running[set[i].running];
        view_apply(&p->trial, &p->cluster, &v->ranks[set[i].rank], &v->request, -1);
    }
    *ret = cost;
    *ret_n = n;
    return fits;
}

static void release(struct attempt *t, int32_t running, int sign)
{
    const struct sched_running *v = &t->pass->s->running[running];
    for (int32_t i = 0; i < v->n_ranks; i++)
        view_apply(&t->pass->trial, &t->pass->cluster, &v->ranks[i], &v->request, sign);
    t->gone[running] = sign > 0;
}

/* The slot where one more rank costs least, SCHED_NONE if there is none; its victims are in set. */
static int32_t cheapest_slot(struct attempt *t, struct victim *set, int32_t *ret_n)
{
    struct pass *p = t->pass;
    struct cost best = {.jobs = -1};
    struct victim trying[VICTIMS_PER_SLOT_MAX];
    int32_t found = SCHED_NONE;
    const struct target *target = t->k->shape->target;
    for (int32_t i = 0; i < target->n_classes; i++) {
        const struct class *class = &p->cluster.classes[target->classes[i]];
        for (int32_t slot = class->lo; slot < class->hi; slot++) {
            struct cost cost;
            int32_t n;
            if (p->reserved[slot] || (t->used && t->used[slot]) ||
                !price_slot(t, slot, &best, &cost, trying, &n))
                continue;
            if (best.jobs >= 0 && n && !costs_less(&cost, &best))
                continue;
            best = cost;
            found = slot;
            *ret_n = n;
            memcpy(set, trying, sizeof *set * (size_t)n);
            if (!n)
                return found;
        }
    }
    return found;
}

static bool place_ranks(struct attempt *t)
{
    struct pass *p = t->pass;
    struct victim set[VICTIMS_PER_SLOT_MAX];
    size_t per_rank = (size_t)fit_shares(&t->k->job->request);
    for (int32_t i = 0; i < t->k->job->n_ranks; i++) {
        int32_t n = 0, slot = cheapest_slot(t, set, &n);
        if (slot == SCHED_NONE || p->victims_seen > VICTIMS_SEEN_MAX)
            return false;
        for (int32_t v = 0; v < n; v++) {
            if (t->gone[set[v].running])
                continue;
            release(t, set[v].running, 1);
            t->chosen[t->n_chosen++] = set[v].running;
        }
        fit_slot(&p->trial, &p->cluster, slot, &t->k->job->request, t->shares + per_rank * (size_t)i,
                 &t->ranks[i]);
        if (t->used)
            t->used[slot] = true;
    }
    return true;
}

static bool slots_hold(const struct attempt *t, const struct sched_running *v)
{
    bool sound = true;
    for (int32_t i = 0; i < v->n_ranks && sound; i++)
        sound = fit_sound(&t->pass->trial, &t->pass->cluster, &v->ranks[i]);
    return sound;
}

/* Puts back those whose room is not needed, the dearest first. */
static void spare_victims(struct attempt *t)
{
    qsort_r(t->chosen, (size_t)t->n_chosen, sizeof *t->chosen, cheaper, (void *)t->pass->s);
    for (int32_t i = t->n_chosen - 1; i >= 0; i--) {
        release(t, t->chosen[i], -1);
        if (!slots_hold(t, &t->pass->s->running[t->chosen[i]])) {
            release(t, t->chosen[i], 1);
            continue;
        }
        memmove(&t->chosen[i], &t->chosen[i + 1], sizeof *t->chosen * (size_t)(t->n_chosen - i - 1));
        t->n_chosen--;
    }
}

static void evict(struct attempt *t)
{
    struct pass *p = t->pass;
    if (!p->has_after) { /* reserved room is not for jobs that come later */
        view_copy(&p->after, p->has_held ? &p->held : &p->now, &p->cluster, p->arena);
        p->has_after = true;
    }
    for (int32_t i = 0; i < t->n_chosen; i++) {
        const struct sched_running *v = &p->s->running[t->chosen[i]];
        struct demand d = demand_of(&v->request, v->n_ranks);
        for (int32_t k = 0; k < v->n_ranks; k++)
            view_apply(&p->after, &p->cluster, &v->ranks[k], &v->request, 1);
        quota_add(&p->quotas, p->quotas.later, v->project, &d, -1);
        p->evicted[t->chosen[i]] = true;
        p->evictions[p->n_evictions++] = (struct sched_eviction){t->chosen[i], t->k->index};
    }
    for (int32_t i = 0; i < t->k->job->n_ranks; i++)
        view_apply(&p->after, &p->cluster, &t->ranks[i], &t->k->job->request, -1);
    p->after_epoch++;
    p->n_evicting++;
    const struct sched_rank *ranks = pass_take(p, t->k, &p->after);
    p->promises[p->n_promises++] = (struct sched_promise){t->k->index, ranks, t->k->job->n_ranks};
}

static void begin(struct attempt *t)
{
    struct pass *p = t->pass;
    struct view from = p->has_after ? p->after : p->has_held ? p->held : p->now;
    from.tree = NULL;
    list_victims(p);
    view_copy(&p->trial, &from, &p->cluster, p->arena);
    t->gone = arena_array(p->arena, bool, (size_t)p->s->n_running + 1);
    t->chosen = arena_array(p->arena, int32_t, (size_t)p->s->n_running + 1);
    if (t->k->job->spread)
        t->used = arena_array(p->arena, bool, (size_t)p->cluster.n_slots + 1);
    fit_scratch_reserve(&p->scratch, t->k->job->n_ranks, &t->k->job->request, p->arena);
    t->ranks = p->scratch.ranks;
    t->shares = p->scratch.shares;
}

int32_t preempt_for(struct pass *p, const struct candidate *k)
{
    struct shape *shape = k->shape;
    if (p->n_evicting >= p->max_evicting || p->n_attempts >= 4 * p->max_evicting ||
        p->victims_seen > VICTIMS_SEEN_MAX || k->job->priority <= p->least_priority)
        return 0;
    if (k->job->n_ranks >= shape->unevictable_ranks && k->job->priority <= shape->unevictable_for)
        return 0;
    struct attempt t = {.pass = p, .k = k};
    begin(&t);
    p->n_attempts++;
    bool placed = place_ranks(&t);
    if (placed)
        spare_victims(&t);
    if (!placed || !t.n_chosen) {
        shape->unevictable_ranks = k->job->n_ranks;
        shape->unevictable_for = k->job->priority;
        return 0;
    }
    evict(&t);
    return t.n_chosen;
}

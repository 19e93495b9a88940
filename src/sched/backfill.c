/* A reservation names the slots that the head will use and when. Later jobs that will have ended by then may
 * use everything that is free (view now); others only what the head leaves over at that time (view held). */
#include "sched/pass.h"

int64_t backfill_end(const struct pass *p, const struct sched_running *r)
{
    if (!r->expected_end)
        return SCHED_NEVER;
    /* one that is overdue may end at any moment */
    return r->expected_end > p->s->now ? r->expected_end : p->s->now + p->grace;
}

bool backfill_delays(const struct pass *p, const struct candidate *k)
{
    for (int32_t i = 0; i < p->n_reservations; i++)
        if ((p->reservations[i].mask & k->shape->target->mask) && k->end > p->reservations[i].start)
            return true;
    return false;
}

struct ending {
    int64_t end;
    int32_t index;
};

static int ending_compare(const void *va, const void *vb)
{
    const struct ending *a = va, *b = vb;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void sort_ends(struct pass *p)
{
    if (p->by_end)
        return;
    const struct sched_snapshot *s = p->s;
    struct ending *e = arena_array(p->arena, struct ending, (size_t)s->n_running + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_running; i++)
        if (s->running[i].expected_end && !s->running[i].stopping)
            e[n++] = (struct ending){backfill_end(p, &s->running[i]), i};
    qsort(e, (size_t)n, sizeof *e, ending_compare);
    p->by_end = arena_array(p->arena, int32_t, (size_t)n + 1);
    p->n_by_end = n;
    p->project_ends = arena_array(p->arena, int32_t, (size_t)n + 1);
    p->project_first = arena_array(p->arena, int32_t, (size_t)s->n_projects + 2);
    for (int32_t i = 0; i < n; i++) {
        p->by_end[i] = e[i].index;
        p->project_first[s->running[e[i].index].project + 2]++;
    }
    for (int32_t i = 1; i <= s->n_projects + 1; i++)
        p->project_first[i] += p->project_first[i - 1];
    for (int32_t i = 0; i < n; i++)
        p->project_ends[p->project_first[s->running[p->by_end[i]].project + 1]++] = p->by_end[i];
}

/* --- playing the ends forward --- */

/* Jobs that run and jobs that this pass started, merged by end. */
struct walk {
    struct pass *pass;
    struct ending *live;
    int32_t n_live, at_live, at_running;
};

static void walk_init(struct walk *w, struct pass *p)
{
    sort_ends(p);
    *w = (struct walk){.pass = p};
    w->live = arena_array(p->arena, struct ending, (size_t)p->n_live + 1);
    for (int32_t i = 0; i < p->n_live; i++)
        if (p->live[i].end != SCHED_NEVER)
            w->live[w->n_live++] = (struct ending){p->live[i].end, i};
    qsort(w->live, (size_t)w->n_live, sizeof *w->live, ending_compare);
}

/* The next to end; false after the last whose end is known. */
static bool walk_next(struct walk *w, struct live *ret)
{
    struct pass *p = w->pass;
    while (w->at_running < p->n_by_end && p->evicted[p->by_end[w->at_running]])
        w->at_running++;
    const struct sched_running *r =
        w->at_running < p->n_by_end ? &p->s->running[p->by_end[w->at_running]] : NULL;
    const struct live *l = w->at_live < w->n_live ? &p->live[w->live[w->at_live].index] : NULL;
    if (l && (!r || l->end <= backfill_end(p, r))) {
        w->at_live++;
        *ret = *l;
        return true;
    }
    if (!r)
        return false;
    w->at_running++;
    *ret = (struct live){r->ranks, &r->request, r->n_ranks, r->project, backfill_end(p, r)};
    return true;
}

/* The future room of the slots that the head may use. */
struct future {
    struct view view;
    const struct shape *shape;
    bool *mine;      /* by slot: may be used */
    int32_t *counts; /* by slot: ranks that it holds */
    int32_t total, wanted;
};

static void future_count(struct future *f, const struct cluster *c, int32_t slot)
{
    f->total -= f->counts[slot];
    f->counts[slot] = fit_count(&f->view, c, slot, &f->shape->request, f->shape->spread ? 1 : f->wanted);
    f->total += f->counts[slot];
}

static void future_release(struct future *f, const struct cluster *c, const struct live *l)
{
    for (int32_t i = 0; i < l->n_ranks; i++) {
        int32_t slot = c->slot_of[l->ranks[i].node];
        if (slot == SCHED_NONE)
            continue;
        view_apply(&f->view, c, &l->ranks[i], l->request, 1);
        if (f->mine[slot])
            future_count(f, c, slot);
    }
}

static void future_init(struct future *f, struct pass *p, const struct candidate *k)
{
    const struct cluster *c = &p->cluster;
    struct view from = p->has_after ? p->after : p->now;
    from.tree = NULL;
    *f = (struct future){.shape = k->shape, .wanted = k->job->n_ranks};
    view_copy(&f->view, &from, c, p->arena);
    f->mine = arena_array(p->arena, bool, (size_t)c->n_slots + 1);
    f->counts = arena_array(p->arena, int32_t, (size_t)c->n_slots + 1);
    for (int32_t i = 0; i < k->shape->target->n_classes; i++) {
        const struct class *class = &c->classes[k->shape->target->classes[i]];
        for (int32_t slot = class->lo; slot < class->hi; slot++) {
            f->mine[slot] = true;
            future_count(f, c, slot);
        }
    }
}

/* Releases all jobs, also those whose end is unknown. */
static void future_empty(struct future *f, struct pass *p, const struct candidate *k)
{
    struct view empty;
    view_init(&empty, &p->cluster, p->arena);
    f->view = empty;
    for (int32_t i = 0; i < k->shape->target->n_classes; i++) {
        const struct class *class = &p->cluster.classes[k->shape->target->classes[i]];
        for (int32_t slot = class->lo; slot < class->hi; slot++)
            future_count(f, &p->cluster, slot);
    }
}

/* Takes the head's ranks out of the future and keeps the rest of those slots for others. */
static void future_hold(struct future *f, struct pass *p, const struct candidate *k)
{
    const struct cluster *c = &p->cluster;
    fit_scratch_reserve(&p->scratch, 1, &k->job->request, p->arena);
    int32_t left = k->job->n_ranks;
    for (int32_t i = 0; i < k->shape->target->n_classes; i++) {
        const struct class *class = &c->classes[k->shape->target->classes[i]];
        for (int32_t slot = class->lo; slot < class->hi && left; slot++) {
            if (!f->counts[slot])
                continue;
            for (int32_t n = f->counts[slot]; n > 0 && left > 0; n--, left--)
                fit_slot(&f->view, c, slot, &k->job->request, p->scratch.shares, p->scratch.ranks);
            p->reserved[slot] = true;
            view_limit(&p->held, c, slot, &f->view);
            if (p->has_after)
                view_limit(&p->after, c, slot, &f->view);
        }
    }
}

/* --- the two kinds of keeping a place --- */

static int64_t *used_at(struct pass *p, int32_t project, int64_t time)
{
    size_t width = (size_t)p->quotas.width;
    int64_t *left = arena_copy(p->arena, p->quotas.later + (size_t)project * width, width * sizeof *left);
    if (!time) {
        memset(left, 0, width * sizeof *left);
        return left;
    }
    for (int32_t i = p->project_first[project]; i < p->project_first[project + 1]; i++) {
        const struct sched_running *r = &p->s->running[p->project_ends[i]];
        struct demand d = demand_of(&r->request, r->n_ranks);
        if (backfill_end(p, r) > time)
            break;
        for (int32_t n = 0; n < d.n && !p->evicted[p->project_ends[i]]; n++)
            left[d.resource[n]] -= d.amount[n];
    }
    return left;
}

bool backfill_reserve(struct pass *p, const struct candidate *k, int64_t *ret_start)
{
    for (int32_t i = 0; i < p->n_reservations; i++)
        if (p->reservations[i].mask & k->shape->target->mask)
            return false;
    if (!p->has_held) {
        view_copy(&p->held, &p->now, &p->cluster, p->arena);
        p->has_held = true;
    }
    struct future f;
    struct walk w;
    struct live next;
    int64_t start = 0, at = p->s->now + p->grace;
    future_init(&f, p, k);
    walk_init(&w, p);
    while (f.total < f.wanted && walk_next(&w, &next)) {
        future_release(&f, &p->cluster, &next);
        at = next.end;
    }
    if (f.total >= f.wanted)
        start = at;
    else
        future_empty(&f, p, k);
    future_hold(&f, p, k);
    p->reservations[p->n_reservations++] = (struct reservation){k->shape->target->mask, start};
    quota_hold(&p->quotas, k->job->project, &k->demand, start, used_at(p, k->job->project, start));
    *ret_start = start;
    return true;
}

int64_t backfill_hold_quota(struct pass *p, const struct candidate *k)
{
    int32_t project = k->job->project;
    if (p->quotas.holds[project].set)
        return 0;
    sort_ends(p);
    size_t width = (size_t)p->quotas.width;
    int64_t *row = p->quotas.later + (size_t)project * width, start = 0;
    int64_t *kept = arena_copy(p->arena, row, width * sizeof *row);
    for (int32_t i = p->project_first[project]; i < p->project_first[project + 1] && !start; i++) {
        const struct sched_running *r = &p->s->running[p->project_ends[i]];
        if (p->evicted[p->project_ends[i]])
            continue;
        struct demand d = demand_of(&r->request, r->n_ranks);
        quota_add(&p->quotas, p->quotas.later, project, &d, -1);
        if (quota_short(&p->quotas, p->quotas.later, project, &k->demand) < 0)
            start = backfill_end(p, r);
    }
    memcpy(row, kept, width * sizeof *row);
    quota_hold(&p->quotas, project, &k->demand, start, used_at(p, project, start));
    return start;
}

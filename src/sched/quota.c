#include "sched/quota.h"

struct demand demand_of(const struct sched_demand *r, int32_t ranks)
{
    struct demand d = {0};
    for (int i = 0; i < SCHED_WANTS; i++) {
        if (!r->wants[i].thousandths)
            continue;
        d.resource[d.n] = RESOURCE_DEVICE + r->wants[i].kind;
        d.amount[d.n++] = (int64_t)r->wants[i].thousandths * ranks;
    }
    d.resource[d.n] = RESOURCE_CPU;
    d.amount[d.n++] = r->cpu * ranks;
    d.resource[d.n] = RESOURCE_MEMORY;
    d.amount[d.n++] = r->memory * ranks;
    return d;
}

int64_t quota_limit(const struct sched_snapshot *s, int32_t project, int32_t resource)
{
    const struct sched_quota *q = &s->projects[project].quota;
    if (resource == RESOURCE_CPU)
        return q->cpu;
    if (resource == RESOURCE_MEMORY)
        return q->memory;
    return q->devices ? q->devices[resource - RESOURCE_DEVICE] : SCHED_UNLIMITED;
}

void quota_add(struct quotas *q, int64_t *figures, int32_t project, const struct demand *d, int sign)
{
    int64_t *row = figures + (size_t)project * (size_t)q->width;
    for (int32_t i = 0; i < d->n; i++)
        row[d->resource[i]] += sign * d->amount[i];
}

void quotas_init(struct quotas *q, const struct sched_snapshot *s, struct arena *a)
{
    *q = (struct quotas){.s = s, .arena = a, .width = RESOURCE_DEVICE + s->n_kinds};
    size_t n = (size_t)s->n_projects * (size_t)q->width + 1;
    q->used = arena_array(a, int64_t, n);
    q->later = arena_array(a, int64_t, n);
    q->holds = arena_array(a, struct hold, (size_t)s->n_projects + 1);
    for (int32_t i = 0; i < s->n_running; i++) {
        const struct sched_running *r = &s->running[i];
        struct demand d = demand_of(&r->request, r->n_ranks);
        quota_add(q, q->used, r->project, &d, 1);
        if (!r->stopping)
            quota_add(q, q->later, r->project, &d, 1);
    }
}

int32_t quota_short(const struct quotas *q, const int64_t *figures, int32_t project, const struct demand *d)
{
    const int64_t *row = figures + (size_t)project * (size_t)q->width;
    for (int32_t i = 0; i < d->n; i++) {
        int64_t limit = quota_limit(q->s, project, d->resource[i]);
        if (limit != SCHED_UNLIMITED && d->amount[i] && row[d->resource[i]] > limit - d->amount[i])
            return i;
    }
    return -1;
}

int32_t quota_over(const struct quotas *q, int32_t project, const struct demand *d)
{
    for (int32_t i = 0; i < d->n; i++) {
        int64_t limit = quota_limit(q->s, project, d->resource[i]);
        if (limit != SCHED_UNLIMITED && d->amount[i] > limit)
            return i;
    }
    return -1;
}

bool quota_passes_hold(const struct quotas *q, int32_t project, const struct demand *d, int64_t end)
{
    const struct hold *h = &q->holds[project];
    if (!h->set || end <= h->until)
        return true;
    for (int32_t i = 0; i < d->n; i++)
        if (d->amount[i] && h->spare[d->resource[i]] < d->amount[i])
            return false;
    return true;
}

void quota_pass_hold(struct quotas *q, int32_t project, const struct demand *d, int64_t end)
{
    struct hold *h = &q->holds[project];
    if (!h->set || end <= h->until)
        return;
    for (int32_t i = 0; i < d->n; i++)
        if (h->spare[d->resource[i]] != INT64_MAX)
            h->spare[d->resource[i]] -= d->amount[i];
}

void quota_hold(struct quotas *q, int32_t project, const struct demand *d, int64_t until,
                const int64_t *remaining)
{
    struct hold *h = &q->holds[project];
    if (h->set) {
        quota_pass_hold(q, project, d, INT64_MAX);
        return;
    }
    h->set = true;
    h->until = until;
    h->spare = arena_array(q->arena, int64_t, (size_t)q->width);
    for (int32_t r = 0; r < q->width; r++) {
        int64_t limit = quota_limit(q->s, project, r);
        h->spare[r] = limit == SCHED_UNLIMITED ? INT64_MAX : limit - remaining[r];
    }
    quota_pass_hold(q, project, d, INT64_MAX);
}

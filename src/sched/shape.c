#include "sched/fit.h"

void shapes_init(struct shapes *t, const struct cluster *c, struct arena *a)
{
    const struct sched_snapshot *s = c->s;
    *t = (struct shapes){.cluster = c, .arena = a, .mask = 1023};
    while (t->mask < (uint32_t)s->n_waiting && t->mask < (1U << 16) - 1)
        t->mask = t->mask * 2 + 1;
    t->table = arena_array(a, struct shape *, (size_t)t->mask + 1);
    bool *has_pool = arena_array(a, bool, (size_t)s->n_projects + 1);
    for (int32_t i = 0; i < s->n_pools; i++)
        for (int32_t k = 0; k < s->pools[i].n_projects; k++)
            has_pool[s->pools[i].projects[k]] = true;
    t->has_pool = has_pool;
}

bool fit_pool_open(const struct sched_snapshot *s, int32_t pool, int32_t project)
{
    const struct sched_pool *p = &s->pools[pool];
    for (int32_t i = 0; i < p->n_projects; i++)
        if (p->projects[i] == project)
            return true;
    return p->n_projects == 0;
}

/* Smaller is better: pools of the project's own first, then nodes with fewer kinds of cards than are needed.
 */
static int32_t class_rank(const struct sched_snapshot *s, const struct class *k)
{
    return (s->pools[k->pool].n_projects ? 0 : 1000) + __builtin_popcountll(k->kinds);
}

static void find_classes(struct target *t, const struct cluster *c, int32_t project, struct arena *a)
{
    t->classes = arena_array(a, int32_t, (size_t)c->n_classes + 1);
    for (int32_t i = 0; i < c->n_classes; i++) {
        const struct class *k = &c->classes[i];
        if ((t->pool != SCHED_NONE && t->pool != k->pool) || (t->arch && t->arch != k->arch) ||
            (k->kinds & t->kinds) != t->kinds || !fit_pool_open(c->s, k->pool, project))
            continue;
        int32_t at = t->n_classes++;
        for (; at > 0 && class_rank(c->s, &c->classes[t->classes[at - 1]]) > class_rank(c->s, k); at--)
            t->classes[at] = t->classes[at - 1];
        t->classes[at] = i;
        t->mask |= UINT64_C(1) << (i < 63 ? i : 63);
    }
}

static struct target *get_target(struct shapes *t, const struct sched_waiting *job, uint64_t kinds)
{
    int32_t access = t->has_pool[job->project] ? job->project : SCHED_NONE;
    for (struct target *x = t->targets; x; x = x->next)
        if (x->pool == job->pool && x->arch == job->arch && x->kinds == kinds && x->access == access)
            return x;
    struct target *x = arena_new(t->arena, struct target);
    *x = (struct target){
        .pool = job->pool, .access = access, .arch = job->arch, .kinds = kinds, .next = t->targets};
    find_classes(x, t->cluster, job->project, t->arena);
    t->targets = x;
    return x;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static bool request_eq(const struct sched_demand *a, const struct sched_demand *b)
{
    bool same = a->cpu == b->cpu && a->memory == b->memory;
    for (int i = 0; i < SCHED_WANTS; i++)
        same = same && a->wants[i].thousandths == b->wants[i].thousandths &&
               (!a->wants[i].thousandths || a->wants[i].kind == b->wants[i].kind);
    return same;
}

struct shape *shapes_get(struct shapes *t, const struct sched_waiting *job)
{
    const struct sched_demand *r = &job->request;
    int32_t access = t->has_pool[job->project] ? job->project : SCHED_NONE;
    uint64_t h = mix(mix(mix(7, (uint64_t)r->cpu), (uint64_t)r->memory), (uint64_t)job->pool + 1);
    h = mix(h, ((uint64_t)access + 1) << 8 | (uint64_t)job->arch << 1 | job->spread);
    uint64_t kinds = 0;
    for (int i = 0; i < SCHED_WANTS; i++) {
        if (!r->wants[i].thousandths)
            continue;
        kinds |= UINT64_C(1) << r->wants[i].kind;
        h = mix(h, (uint64_t)r->wants[i].kind << 32 | (uint32_t)r->wants[i].thousandths);
    }
    struct shape **bucket = &t->table[h & t->mask];
    for (struct shape *x = *bucket; x; x = x->next)
        if (x->spread == job->spread && x->target->pool == job->pool && x->target->arch == job->arch &&
            x->target->access == access && request_eq(&x->request, r))
            return x;
    struct shape *x = arena_new(t->arena, struct shape);
    *x = (struct shape){.target = get_target(t, job, kinds),
                        .request = *r,
                        .spread = job->spread,
                        .refused_now = INT32_MAX,
                        .refused_held = INT32_MAX,
                        .refused_after = INT32_MAX,
                        .unevictable_ranks = INT32_MAX,
                        .ranks_now = -1,
                        .next = *bucket};
    *bucket = x;
    return x;
}

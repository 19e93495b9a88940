/* What stands in a job's way. */
#include "sched/pass.h"

enum { GANGS_COUNTED_MAX = 256 };

static int64_t wanted_of(const struct sched_demand *r, int32_t i, struct sched_wait *ret)
{
    if (i < SCHED_WANTS) {
        ret->resource = SCHED_DEVICE;
        ret->kind = r->wants[i].kind;
        return r->wants[i].thousandths;
    }
    ret->resource = i == SCHED_WANTS ? SCHED_CPU : SCHED_MEMORY;
    return i == SCHED_WANTS ? r->cpu : r->memory;
}

/* What one node has of it when it is empty; for shares of cards the largest share. */
static int64_t node_has(const struct sched_node *n, const struct sched_wait *w, int64_t wanted)
{
    if (w->resource != SCHED_DEVICE)
        return w->resource == SCHED_CPU ? n->cpu : n->memory;
    int64_t cards = 0;
    for (int32_t i = 0; i < n->n_cards; i++)
        cards += n->cards[i].kind == w->kind && !n->cards[i].broken;
    return cards * SCHED_WHOLE > SCHED_WHOLE && wanted < SCHED_WHOLE ? SCHED_WHOLE : cards * SCHED_WHOLE;
}

/* Ranks that fit into the node when it is empty, at most `most`. */
static int32_t node_count(const struct sched_node *n, const struct sched_demand *r, int32_t most)
{
    int64_t count = most;
    for (int32_t i = 0; i < SCHED_WANTS + 2; i++) {
        struct sched_wait w;
        int64_t wanted = wanted_of(r, i, &w);
        if (!wanted)
            continue;
        int64_t has = node_has(n, &w, SCHED_WHOLE), fit = has / wanted;
        if (w.resource == SCHED_DEVICE && wanted < SCHED_WHOLE)
            fit = has / SCHED_WHOLE * (SCHED_WHOLE / wanted);
        count = fit < count ? fit : count;
    }
    return (int32_t)count;
}

static bool may_use(const struct pass *p, const struct sched_waiting *job, const struct sched_node *n)
{
    return (job->pool == SCHED_NONE || job->pool == n->pool) && fit_pool_open(p->s, n->pool, job->project);
}

/* Ranks that fit into the nodes that the job may use; *ret_out is the number of nodes out of service that
 * would hold some, not counted in the result unless `all`. */
static int32_t count_ranks(const struct pass *p, const struct candidate *k, bool all, int32_t *ret_out)
{
    int32_t total = 0, n = k->job->n_ranks;
    *ret_out = 0;
    for (int32_t i = 0; i < p->s->n_nodes && total < n; i++) {
        const struct sched_node *node = &p->s->nodes[i];
        if (!may_use(p, k->job, node) || (k->job->arch && k->job->arch != node->arch))
            continue;
        int32_t fit = node_count(node, &k->job->request, k->job->spread ? 1 : n - total);
        if (node->state != SCHED_NODE_READY)
            *ret_out += fit > 0;
        if (all || node->state == SCHED_NODE_READY)
            total += fit;
    }
    return total;
}

static bool check_nodes(const struct pass *p, const struct sched_waiting *job, struct sched_wait *ret)
{
    int32_t of_pool = 0, of_arch = 0;
    int64_t most[SCHED_WANTS + 2] = {0};
    for (int32_t i = 0; i < p->s->n_nodes; i++) {
        const struct sched_node *n = &p->s->nodes[i];
        if (!may_use(p, job, n))
            continue;
        of_pool++;
        if (job->arch && job->arch != n->arch)
            continue;
        of_arch++;
        for (int32_t x = 0; x < SCHED_WANTS + 2; x++) {
            struct sched_wait w;
            int64_t wanted = wanted_of(&job->request, x, &w), has = node_has(n, &w, wanted);
            most[x] = has > most[x] ? has : most[x];
        }
    }
    if (!of_pool || !of_arch) {
        ret->reason = of_pool ? SCHED_NO_ARCH : SCHED_POOL_EMPTY;
        ret->arch = job->arch;
        return true;
    }
    for (int32_t x = 0; x < SCHED_WANTS + 2; x++) {
        int64_t wanted = wanted_of(&job->request, x, ret);
        if (wanted <= most[x])
            continue;
        ret->reason = SCHED_NO_NODE;
        ret->wanted = wanted;
        ret->most = most[x];
        return true;
    }
    return false;
}

static void diagnose(struct pass *p, const struct candidate *k, struct sched_wait *ret)
{
    const struct sched_waiting *job = k->job;
    if (job->pool != SCHED_NONE && !fit_pool_open(p->s, job->pool, job->project)) {
        ret->reason = SCHED_POOL_CLOSED;
        return;
    }
    if (check_nodes(p, job, ret))
        return;
    int32_t out;
    ret->most = count_ranks(p, k, true, &out);
    if (ret->most >= job->n_ranks) {
        ret->reason = SCHED_OUT_OF_SERVICE;
        ret->count = out;
    } else if (ret->most == 0) { /* each of it somewhere, but nowhere all of it */
        ret->reason = SCHED_NO_NODE;
        ret->wanted = wanted_of(&job->request, job->request.wants[0].thousandths ? 0 : SCHED_WANTS, ret);
        ret->most = ret->wanted;
    } else {
        ret->reason = SCHED_GANG_TOO_LARGE;
    }
}

static bool not_shared(const struct pass *p, const struct candidate *k, struct sched_wait *ret)
{
    for (int i = 0; i < SCHED_WANTS; i++) {
        const struct sched_want *w = &k->job->request.wants[i];
        if (w->thousandths % SCHED_WHOLE == 0 || p->s->kinds[w->kind].shared)
            continue;
        *ret = (struct sched_wait){.reason = SCHED_NOT_SHARED, .resource = SCHED_DEVICE, .kind = w->kind};
        ret->pool = SCHED_NONE;
        return true;
    }
    return false;
}

bool why_never(struct pass *p, const struct candidate *k, struct sched_wait *ret)
{
    struct shape *shape = k->shape;
    if (not_shared(p, k, ret))
        return true;
    if (shape->capacity >= k->job->n_ranks)
        return false;
    if (!shape->exact) {
        int32_t out;
        shape->capacity = count_ranks(p, k, false, &out);
        shape->exact = shape->capacity < k->job->n_ranks;
    }
    if (shape->capacity >= k->job->n_ranks)
        return false;
    bool by_size = shape->never && (shape->never->reason == SCHED_OUT_OF_SERVICE ||
                                    shape->never->reason == SCHED_GANG_TOO_LARGE);
    if (!shape->never || (by_size && shape->never->ranks != k->job->n_ranks)) {
        struct sched_wait *w = arena_new(p->arena, struct sched_wait);
        w->pool = k->job->pool;
        w->ranks = k->job->n_ranks;
        diagnose(p, k, w);
        shape->never = w;
    }
    *ret = *shape->never;
    ret->ranks = k->job->n_ranks;
    return true;
}

/* --- at the end of the pass --- */

/* By resource: cpu, memory, then for each kind whole cards and shares. */
static void sum_target(struct pass *p, struct target *t)
{
    const struct cluster *c = &p->cluster;
    size_t width = 2 + 2 * (size_t)p->s->n_kinds;
    t->free = arena_array(p->arena, int64_t, width);
    t->most = arena_array(p->arena, int64_t, width);
    int64_t *has = arena_array(p->arena, int64_t, width);
    for (int32_t i = 0; i < t->n_classes; i++)
        for (int32_t slot = c->classes[t->classes[i]].lo; slot < c->classes[t->classes[i]].hi; slot++) {
            memset(has, 0, width * sizeof *has);
            has[0] = p->now.capacities[slot].cpu;
            has[1] = p->now.capacities[slot].memory;
            for (int32_t k = c->first_card[slot]; k < c->first_card[slot + 1]; k++) {
                int64_t *of = &has[2 + 2 * c->card_kind[k]], card = p->now.cards[k];
                if (card <= 0)
                    continue;
                of[0] += card == SCHED_WHOLE ? SCHED_WHOLE : 0;
                t->free[3 + 2 * c->card_kind[k]] += card;
                of[1] = card > of[1] ? card : of[1];
            }
            for (size_t r = 0; r < width; r++) {
                if ((r < 2 || r % 2 == 0) && has[r] > 0)
                    t->free[r] += has[r];
                t->most[r] = has[r] > t->most[r] ? has[r] : t->most[r];
            }
        }
}

static size_t column_of(const struct sched_wait *w, int64_t wanted)
{
    if (w->resource != SCHED_DEVICE)
        return w->resource == SCHED_CPU ? 0 : 1;
    return 2 + 2 * (size_t)w->kind + (wanted < SCHED_WHOLE);
}

static void explain(struct pass *p, int32_t i)
{
    const struct sched_waiting *job = &p->s->waiting[i];
    struct shape *shape = p->shape_of[i];
    struct sched_wait *w = &p->waits[i];
    if (!shape->target->free)
        sum_target(p, shape->target);
    w->pool = job->pool == SCHED_NONE && p->s->n_pools == 1 ? 0 : job->pool;
    int32_t first = -1;
    for (int32_t x = 0; x < SCHED_WANTS + 2; x++) {
        int64_t wanted = wanted_of(&job->request, x, w);
        if (first < 0 && wanted)
            first = x;
        if (wanted > shape->target->most[column_of(w, wanted)]) {
            first = x;
            break;
        }
    }
    w->wanted = wanted_of(&job->request, first < 0 ? SCHED_WANTS : first, w);
    w->free = shape->target->free[column_of(w, w->wanted)];
    w->most = shape->target->most[column_of(w, w->wanted)];
    if (job->n_ranks == 1 || w->most < w->wanted)
        return;
    if (shape->ranks_now < 0 && p->n_counted++ < GANGS_COUNTED_MAX)
        shape->ranks_now = fit_total(&p->now, &p->cluster, shape, SCHED_RANKS_MAX);
    w->reason = SCHED_GANG;
    w->ranks = job->n_ranks;
    w->most = shape->ranks_now;
}

void why_finish(struct pass *p)
{
    for (int32_t i = 0; i < p->s->n_waiting; i++)
        if (p->waits[i].reason == SCHED_RESOURCE)
            explain(p, i);
}

#include "sched/sched.h"

static const int64_t CPU_MAX = INT64_C(1) << 32, MEMORY_MAX = INT64_C(1) << 50, TOTAL_MAX = INT64_C(1) << 61;

/* All three have their id first. */
static int32_t find(const void *array, int32_t n, size_t size, int64_t id)
{
    int32_t lo = 0, hi = n;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (*(const int64_t *)((const char *)array + size * (size_t)mid) < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && *(const int64_t *)((const char *)array + size * (size_t)lo) == id ? lo : SCHED_NONE;
}

int32_t sched_find_node(const struct sched_snapshot *s, int64_t id)
{
    _Static_assert(offsetof(struct sched_node, id) == 0, "find reads it there");
    return find(s->nodes, s->n_nodes, sizeof *s->nodes, id);
}

int32_t sched_find_project(const struct sched_snapshot *s, int64_t id)
{
    _Static_assert(offsetof(struct sched_project, id) == 0, "find reads it there");
    return find(s->projects, s->n_projects, sizeof *s->projects, id);
}

int32_t sched_find_pool(const struct sched_snapshot *s, int64_t id)
{
    _Static_assert(offsetof(struct sched_pool, id) == 0, "find reads it there");
    return find(s->pools, s->n_pools, sizeof *s->pools, id);
}

int32_t sched_find_kind(const struct sched_snapshot *s, const char *name)
{
    for (int32_t i = 0; i < s->n_kinds; i++)
        if (strcmp(s->kinds[i].name, name) == 0)
            return i;
    return SCHED_NONE;
}

/* --- sched_check --- */

static bool bad(struct err *err, const char *array, int32_t i, const char *rule)
{
    return err_set(err, ERR_INVALID, array, "%s[%d]: %s", array, (int)i, rule);
}

static bool within(int64_t x, int64_t from, int64_t below)
{
    return x >= from && x < below;
}

static bool check_request(const struct sched_snapshot *s, const struct sched_demand *r, const char *array,
                          int32_t i, struct err *err)
{
    if (!within(r->cpu, 0, CPU_MAX + 1) || !within(r->memory, 0, MEMORY_MAX + 1))
        return bad(err, array, i, "cpu must be 0 to 2^32 millicores and memory 0 to 2^50 bytes");
    for (int k = 0; k < SCHED_WANTS; k++) {
        const struct sched_want *w = &r->wants[k];
        if (!w->thousandths)
            continue;
        if (!within(w->kind, 0, s->n_kinds))
            return bad(err, array, i, "a wanted kind of device does not exist");
        if (!within(w->thousandths, 1, SCHED_WHOLE * SCHED_CARDS_MAX + 1) ||
            (w->thousandths > SCHED_WHOLE && w->thousandths % SCHED_WHOLE))
            return bad(err, array, i, "devices must be whole cards, or a share of one");
        for (int j = 0; j < k; j++)
            if (r->wants[j].thousandths && r->wants[j].kind == w->kind)
                return bad(err, array, i, "wants the same kind of device twice");
    }
    return true;
}

static bool check_ranks(const struct sched_snapshot *s, const struct sched_rank *ranks, int32_t n,
                        const char *array, int32_t i, struct err *err)
{
    for (int32_t k = 0; k < n; k++) {
        if (!within(ranks[k].node, 0, s->n_nodes))
            return bad(err, array, i, "node of a rank does not exist");
        for (int32_t c = 0; c < ranks[k].n_shares; c++)
            if (!within(ranks[k].shares[c].card, 0, SCHED_CARDS_MAX) ||
                !within(ranks[k].shares[c].thousandths, 1, SCHED_WHOLE + 1))
                return bad(err, array, i, "a share must be 1 to 1000 thousandths of a card");
    }
    return true;
}

static bool check_node(const struct sched_snapshot *s, int32_t i, struct err *err)
{
    const struct sched_node *n = &s->nodes[i];
    if (i && n->id <= s->nodes[i - 1].id)
        return bad(err, "nodes", i, "ids must ascend");
    if (!within(n->pool, 0, s->n_pools))
        return bad(err, "nodes", i, "pool does not exist");
    if (n->arch != SCHED_ARCH_X86 && n->arch != SCHED_ARCH_ARM)
        return bad(err, "nodes", i, "arch must be x86 or arm");
    if (!within(n->cpu, 0, CPU_MAX + 1) || !within(n->memory, 0, MEMORY_MAX + 1))
        return bad(err, "nodes", i, "cpu must be 0 to 2^32 millicores and memory 0 to 2^50 bytes");
    if (!within(n->n_cards, 0, SCHED_CARDS_MAX + 1))
        return bad(err, "nodes", i, "has more than 256 cards");
    for (int32_t k = 0; k < n->n_cards; k++)
        if (!within(n->cards[k].kind, 0, s->n_kinds))
            return bad(err, "nodes", i, "the kind of a card does not exist");
    return true;
}

static bool check_tables(const struct sched_snapshot *s, struct err *err)
{
    if (s->n_kinds < 0 || s->n_kinds > SCHED_KINDS_MAX)
        return err_set(err, ERR_INVALID, "kinds", "kinds: %d is not 0 to %d", (int)s->n_kinds,
                       SCHED_KINDS_MAX);
    for (int32_t i = 0; i < s->n_projects; i++) {
        const struct sched_project *p = &s->projects[i];
        if (i && p->id <= p[-1].id)
            return bad(err, "projects", i, "ids must ascend");
        if (p->weight < 0)
            return bad(err, "projects", i, "weight must not be negative");
        bool good = p->quota.cpu >= SCHED_UNLIMITED && p->quota.memory >= SCHED_UNLIMITED;
        for (int32_t k = 0; k < s->n_kinds && p->quota.devices; k++)
            good = good && p->quota.devices[k] >= SCHED_UNLIMITED;
        if (!good)
            return bad(err, "projects", i, "a quota must be unlimited (-1), 0 or more");
    }
    for (int32_t i = 0; i < s->n_pools; i++) {
        if (i && s->pools[i].id <= s->pools[i - 1].id)
            return bad(err, "pools", i, "ids must ascend");
        for (int32_t k = 0; k < s->pools[i].n_projects; k++)
            if (!within(s->pools[i].projects[k], 0, s->n_projects))
                return bad(err, "pools", i, "is reserved to a project that does not exist");
    }
    return true;
}

static bool check_running(const struct sched_snapshot *s, int32_t i, int64_t *total, struct err *err)
{
    const struct sched_running *r = &s->running[i];
    if (!within(r->project, 0, s->n_projects))
        return bad(err, "running", i, "project does not exist");
    if (!check_request(s, &r->request, "running", i, err))
        return false;
    if (!within(r->n_ranks, 0, SCHED_RANKS_MAX + 1))
        return bad(err, "running", i, "ranks must be 0 to 4096");
    *total += r->request.memory * r->n_ranks;
    if (*total > TOTAL_MAX)
        return bad(err, "running", i, "memory of all running jobs together is over 2^61 bytes");
    return check_ranks(s, r->ranks, r->n_ranks, "running", i, err);
}

static bool check_waiting(const struct sched_snapshot *s, int32_t i, struct err *err)
{
    const struct sched_waiting *w = &s->waiting[i];
    if (!within(w->project, 0, s->n_projects))
        return bad(err, "waiting", i, "project does not exist");
    if (w->pool != SCHED_NONE && !within(w->pool, 0, s->n_pools))
        return bad(err, "waiting", i, "pool does not exist");
    if (!within(w->arch, SCHED_ARCH_ANY, SCHED_ARCH_ARM + 1))
        return bad(err, "waiting", i, "arch must be any, x86 or arm");
    if (!within(w->n_ranks, 1, SCHED_RANKS_MAX + 1))
        return bad(err, "waiting", i, "ranks must be 1 to 4096");
    if (!within(w->duration, 0, INT64_MAX / 4))
        return bad(err, "waiting", i, "duration must not be negative");
    if (w->promised && !check_ranks(s, w->promised, w->n_ranks, "waiting", i, err))
        return false;
    return check_request(s, &w->request, "waiting", i, err);
}

bool sched_check(const struct sched_snapshot *s, struct err *err)
{
    if (s->n_nodes < 0 || s->n_pools < 0 || s->n_projects < 0 || s->n_running < 0 || s->n_waiting < 0)
        return err_set(err, ERR_INVALID, "snapshot", "snapshot: a count is negative");
    if (!within(s->now, 0, INT64_MAX / 4))
        return err_set(err, ERR_INVALID, "now", "now: %lld is no time", (long long)s->now);
    if (!check_tables(s, err))
        return false;
    for (int32_t i = 0; i < s->n_nodes; i++)
        if (!check_node(s, i, err))
            return false;
    int64_t total = 0;
    for (int32_t i = 0; i < s->n_running; i++)
        if (!check_running(s, i, &total, err))
            return false;
    for (int32_t i = 0; i < s->n_waiting; i++)
        if (!check_waiting(s, i, err))
            return false;
    return true;
}

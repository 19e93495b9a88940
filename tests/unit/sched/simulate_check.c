#include "simulate.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define check(sim, what, ...)                                                                                \
    do {                                                                                                     \
        if (!(what))                                                                                         \
            breach(sim, #what, __VA_ARGS__);                                                                 \
    } while (0)

static void breach(const struct sim *sim, const char *what, const char *rule, int64_t id)
{
    fail_msg("seed %llu, pass %lld: %s (%lld): %s", (unsigned long long)sim->spec.seed,
             (long long)sim->passes, rule, (long long)id, what);
}

/* What is in use, added up anew from what runs and what starts. */
struct use {
    int64_t *cpu, *memory; /* by node */
    int32_t *cards;        /* by node and card */
    int64_t *project;      /* by project: cpu, memory, kinds */
};

static void use_rank(const struct sim *sim, struct use *u, const struct sched_demand *r,
                     const struct sched_rank *rank)
{
    u->cpu[rank->node] += r->cpu;
    u->memory[rank->node] += r->memory;
    for (int32_t i = 0; i < rank->n_shares; i++) {
        check(sim, rank->shares[i].card < sim->s.nodes[rank->node].n_cards, "card", rank->node);
        u->cards[rank->node * SCHED_CARDS_MAX + rank->shares[i].card] += rank->shares[i].thousandths;
    }
}

static void use_project(const struct sim *sim, struct use *u, int32_t project, const struct sched_demand *r,
                        int32_t ranks)
{
    int64_t *row = u->project + (int64_t)project * (2 + sim->s.n_kinds);
    row[0] += r->cpu * ranks;
    row[1] += r->memory * ranks;
    for (int i = 0; i < SCHED_WANTS; i++)
        if (r->wants[i].thousandths)
            row[2 + r->wants[i].kind] += (int64_t)r->wants[i].thousandths * ranks;
}

static void check_use(const struct sim *sim, const struct use *u)
{
    const struct sched_snapshot *s = &sim->s;
    for (int32_t i = 0; i < s->n_nodes; i++) {
        check(sim, u->cpu[i] <= s->nodes[i].cpu, "cpu of a node is over-committed", s->nodes[i].id);
        check(sim, u->memory[i] <= s->nodes[i].memory, "memory of a node is over-committed", s->nodes[i].id);
        for (int32_t k = 0; k < s->nodes[i].n_cards; k++)
            check(sim, u->cards[i * SCHED_CARDS_MAX + k] <= SCHED_WHOLE, "a card is over-committed",
                  s->nodes[i].id);
    }
    for (int32_t i = 0; i < s->n_projects; i++) {
        const struct sched_quota *q = &s->projects[i].quota;
        const int64_t *row = u->project + (int64_t)i * (2 + s->n_kinds);
        check(sim, q->cpu < 0 || row[0] <= q->cpu, "quota of cpu", i);
        check(sim, q->memory < 0 || row[1] <= q->memory, "quota of memory", i);
        for (int32_t k = 0; k < s->n_kinds; k++)
            check(sim, q->devices[k] < 0 || row[2 + k] <= q->devices[k], "quota of devices", i);
    }
}

/* A rank is where it may be and has the cards it wants. */
static void check_rank(const struct sim *sim, const struct sched_waiting *job, const struct sched_rank *rank)
{
    const struct sched_snapshot *s = &sim->s;
    check(sim, rank->node >= 0 && rank->node < s->n_nodes, "node", job->id);
    const struct sched_node *n = &s->nodes[rank->node];
    const struct sched_pool *pool = &s->pools[n->pool];
    bool open = pool->n_projects == 0;
    for (int32_t i = 0; i < pool->n_projects; i++)
        open = open || pool->projects[i] == job->project;
    check(sim, n->state == SCHED_NODE_READY, "starts on a node out of service", job->id);
    check(sim, open, "starts in a pool of others", job->id);
    check(sim, job->pool == SCHED_NONE || job->pool == n->pool, "starts in another pool", job->id);
    check(sim, !job->arch || job->arch == n->arch, "starts on another arch", job->id);
    int32_t got[SCHED_KINDS_MAX] = {0};
    for (int32_t i = 0; i < rank->n_shares; i++) {
        check(sim, !n->cards[rank->shares[i].card].broken, "starts on a broken card", job->id);
        got[n->cards[rank->shares[i].card].kind] += rank->shares[i].thousandths;
    }
    for (int i = 0; i < SCHED_WANTS; i++)
        if (job->request.wants[i].thousandths)
            got[job->request.wants[i].kind] -= job->request.wants[i].thousandths;
    for (int32_t k = 0; k < s->n_kinds; k++)
        check(sim, got[k] == 0, "got other cards than it wants", job->id);
}

static void check_starts(const struct sim *sim, struct use *u, bool *started)
{
    const struct sched_plan *plan = &sim->plan;
    for (int32_t i = 0; i < plan->n_starts; i++) {
        const struct sched_start *start = &plan->starts[i];
        const struct sched_waiting *job = &sim->s.waiting[start->job];
        check(sim, !started[start->job], "starts twice", job->id);
        started[start->job] = true;
        check(sim, start->n_ranks == job->n_ranks, "a gang starts in part", job->id);
        check(sim, job->not_before <= sim->s.now, "starts while it backs off", job->id);
        for (int32_t k = 0; k < start->n_ranks; k++) {
            check_rank(sim, job, &start->ranks[k]);
            use_rank(sim, u, &job->request, &start->ranks[k]);
            for (int32_t j = 0; j < k && job->spread; j++)
                check(sim, start->ranks[j].node != start->ranks[k].node, "does not spread", job->id);
        }
        use_project(sim, u, job->project, &job->request, job->n_ranks);
    }
    for (int32_t i = 0; i < plan->n_waits; i++)
        check(sim, (plan->waits[i].reason == SCHED_STARTS) == started[i], "reason", sim->s.waiting[i].id);
}

static void check_evictions(const struct sim *sim)
{
    const struct sched_snapshot *s = &sim->s;
    for (int32_t i = 0; i < sim->plan.n_evictions; i++) {
        const struct sched_eviction *e = &sim->plan.evictions[i];
        const struct sched_running *v = &s->running[e->victim];
        check(sim, v->preemptible && !v->stopping, "evicts what it must not", v->id);
        check(sim, v->priority < s->waiting[e->job].priority, "evicts no lower priority", v->id);
        check(sim, sim->plan.waits[e->job].reason == SCHED_EVICTING, "evicts without telling",
              s->waiting[e->job].id);
        for (int32_t k = 0; k < i; k++)
            check(sim, sim->plan.evictions[k].victim != e->victim, "evicts twice", v->id);
    }
}

/* Those who were promised room have started by the time at which all who were evicted must have gone. */
static void check_promises(const struct sim *sim, const bool *started)
{
    for (int32_t i = 0; i < sim->s.n_waiting && !sim->spec.trouble; i++) {
        const struct sim_job *j = &sim->jobs[sim->waiting_job[i]];
        check(sim, started[i] || !j->ask.promised || sim->s.now <= j->ask.promised_at + 30 * SECOND,
              "evicted in vain for", j->ask.id);
    }
}

void sim_check(const struct sim *sim)
{
    const struct sched_snapshot *s = &sim->s;
    struct arena auto_arena a = {0};
    arena_init(&a);
    struct use u = {
        .cpu = arena_array(&a, int64_t, (size_t)s->n_nodes),
        .memory = arena_array(&a, int64_t, (size_t)s->n_nodes),
        .cards = arena_array(&a, int32_t, (size_t)s->n_nodes * SCHED_CARDS_MAX),
        .project = arena_array(&a, int64_t, (size_t)s->n_projects * (2 + (size_t)s->n_kinds)),
    };
    for (int32_t i = 0; i < s->n_running; i++) {
        const struct sched_running *r = &s->running[i];
        for (int32_t k = 0; k < r->n_ranks; k++)
            use_rank(sim, &u, &r->request, &r->ranks[k]);
        use_project(sim, &u, r->project, &r->request, r->n_ranks);
    }
    bool *started = arena_array(&a, bool, (size_t)s->n_waiting + 1);
    check_starts(sim, &u, started);
    check_use(sim, &u);
    check_evictions(sim);
    check_promises(sim, started);
}

#include "simulate.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PASSES_MAX = 100000, KINDS = 3, CARDS = 8 };

static uint64_t draw(struct sim *sim)
{
    sim->random ^= sim->random << 13;
    sim->random ^= sim->random >> 7;
    sim->random ^= sim->random << 17;
    return sim->random * UINT64_C(0x2545f4914f6cdd1d) >> 11;
}

/* from..to, both possible */
static int64_t between(struct sim *sim, int64_t from, int64_t to)
{
    return from + (int64_t)(draw(sim) % (uint64_t)(to - from + 1));
}

static bool one_in(struct sim *sim, int64_t n)
{
    return between(sim, 1, n) == 1;
}

/* --- the world --- */

static void make_nodes(struct sim *sim)
{
    const struct sim_spec *spec = &sim->spec;
    sim->nodes = arena_array(&sim->arena, struct sched_node, (size_t)spec->nodes);
    for (int32_t i = 0; i < spec->nodes; i++) {
        struct sched_card *cards = arena_array(&sim->arena, struct sched_card, CARDS);
        int32_t n = spec->devices && one_in(sim, 2) ? (int32_t)between(sim, 1, CARDS) : 0;
        int32_t kind = (int32_t)between(sim, 0, KINDS - 1);
        for (int32_t k = 0; k < n; k++)
            cards[k] = (struct sched_card){one_in(sim, 10) ? (kind + 1) % KINDS : kind, one_in(sim, 20)};
        sim->nodes[i] = (struct sched_node){
            .id = 10 + i,
            .name = arena_printf(&sim->arena, "node-%d", (int)i),
            .pool = spec->pools ? (int32_t)between(sim, 0, 2) : 0,
            .arch = spec->arm && one_in(sim, 4) ? SCHED_ARCH_ARM : SCHED_ARCH_X86,
            .cpu = between(sim, 2, 16) * 1000,
            .memory = between(sim, 8, 64) * GIB,
            .cards = cards,
            .n_cards = n,
        };
    }
    sim->s.nodes = sim->nodes;
    sim->s.n_nodes = spec->nodes;
}

static void make_projects(struct sim *sim)
{
    const struct sim_spec *spec = &sim->spec;
    static const struct sched_kind kinds[KINDS] = {{"gpu-a", true}, {"gpu-b", true}, {"npu", false}};
    struct sched_project *projects = arena_array(&sim->arena, struct sched_project, (size_t)spec->projects);
    for (int32_t i = 0; i < spec->projects; i++) {
        int64_t *devices = arena_array(&sim->arena, int64_t, KINDS);
        for (int k = 0; k < KINDS; k++)
            devices[k] = spec->quotas && one_in(sim, 2) ? between(sim, 0, 12) * 500 : SCHED_UNLIMITED;
        projects[i] = (struct sched_project){
            .id = 100 + i,
            .quota = {spec->quotas ? between(sim, 4, 40) * 1000 : SCHED_UNLIMITED,
                      spec->quotas ? between(sim, 16, 200) * GIB : SCHED_UNLIMITED, devices},
            .weight = (int32_t)between(sim, 0, 3),
        };
    }
    static const int32_t owners[] = {0};
    struct sched_pool *pools = arena_array(&sim->arena, struct sched_pool, 3);
    pools[0] = (struct sched_pool){.id = 1, .name = "default"};
    pools[1] = (struct sched_pool){.id = 2, .name = "own", .projects = owners, .n_projects = 1};
    pools[2] = (struct sched_pool){.id = 3, .name = "other"};
    sim->s.kinds = kinds;
    sim->s.n_kinds = KINDS;
    sim->s.pools = pools;
    sim->s.n_pools = spec->pools ? 3 : 1;
    sim->s.projects = projects;
    sim->s.n_projects = spec->projects;
}

static struct sched_demand make_request(struct sim *sim)
{
    struct sched_demand r = {.cpu = between(sim, 1, 12) * 500, .memory = between(sim, 0, 24) * GIB};
    if (sim->spec.devices && one_in(sim, 2))
        r.wants[0] = (struct sched_want){(int32_t)between(sim, 0, KINDS - 1),
                                         one_in(sim, 3) ? (int32_t)between(sim, 1, 9) * 100
                                                        : (int32_t)between(sim, 1, 4) * SCHED_WHOLE};
    return r;
}

static void make_jobs(struct sim *sim)
{
    const struct sim_spec *spec = &sim->spec;
    sim->jobs = arena_array(&sim->arena, struct sim_job, (size_t)spec->jobs);
    for (int32_t i = 0; i < spec->jobs; i++) {
        struct sim_job *j = &sim->jobs[i];
        j->real_duration = between(sim, 5, 600) * SECOND;
        j->preemptible = spec->preemptible && one_in(sim, 2);
        j->ask = (struct sched_waiting){
            .id = 1000 + i,
            .project = (int32_t)between(sim, 0, spec->projects - 1),
            .user = between(sim, 1, spec->users),
            .priority = (int32_t)between(sim, 1, spec->priorities),
            .n_ranks = one_in(sim, 3) ? (int32_t)between(sim, 1, spec->gang_max) : 1,
            .spread = one_in(sim, 4),
            .request = make_request(sim),
            .arch = spec->arm && one_in(sim, 3) ? SCHED_ARCH_ARM : SCHED_ARCH_ANY,
            .pool = spec->pools && one_in(sim, 4) ? (int32_t)between(sim, 0, 2) : SCHED_NONE,
            .submitted_at = sim->s.now + (spec->span ? between(sim, 0, spec->span) : 0),
            .duration = j->real_duration,
        };
        if (spec->wrong_ends)
            j->ask.duration = between(sim, 5, 600) * SECOND;
        if (spec->unknown_ends && one_in(sim, 4))
            j->ask.duration = 0;
    }
}

void sim_init(struct sim *sim, const struct sim_spec *spec)
{
    *sim = (struct sim){.spec = *spec, .random = spec->seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    arena_init(&sim->arena);
    arena_init(&sim->pass_arena);
    sim->s.now = INT64_C(1800000000) * SECOND;
    sim->s.options = spec->options;
    make_nodes(sim);
    make_projects(sim);
    make_jobs(sim);
    size_t n = (size_t)spec->jobs + 1;
    sim->running = arena_array(&sim->arena, struct sched_running, n);
    sim->waiting = arena_array(&sim->arena, struct sched_waiting, n);
    sim->running_job = arena_array(&sim->arena, int32_t, n);
    sim->waiting_job = arena_array(&sim->arena, int32_t, n);
    sim->s.running = sim->running;
    sim->s.waiting = sim->waiting;
}

void sim_release(struct sim *sim)
{
    arena_release(&sim->pass_arena);
    arena_release(&sim->arena);
}

/* --- a pass --- */

static void snapshot(struct sim *sim)
{
    sim->s.n_running = sim->s.n_waiting = 0;
    for (int32_t i = 0; i < sim->spec.jobs; i++) {
        struct sim_job *j = &sim->jobs[i];
        if (j->state == SIM_COMING && j->ask.submitted_at <= sim->s.now)
            j->state = SIM_WAITING;
        if (j->state == SIM_WAITING) {
            sim->waiting_job[sim->s.n_waiting] = i;
            sim->waiting[sim->s.n_waiting++] = j->ask;
        }
        if (j->state != SIM_RUNNING)
            continue;
        sim->running_job[sim->s.n_running] = i;
        sim->running[sim->s.n_running++] = (struct sched_running){
            .id = j->ask.id,
            .project = j->ask.project,
            .user = j->ask.user,
            .priority = j->ask.priority,
            .request = j->ask.request,
            .ranks = j->ranks,
            .n_ranks = j->ask.n_ranks,
            .started_at = j->started_at,
            .expected_end = j->ask.duration ? j->started_at + j->ask.duration : 0,
            .preemptible = j->preemptible,
            .stopping = j->stopping,
        };
    }
}

static const struct sched_rank *keep(struct sim *sim, const struct sched_rank *from, int32_t n)
{
    struct sched_rank *ranks = arena_copy(&sim->arena, from, sizeof *ranks * (size_t)n);
    for (int32_t i = 0; i < n; i++)
        ranks[i].shares = ranks[i].n_shares ? arena_copy(&sim->arena, ranks[i].shares,
                                                         sizeof *ranks[i].shares * (size_t)ranks[i].n_shares)
                                            : NULL;
    return ranks;
}

static void digest(struct sim *sim, int64_t a, int64_t b)
{
    sim->digest = (sim->digest ^ (uint64_t)a * 31 ^ (uint64_t)b) * UINT64_C(0x100000001b3);
}

static void apply(struct sim *sim)
{
    for (int32_t i = 0; i < sim->plan.n_starts; i++) {
        const struct sched_start *s = &sim->plan.starts[i];
        struct sim_job *j = &sim->jobs[sim->waiting_job[s->job]];
        j->state = SIM_RUNNING;
        j->ranks = keep(sim, s->ranks, s->n_ranks);
        j->started_at = sim->s.now;
        j->ends_at = sim->s.now + j->real_duration;
        j->ask.promised = NULL;
        sim->starts++;
        digest(sim, j->ask.id, s->ranks[0].node);
    }
    for (int32_t i = 0; i < sim->plan.n_evictions; i++) {
        const struct sched_eviction *e = &sim->plan.evictions[i];
        struct sim_job *v = &sim->jobs[sim->running_job[e->victim]];
        struct sim_job *j = &sim->jobs[sim->waiting_job[e->job]];
        int64_t stops_at = sim->s.now + between(sim, 1, 30) * SECOND;
        v->stopping = true;
        v->evicted++;
        v->ends_at = v->ends_at < stops_at ? v->ends_at : stops_at;
        sim->evictions++;
        digest(sim, v->ask.id, j->ask.id);
    }
    for (int32_t i = 0; i < sim->plan.n_promises; i++) {
        struct sim_job *j = &sim->jobs[sim->waiting_job[sim->plan.promises[i].job]];
        j->ask.promised = keep(sim, sim->plan.promises[i].ranks, sim->plan.promises[i].n_ranks);
        j->ask.promised_at = sim->s.now;
    }
    for (int32_t i = 0; i < sim->s.n_waiting; i++) {
        struct sim_job *j = &sim->jobs[sim->waiting_job[i]];
        if (sched_reason_is_final(sim->plan.waits[i].reason))
            j->state = SIM_NEVER;
        digest(sim, j->ask.id, sim->plan.waits[i].reason);
    }
}

void sim_pass(struct sim *sim)
{
    struct err err = {0};
    arena_release(&sim->pass_arena);
    snapshot(sim);
    if (!sched_pass(&sim->s, &sim->pass_arena, &sim->plan, &err))
        fail_msg("pass: %s", err.message);
    sim->passes++;
    sim_check(sim);
    apply(sim);
}

/* --- time --- */

/* Ended, evicted, or its node is lost: it is done or comes again. */
static void finish(struct sim *sim, struct sim_job *j, bool again)
{
    j->state = again ? SIM_WAITING : SIM_DONE;
    j->stopping = false;
    j->ranks = NULL;
    if (again)
        j->ask.not_before = sim->s.now + between(sim, 0, 20) * SECOND;
}

static void trouble(struct sim *sim)
{
    struct sched_node *n = &sim->nodes[between(sim, 0, sim->spec.nodes - 1)];
    if (n->state != SCHED_NODE_READY) {
        n->state = SCHED_NODE_READY;
        return;
    }
    if (!one_in(sim, 4))
        return;
    n->state = one_in(sim, 2) ? SCHED_NODE_LOST : SCHED_NODE_DRAINING;
    for (int32_t i = 0; i < sim->spec.jobs && n->state == SCHED_NODE_LOST; i++) {
        struct sim_job *j = &sim->jobs[i];
        bool hit = false;
        for (int32_t k = 0; j->state == SIM_RUNNING && k < j->ask.n_ranks; k++)
            hit = hit || &sim->nodes[j->ranks[k].node] == n;
        if (hit)
            finish(sim, j, true);
    }
}

bool sim_advance(struct sim *sim)
{
    int64_t next = INT64_MAX;
    for (int32_t i = 0; i < sim->spec.jobs; i++) {
        const struct sim_job *j = &sim->jobs[i];
        int64_t t = j->state == SIM_COMING    ? j->ask.submitted_at
                    : j->state == SIM_RUNNING ? j->ends_at
                    : j->state == SIM_WAITING ? j->ask.not_before
                                              : 0;
        if (t > sim->s.now && t < next)
            next = t;
    }
    if (next == INT64_MAX)
        return false;
    sim->s.now = next;
    for (int32_t i = 0; i < sim->spec.jobs; i++) {
        struct sim_job *j = &sim->jobs[i];
        if (j->state == SIM_RUNNING && j->ends_at <= next)
            finish(sim, j, j->stopping && j->started_at + j->real_duration > next);
    }
    if (sim->spec.trouble)
        trouble(sim);
    return true;
}

/* Nothing more happens by itself: those who repair nodes come. */
static bool repair(struct sim *sim)
{
    bool some = false;
    for (int32_t i = 0; i < sim->spec.nodes; i++) {
        some = some || sim->nodes[i].state != SCHED_NODE_READY;
        sim->nodes[i].state = SCHED_NODE_READY;
    }
    return some;
}

void sim_run(struct sim *sim)
{
    do {
        sim_pass(sim);
        assert_true(sim->passes < PASSES_MAX);
    } while (sim_advance(sim) || repair(sim));
    for (int32_t i = 0; i < sim->spec.jobs; i++)
        if (sim->jobs[i].state != SIM_DONE && sim->jobs[i].state != SIM_NEVER)
            fail_msg("seed %llu: job %lld was never done (state %d)", (unsigned long long)sim->spec.seed,
                     (long long)sim->jobs[i].ask.id, (int)sim->jobs[i].state);
}

/* Placements per second and the time of a pass over a full cluster: 5,000 nodes, 50,000 waiting jobs.
 *   bench_sched [NODES [JOBS]]
 * CPU time of the process, so that a busy machine disturbs the figures little; the best of a few runs. */
#include "sched/sched.h"

#include <stdio.h>
#include <time.h>

#define SECOND INT64_C(1000000)
#define GIB    (INT64_C(1) << 30)

enum { KINDS = 4, PROJECTS = 200, CARDS = 8, RUNS = 5 };

static uint64_t seed = 42;

static int64_t between(int64_t from, int64_t to)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return from + (int64_t)((seed * UINT64_C(0x2545f4914f6cdd1d) >> 11) % (uint64_t)(to - from + 1));
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_cluster(struct sched_snapshot *s, int32_t n_nodes, struct arena *a)
{
    static const struct sched_kind kinds[KINDS] = {
        {"gpu-a100", true}, {"gpu-v100", true}, {"npu-910", false}, {"dtu-t20", false}};
    static const struct sched_pool pools[] = {{.id = 1, .name = "default"}, {.id = 2, .name = "large"}};
    struct sched_node *nodes = arena_array(a, struct sched_node, (size_t)n_nodes);
    for (int32_t i = 0; i < n_nodes; i++) {
        struct sched_card *cards = arena_array(a, struct sched_card, CARDS);
        int32_t kind = (int32_t)between(0, KINDS - 1);
        for (int32_t k = 0; k < CARDS; k++)
            cards[k].kind = kind;
        nodes[i] = (struct sched_node){
            .id = i + 1,
            .name = "node",
            .pool = i % 5 == 0,
            .arch = i % 8 == 0 ? SCHED_ARCH_ARM : SCHED_ARCH_X86,
            .cpu = 64000,
            .memory = 512 * GIB - between(0, 1 << 20) * 4096,
            .cards = cards,
            .n_cards = i % 2 ? CARDS : 0,
        };
    }
    struct sched_project *projects = arena_array(a, struct sched_project, PROJECTS);
    for (int32_t i = 0; i < PROJECTS; i++)
        projects[i] = (struct sched_project){.id = i + 1, .quota = {SCHED_UNLIMITED, SCHED_UNLIMITED, NULL}};
    s->kinds = kinds;
    s->n_kinds = KINDS;
    s->pools = pools;
    s->n_pools = (int32_t)countof(pools);
    s->nodes = nodes;
    s->n_nodes = n_nodes;
    s->projects = projects;
    s->n_projects = PROJECTS;
}

/* odd: every request is different, the worst case for remembering shapes */
static void make_queue(struct sched_snapshot *s, int32_t n_jobs, bool odd, struct arena *a)
{
    struct sched_waiting *jobs = arena_array(a, struct sched_waiting, (size_t)n_jobs);
    for (int32_t i = 0; i < n_jobs; i++) {
        struct sched_waiting *w = &jobs[i];
        *w = (struct sched_waiting){
            .id = i + 1,
            .project = (int32_t)between(0, PROJECTS - 1),
            .user = between(1, 1000),
            .priority = (int32_t)between(1, 5),
            .n_ranks = between(1, 20) == 1 ? (int32_t)between(2, 32) : 1,
            .request = {.cpu = between(1, 16) * 1000, .memory = between(1, 8) * 8 * GIB},
            .pool = SCHED_NONE,
            .submitted_at = s->now - between(0, 7200) * SECOND,
            .duration = between(0, 4) ? between(60, 86400) * SECOND : 0,
        };
        if (odd)
            w->request.memory += i * 4096;
        if (between(0, 2)) {
            int32_t kind = (int32_t)between(0, KINDS - 1), whole = (int32_t)between(1, 4) * SCHED_WHOLE;
            bool share = kind < 2 && between(0, 3) == 0;
            w->request.wants[0] = (struct sched_want){kind, share ? (int32_t)between(1, 5) * 100 : whole};
        }
    }
    s->waiting = jobs;
    s->n_waiting = n_jobs;
}

static struct sched_plan plan_for(const struct sched_snapshot *s, struct arena *a, double *ret_seconds)
{
    struct sched_plan plan = {0};
    *ret_seconds = 1e9;
    for (int i = 0; i < RUNS; i++) {
        struct err err;
        arena_release(a);
        double from = cpu_seconds();
        if (!sched_pass(s, a, &plan, &err)) {
            fprintf(stderr, "%s\n", err.message);
            exit(1);
        }
        double took = cpu_seconds() - from;
        *ret_seconds = took < *ret_seconds ? took : *ret_seconds;
    }
    return plan;
}

/* What the plan started runs now; half of it may be evicted. */
static void run_plan(struct sched_snapshot *s, const struct sched_plan *plan, struct arena *a)
{
    struct sched_running *running = arena_array(a, struct sched_running, (size_t)plan->n_starts + 1);
    for (int32_t i = 0; i < plan->n_starts; i++) {
        const struct sched_waiting *w = &s->waiting[plan->starts[i].job];
        running[i] = (struct sched_running){
            .id = w->id,
            .project = w->project,
            .user = w->user,
            .priority = w->priority,
            .request = w->request,
            .ranks = plan->starts[i].ranks,
            .n_ranks = plan->starts[i].n_ranks,
            .started_at = s->now - between(0, 3600) * SECOND,
            .expected_end = w->duration ? s->now + w->duration : 0,
            .preemptible = i % 2 == 0,
        };
    }
    s->running = running;
    s->n_running = plan->n_starts;
}

static void measure(int32_t nodes, int32_t jobs, bool odd)
{
    struct arena world, first, second;
    arena_init(&world);
    arena_init(&first);
    arena_init(&second);
    struct sched_snapshot s = {.now = INT64_C(1800000000) * SECOND};
    make_cluster(&s, nodes, &world);
    make_queue(&s, jobs, odd, &world);
    double filling, full, calm, looking;
    struct sched_plan plan = plan_for(&s, &first, &filling);
    int32_t ranks = 0;
    for (int32_t i = 0; i < plan.n_starts; i++)
        ranks += plan.starts[i].n_ranks;
    printf("%s requests, %d nodes, %d waiting\n", odd ? "all different" : "ordinary", (int)nodes, (int)jobs);
    printf("  filling an empty cluster: %d jobs (%d ranks) in %.1f ms: %.0f placements/s\n",
           (int)plan.n_starts, (int)ranks, filling * 1e3, plan.n_starts / filling);
    run_plan(&s, &plan, &world);
    make_queue(&s, jobs, odd, &world);
    s.options.max_evicting = -1;
    struct sched_plan quiet = plan_for(&s, &second, &calm);
    printf("  pass over the full cluster (%d running, %d start): %.1f ms\n", (int)s.n_running,
           (int)quiet.n_starts, calm * 1e3);
    s.options.max_evicting = 0;
    plan = plan_for(&s, &second, &full);
    printf("  the same with eviction (%d evicted): %.1f ms\n", (int)plan.n_evictions, full * 1e3);
    double from = cpu_seconds();
    struct sched_forecast f;
    struct sched_waiting one = s.waiting[0];
    struct err err;
    one.priority = 9;
    if (!sched_forecast(&s, &one, &second, &f, &err))
        fprintf(stderr, "%s\n", err.message);
    looking = cpu_seconds() - from;
    printf("  forecast: %.1f ms\n", looking * 1e3);
    arena_release(&world);
    arena_release(&first);
    arena_release(&second);
}

int main(int argc, char **argv)
{
    int32_t nodes = argc > 1 ? atoi(argv[1]) : 5000, jobs = argc > 2 ? atoi(argv[2]) : 50000;
    if (nodes < 1 || jobs < 1) {
        fprintf(stderr, "usage: bench_sched [NODES [JOBS]], both at least 1\n");
        return 2;
    }
    measure(nodes, jobs, false);
    measure(nodes, jobs, true);
    return 0;
}

#include "fixture.h"

void world_init(struct world *w)
{
    static const struct sched_kind kinds[] = {[GPU] = {"gpu-a100", true}, [NPU] = {"npu", false}};
    static const int32_t owners[] = {1};
    *w = (struct world){
        .pools = {{.id = 1, .name = "default"},
                  {.id = 2, .name = "own", .projects = owners, .n_projects = 1}},
        .s = {.now = NOW,
              .kinds = kinds,
              .n_kinds = (int32_t)countof(kinds),
              .n_pools = 1,
              .n_projects = (int32_t)countof(w->projects)},
    };
    for (int32_t i = 0; i < w->s.n_projects; i++) {
        w->devices[i][GPU] = w->devices[i][NPU] = SCHED_UNLIMITED;
        w->projects[i] = (struct sched_project){
            .id = i + 1, .quota = {SCHED_UNLIMITED, SCHED_UNLIMITED, w->devices[i]}, .weight = 1};
    }
    w->s.pools = w->pools;
    w->s.nodes = w->nodes;
    w->s.projects = w->projects;
    w->s.running = w->running;
    w->s.waiting = w->waiting;
    arena_init(&w->arena);
}

void world_release(struct world *w)
{
    buf_release(&w->text);
    arena_release(&w->arena);
}

struct sched_node *world_node(struct world *w, int64_t cpus, int64_t gib, int32_t gpus)
{
    assert_true(w->s.n_nodes < WORLD_MAX);
    struct sched_node *n = &w->nodes[w->s.n_nodes++];
    *n = (struct sched_node){
        .id = w->s.n_nodes,
        .name = "node",
        .arch = SCHED_ARCH_X86,
        .cpu = cpus * 1000,
        .memory = gib * GIB,
        .cards = arena_array(&w->arena, struct sched_card, (size_t)gpus + 1),
        .n_cards = gpus,
    };
    return n;
}

struct sched_waiting *world_job(struct world *w, int64_t cpus, int64_t gib, int32_t gpu_thousandths)
{
    assert_true(w->s.n_waiting < WORLD_MAX);
    struct sched_waiting *j = &w->waiting[w->s.n_waiting++];
    *j = (struct sched_waiting){
        .id = 100 + w->s.n_waiting,
        .user = 1,
        .priority = 5,
        .n_ranks = 1,
        .request = {.cpu = cpus * 1000, .memory = gib * GIB, .wants = {{GPU, gpu_thousandths}}},
        .pool = SCHED_NONE,
        .submitted_at = NOW - HOUR / 2 + w->s.n_waiting,
        .duration = HOUR,
    };
    return j;
}

struct sched_running *world_run(struct world *w, int32_t node, int64_t cpus, int64_t gib,
                                int32_t gpu_thousandths, int32_t first_card, int64_t left)
{
    assert_true(w->s.n_running < WORLD_MAX);
    struct sched_running *r = &w->running[w->s.n_running++];
    struct sched_rank *rank = arena_new(&w->arena, struct sched_rank);
    int32_t n = (gpu_thousandths + SCHED_WHOLE - 1) / SCHED_WHOLE;
    struct sched_share *shares = arena_array(&w->arena, struct sched_share, (size_t)n + 1);
    for (int32_t i = 0; i < n; i++)
        shares[i] = (struct sched_share){first_card + i, n == 1 ? gpu_thousandths : SCHED_WHOLE};
    *rank = (struct sched_rank){node, shares, n};
    *r = (struct sched_running){
        .id = w->s.n_running,
        .user = 1,
        .priority = 5,
        .request = {.cpu = cpus * 1000, .memory = gib * GIB, .wants = {{GPU, gpu_thousandths}}},
        .ranks = rank,
        .n_ranks = 1,
        .started_at = NOW - 10 * MINUTE,
        .expected_end = left ? NOW + left : 0,
    };
    return r;
}

void world_plan(struct world *w)
{
    struct err err = {0};
    if (!sched_pass(&w->s, &w->arena, &w->plan, &err))
        fail_msg("%s", err.message);
    assert_int_equal(w->plan.n_waits, w->s.n_waiting);
}

const struct sched_start *world_start(const struct world *w, int32_t job)
{
    for (int32_t i = 0; i < w->plan.n_starts; i++)
        if (w->plan.starts[i].job == job)
            return &w->plan.starts[i];
    return NULL;
}

const char *world_why(struct world *w, int32_t job, enum sched_language lang)
{
    buf_clear(&w->text);
    sched_reason_write(&w->s, &w->plan.waits[job], lang, &w->text);
    return w->text.p;
}

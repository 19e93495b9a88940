/* Rules that hold for every workload, over thousands of passes from fixed seeds. */
#include "simulate.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Everything at once: gangs, cards, quotas, pools, guessed and unknown ends, evictions. */
static struct sim_spec mixed(uint64_t seed)
{
    return (struct sim_spec){
        .seed = seed,
        .nodes = 4 + (int32_t)(seed % 13),
        .projects = 1 + (int32_t)(seed % 4),
        .users = 1 + (int32_t)(seed % 3),
        .jobs = 120,
        .span = (int64_t)(seed % 5) * 300 * SECOND,
        .gang_max = 1 + (int32_t)(seed % 6),
        .priorities = 1 + (int32_t)(seed % 4),
        .devices = seed % 3 != 0,
        .quotas = seed % 2 != 0,
        .pools = seed % 4 == 1,
        .arm = seed % 5 == 2,
        .unknown_ends = seed % 3 == 1,
        .wrong_ends = seed % 2 == 0,
        .preemptible = seed % 3 != 2,
    };
}

static void keeps_the_rules_and_starves_nobody(void **state)
{
    (void)state;
    int64_t passes = 0, evictions = 0, starts = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct sim_spec spec = mixed(seed);
        struct sim sim;
        sim_init(&sim, &spec);
        sim_run(&sim);
        passes += sim.passes;
        evictions += sim.evictions;
        starts += sim.starts;
        sim_release(&sim);
    }
    assert_true(passes > 2000);
    assert_true(evictions > 50);
    assert_true(starts > 2500);
}

static void survives_nodes_that_come_and_go(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 115; seed++) {
        struct sim_spec spec = mixed(seed);
        struct sim sim;
        spec.trouble = true;
        sim_init(&sim, &spec);
        sim_run(&sim);
        sim_release(&sim);
    }
}

static uint64_t digest_of(const struct sim_spec *spec)
{
    struct sim sim;
    sim_init(&sim, spec);
    sim_run(&sim);
    uint64_t digest = sim.digest;
    sim_release(&sim);
    return digest;
}

static void decides_the_same_every_time(void **state)
{
    (void)state;
    for (uint64_t seed = 200; seed < 206; seed++) {
        struct sim_spec spec = mixed(seed);
        assert_int_equal(digest_of(&spec), digest_of(&spec));
    }
}

/* First come, first served, with true durations: a promise to the head can be kept to the microsecond. */
static struct sim_spec queue(uint64_t seed)
{
    return (struct sim_spec){
        .seed = seed,
        .nodes = 3 + (int32_t)(seed % 6),
        .projects = 1,
        .users = 1,
        .jobs = 80,
        .span = (int64_t)(seed % 3) * 600 * SECOND,
        .gang_max = 4,
        .priorities = 1,
        .devices = seed % 2 != 0,
        .options = {.aging = -1},
    };
}

/* The first waiting job in order of submission; the sim lists them by id. */
static int32_t first_waiting(const struct sim *sim)
{
    int32_t first = SCHED_NONE;
    for (int32_t i = 0; i < sim->spec.jobs; i++) {
        const struct sim_job *j = &sim->jobs[i];
        if (j->state == SIM_WAITING &&
            (first == SCHED_NONE || j->ask.submitted_at < sim->jobs[first].ask.submitted_at))
            first = i;
    }
    return first;
}

static void keeps_what_the_head_was_told(void **state)
{
    (void)state;
    int32_t heads = 0, passed = 0;
    for (uint64_t seed = 300; seed < 330; seed++) {
        struct sim_spec spec = queue(seed);
        struct sim sim;
        sim_init(&sim, &spec);
        do {
            sim_pass(&sim);
            int32_t head = first_waiting(&sim);
            passed += head != SCHED_NONE && sim.plan.n_starts > 0;
            for (int32_t i = 0; i < sim.s.n_waiting && head != SCHED_NONE; i++)
                if (sim.waiting_job[i] == head && !sim.jobs[head].head_estimate) {
                    assert_true(sim.plan.waits[i].estimate > sim.s.now);
                    sim.jobs[head].head_estimate = sim.plan.waits[i].estimate;
                    heads++;
                }
        } while (sim_advance(&sim));
        for (int32_t i = 0; i < spec.jobs; i++)
            if (sim.jobs[i].head_estimate)
                assert_true(sim.jobs[i].started_at <= sim.jobs[i].head_estimate);
        sim_release(&sim);
    }
    assert_true(heads > 100);
    assert_true(passed > 100);
}

/* Plays until the first head has started; returns when. */
static int64_t start_of_first_head(const struct sim_spec *spec, int32_t *ret_others)
{
    struct sim sim;
    sim_init(&sim, spec);
    int32_t head = SCHED_NONE;
    do {
        sim_pass(&sim);
        if (head == SCHED_NONE)
            head = first_waiting(&sim);
    } while ((head == SCHED_NONE || sim.jobs[head].state == SIM_WAITING) && sim_advance(&sim));
    int64_t start = head == SCHED_NONE ? 0 : sim.jobs[head].started_at;
    *ret_others = (int32_t)sim.starts;
    sim_release(&sim);
    return start;
}

static void backfills_without_delay(void **state)
{
    (void)state;
    int32_t more = 0;
    for (uint64_t seed = 400; seed < 460; seed++) {
        struct sim_spec spec = queue(seed);
        int32_t with, without;
        spec.span = 0;
        int64_t start = start_of_first_head(&spec, &with);
        spec.options.no_backfill = true;
        assert_true(start <= start_of_first_head(&spec, &without));
        more += with > without;
    }
    assert_true(more > 30);
}

/* The order in which the caller lists waiting jobs must not matter. */
static void ignores_the_order_of_the_list(void **state)
{
    (void)state;
    for (uint64_t seed = 500; seed < 510; seed++) {
        struct sim_spec spec = mixed(seed);
        struct sim sim;
        spec.span = 0;
        sim_init(&sim, &spec);
        sim_pass(&sim);
        int32_t n = sim.s.n_waiting;
        struct sched_waiting *turned = arena_array(&sim.arena, struct sched_waiting, (size_t)n);
        for (int32_t i = 0; i < n; i++)
            turned[i] = sim.waiting[n - 1 - i];
        struct sched_snapshot s = sim.s;
        struct sched_plan plan;
        struct err err;
        s.waiting = turned;
        assert_true(sched_pass(&s, &sim.pass_arena, &plan, &err));
        assert_int_equal(plan.n_starts, sim.plan.n_starts);
        for (int32_t i = 0; i < plan.n_starts; i++) {
            assert_int_equal(turned[plan.starts[i].job].id, sim.waiting[sim.plan.starts[i].job].id);
            assert_int_equal(plan.starts[i].ranks[0].node, sim.plan.starts[i].ranks[0].node);
        }
        sim_release(&sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_rules_and_starves_nobody),
        cmocka_unit_test(survives_nodes_that_come_and_go),
        cmocka_unit_test(decides_the_same_every_time),
        cmocka_unit_test(keeps_what_the_head_was_told),
        cmocka_unit_test(backfills_without_delay),
        cmocka_unit_test(ignores_the_order_of_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

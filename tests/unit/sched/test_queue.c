/* Who passes whom (backfill) and who makes room (eviction), case by case. */
#include "fixture.h"

/* Two nodes of 8 CPUs: one has 4 free for ever, the other is full for an hour. The head wants 8. */
static void head_wants_a_node(struct world *w)
{
    world_init(w);
    world_node(w, 8, 64, 0);
    world_node(w, 8, 64, 0);
    world_run(w, 0, 4, 1, 0, 0, 0);
    world_run(w, 1, 4, 1, 0, 0, HOUR);
    world_job(w, 8, 1, 0);
}

static void tells_the_head_when(void **state)
{
    (void)state;
    struct world w;
    head_wants_a_node(&w);
    world_plan(&w);
    assert_int_equal(w.plan.waits[0].reason, SCHED_RESOURCE);
    assert_int_equal(w.plan.waits[0].estimate, NOW + HOUR);
    world_release(&w);
}

static void backfills_what_ends_in_time(void **state)
{
    (void)state;
    struct world w;
    head_wants_a_node(&w);
    world_job(&w, 4, 1, 0)->duration = 2 * HOUR; /* on the node that is not reserved */
    world_job(&w, 4, 1, 0)->duration = HOUR;     /* ends exactly when the head starts */
    world_plan(&w);
    assert_int_equal(world_start(&w, 1)->ranks[0].node, 0);
    assert_int_equal(world_start(&w, 2)->ranks[0].node, 1);
    assert_int_equal(w.plan.waits[0].estimate, NOW + HOUR);
    world_release(&w);
}

static void backfills_nothing_that_delays(void **state)
{
    (void)state;
    struct world w;
    head_wants_a_node(&w);
    world_run(&w, 0, 4, 1, 0, 0, 0); /* node 0 is full */
    world_job(&w, 4, 1, 0)->duration = HOUR + 1;
    world_job(&w, 4, 1, 0)->duration = 0;
    world_plan(&w);
    assert_int_equal(w.plan.n_starts, 0);
    assert_int_equal(w.plan.waits[1].reason, SCHED_TURN);
    assert_int_equal(w.plan.waits[1].count, 1);
    assert_int_equal(w.plan.waits[2].count, 2);
    world_release(&w);
}

/* A long job may use what the head leaves over on its own node. */
static void backfills_beside_the_head(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 4);
    world_run(&w, 0, 1, 1, 3000, 0, HOUR);
    world_job(&w, 2, 1, 3000);               /* the head */
    world_job(&w, 2, 1, 1000)->duration = 0; /* the fourth card */
    world_job(&w, 2, 1, 0)->duration = 0;    /* no card at all, but CPUs are left */
    world_plan(&w);
    assert_int_equal(w.plan.waits[0].estimate, NOW + HOUR);
    assert_int_equal(world_start(&w, 1)->ranks[0].shares[0].card, 3);
    assert_non_null(world_start(&w, 2));
    world_release(&w);
}

/* Nobody knows when the room comes: then it is kept, or the gang would wait for ever. */
static void keeps_room_when_ends_are_unknown(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    world_run(&w, 0, 4, 1, 0, 0, 0);
    world_job(&w, 8, 1, 0);
    world_job(&w, 4, 1, 0)->duration = MINUTE;
    world_plan(&w);
    assert_int_equal(w.plan.n_starts, 0);
    assert_int_equal(w.plan.waits[0].estimate, 0);
    world_release(&w);
}

static void reserves_for_each_part_of_the_cluster(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    world_node(&w, 8, 64, 0)->arch = SCHED_ARCH_ARM;
    world_run(&w, 0, 4, 1, 0, 0, HOUR);
    world_run(&w, 1, 4, 1, 0, 0, 2 * HOUR);
    world_job(&w, 8, 1, 0)->arch = SCHED_ARCH_X86;
    world_job(&w, 8, 1, 0)->arch = SCHED_ARCH_ARM;
    struct sched_waiting *x86 = world_job(&w, 4, 1, 0), *arm = world_job(&w, 4, 1, 0);
    x86->arch = SCHED_ARCH_X86;
    arm->arch = SCHED_ARCH_ARM;
    x86->duration = arm->duration = 90 * MINUTE;
    world_plan(&w);
    assert_int_equal(w.plan.waits[0].estimate, NOW + HOUR);
    assert_int_equal(w.plan.waits[1].estimate, NOW + 2 * HOUR);
    assert_null(world_start(&w, 2));
    assert_non_null(world_start(&w, 3));
    world_release(&w);
}

/* A job of the head's project must not take the quota that the head will need. */
static void keeps_the_quota_of_the_head(void **state)
{
    (void)state;
    struct world w;
    head_wants_a_node(&w);
    w.projects[0].quota.cpu = 16000; /* 8 in use, of which 4 end in time; the head needs 8 */
    world_node(&w, 7, 64, 0);        /* too small for the head */
    world_job(&w, 4, 1, 0)->duration = 2 * HOUR;
    world_job(&w, 2, 1, 0)->duration = 2 * HOUR;
    world_plan(&w);
    assert_non_null(world_start(&w, 1)); /* 4 + 4 + 8 */
    assert_int_equal(w.plan.waits[2].reason, SCHED_TURN);
    w.projects[0].quota.cpu = 18000;
    world_plan(&w);
    assert_non_null(world_start(&w, 2));
    world_release(&w);
}

/* Ends what is over at s.now and starts what the plan starts. */
static void step(struct world *w)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < w->s.n_running; i++)
        if (!w->running[i].expected_end || w->running[i].expected_end > w->s.now)
            w->running[kept++] = w->running[i];
    w->s.n_running = kept;
    world_plan(w);
    for (int32_t i = 0; i < w->plan.n_starts; i++) {
        const struct sched_waiting *j = &w->waiting[w->plan.starts[i].job];
        struct sched_running *r = world_run(w, 0, 0, 0, 0, 0, 0);
        r->project = j->project;
        r->request = j->request;
        r->ranks = w->plan.starts[i].ranks;
        r->n_ranks = w->plan.starts[i].n_ranks;
        r->expected_end = j->duration ? w->s.now + j->duration : 0;
    }
    kept = 0;
    for (int32_t i = 0; i < w->s.n_waiting; i++)
        if (w->plan.waits[i].reason != SCHED_STARTS)
            w->waiting[kept++] = w->waiting[i];
    w->s.n_waiting = kept;
}

/* The gang's project has more than its share, and the other one always has work: age brings the gang to the
 * front, and the reservation then keeps room for it. */
static void starves_no_gang(void **state)
{
    (void)state;
    for (int64_t duration = 0; duration <= 2 * HOUR; duration += HOUR) { /* 0: nobody knows the ends */
        struct world w;
        world_init(&w);
        for (int i = 0; i < 4; i++)
            world_node(&w, 4, 64, 0);
        world_node(&w, 64, 512, 0)->arch = SCHED_ARCH_ARM;
        world_run(&w, 4, 64, 512, 0, 0, 0);
        struct sched_waiting *gang = world_job(&w, 4, 1, 0);
        gang->n_ranks = 4;
        gang->arch = SCHED_ARCH_X86;
        int32_t passes = 0;
        do {
            while (w.s.n_waiting < 20) {
                struct sched_waiting *small = world_job(&w, 1, 1, 0);
                small->id = 1000 + 100 * passes + w.s.n_waiting;
                small->project = 1;
                small->arch = SCHED_ARCH_X86;
                small->submitted_at = w.s.now;
                small->duration = duration;
            }
            step(&w);
            for (int32_t i = 0; i < w.s.n_running && !duration; i++) /* they do end, unforeseen */
                if (w.running[i].project == 1 && (passes + i) % 7 == 0)
                    w.running[i].expected_end = w.s.now + 1;
            w.s.now += 10 * MINUTE;
            assert_true(++passes < 200);
        } while (w.waiting[0].n_ranks == 4);
        assert_true(passes > 3);
        world_release(&w);
    }
}

/* --- eviction --- */

static struct sched_running *low(struct world *w, int32_t node, int64_t cpus, int32_t priority)
{
    struct sched_running *r = world_run(w, node, cpus, 1, 0, 0, 0);
    r->priority = priority;
    r->preemptible = true;
    return r;
}

static void evicts_the_cheapest(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    world_node(&w, 8, 64, 0);
    low(&w, 0, 4, 2);
    low(&w, 0, 4, 1);
    low(&w, 1, 4, 1)->started_at = NOW - MINUTE; /* the least work is lost */
    low(&w, 1, 4, 3);
    world_job(&w, 4, 1, 0);
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 1);
    assert_int_equal(w.plan.evictions[0].victim, 2);
    assert_int_equal(w.plan.evictions[0].job, 0);
    assert_int_equal(w.plan.n_promises, 1);
    assert_int_equal(w.plan.promises[0].ranks[0].node, 1);
    assert_int_equal(w.plan.waits[0].reason, SCHED_EVICTING);
    assert_int_equal(w.plan.waits[0].estimate, NOW + 30 * SECOND);
    world_release(&w);
}

static void evicts_only_whom_it_must(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    low(&w, 0, 1, 1); /* cheapest, but does not help */
    low(&w, 0, 6, 2);
    world_job(&w, 6, 1, 0);
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 1);
    assert_int_equal(w.plan.evictions[0].victim, 1);
    world_release(&w);
}

static void evicts_nobody_in_vain(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    low(&w, 0, 2, 1);
    low(&w, 0, 2, 5);                  /* not lower */
    low(&w, 0, 4, 1)->preemptible = 0; /* not to be evicted */
    world_job(&w, 4, 1, 0);            /* 2 would not be enough */
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 0);
    w.waiting[0].request.cpu = 2000;
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 1);
    w.s.options.max_evicting = -1;
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 0);
    w.s.options.max_evicting = 0;
    w.projects[0].quota.cpu = 9000; /* 8 in use: the room would be of no use */
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 0);
    world_release(&w);
}

static void evicts_gangs_whole(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    world_node(&w, 8, 64, 0);
    static const struct sched_rank ranks[] = {{0, NULL, 0}, {1, NULL, 0}};
    struct sched_running *gang = low(&w, 0, 8, 1);
    gang->ranks = ranks;
    gang->n_ranks = 2;
    world_job(&w, 8, 1, 0);
    world_job(&w, 8, 1, 0); /* gets the other half without a further eviction */
    world_job(&w, 8, 1, 0);
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 1);
    assert_int_equal(w.plan.waits[0].reason, SCHED_EVICTING);
    assert_int_equal(w.plan.waits[0].count, 1);
    assert_int_equal(w.plan.waits[1].reason, SCHED_EVICTING);
    assert_int_equal(w.plan.waits[1].count, 0);
    assert_int_equal(w.plan.waits[2].reason, SCHED_RESOURCE);
    world_release(&w);
}

static void evicts_for_gangs_with_cards(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    for (int32_t i = 0; i < 3; i++) {
        world_node(&w, 8, 64, 2);
        struct sched_running *r = world_run(&w, i, 1, 1, 2000, 0, 0);
        r->priority = 1;
        r->preemptible = i != 1;
    }
    struct sched_waiting *gang = world_job(&w, 1, 1, 1000);
    gang->n_ranks = 4;
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 2);
    assert_int_equal(w.plan.promises[0].n_ranks, 4);
    gang->n_ranks = 5;
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 0);
    world_release(&w);
}

/* The next passes: nobody else is evicted, and nobody takes the room, not even who goes before. */
static void keeps_promises(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    low(&w, 0, 4, 1);
    low(&w, 0, 4, 1);
    world_job(&w, 4, 1, 0);
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 1);
    int32_t victim = w.plan.evictions[0].victim;
    w.waiting[0].promised = w.plan.promises[0].ranks;
    w.waiting[0].promised_at = NOW;
    w.running[victim].stopping = true;
    struct sched_waiting *other = world_job(&w, 4, 1, 0);
    other->priority = 5;
    other->submitted_at = 0;
    w.running[1 - victim].preemptible = false;
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 0);
    assert_int_equal(w.plan.waits[0].reason, SCHED_EVICTING);
    assert_int_equal(w.plan.waits[1].reason, SCHED_RESOURCE);
    w.running[victim] = w.running[1 - victim]; /* it has gone */
    w.s.n_running = 1;
    world_plan(&w);
    assert_non_null(world_start(&w, 0));
    assert_null(world_start(&w, 1));
    w.nodes[0].state = SCHED_NODE_LOST; /* a promise of a lost node is void */
    world_node(&w, 8, 64, 0);
    world_plan(&w);
    assert_int_equal(world_start(&w, 0)->ranks[0].node, 1);
    world_release(&w);
}

static void waits_for_those_who_stop_anyway(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    low(&w, 0, 4, 1);
    low(&w, 0, 4, 1)->stopping = true;
    world_job(&w, 4, 1, 0);
    world_plan(&w);
    assert_int_equal(w.plan.n_evictions, 0);
    assert_int_equal(w.plan.waits[0].reason, SCHED_EVICTING);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_the_head_when),
        cmocka_unit_test(backfills_what_ends_in_time),
        cmocka_unit_test(backfills_nothing_that_delays),
        cmocka_unit_test(backfills_beside_the_head),
        cmocka_unit_test(keeps_room_when_ends_are_unknown),
        cmocka_unit_test(reserves_for_each_part_of_the_cluster),
        cmocka_unit_test(keeps_the_quota_of_the_head),
        cmocka_unit_test(starves_no_gang),
        cmocka_unit_test(evicts_the_cheapest),
        cmocka_unit_test(evicts_only_whom_it_must),
        cmocka_unit_test(evicts_nobody_in_vain),
        cmocka_unit_test(evicts_gangs_whole),
        cmocka_unit_test(evicts_for_gangs_with_cards),
        cmocka_unit_test(keeps_promises),
        cmocka_unit_test(waits_for_those_who_stop_anyway),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* One small case for each rule of placing: cards, gangs, nodes, pools, quotas, order. */
#include "fixture.h"

static void places_whole_cards_and_shares(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 16, 64, 3);
    world_run(&w, 0, 1, 1, 500, 1, HOUR); /* half of card 1 */
    world_job(&w, 1, 1, 2000);            /* cards 0 and 2: card 1 is not empty */
    world_job(&w, 1, 1, 500);             /* the other half of card 1 */
    world_job(&w, 1, 1, 100);             /* nothing left */
    world_plan(&w);
    const struct sched_start *whole = world_start(&w, 0), *half = world_start(&w, 1);
    assert_non_null(whole);
    assert_int_equal(whole->ranks[0].n_shares, 2);
    assert_int_equal(whole->ranks[0].shares[0].card, 0);
    assert_int_equal(whole->ranks[0].shares[1].card, 2);
    assert_non_null(half);
    assert_int_equal(half->ranks[0].shares[0].card, 1);
    assert_int_equal(half->ranks[0].shares[0].thousandths, 500);
    assert_null(world_start(&w, 2));
    world_release(&w);
}

static void puts_shares_on_the_fullest_card(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 16, 64, 2);
    world_run(&w, 0, 1, 1, 300, 1, HOUR);
    world_job(&w, 1, 1, 600);
    world_job(&w, 1, 1, 1000);
    world_plan(&w);
    assert_int_equal(world_start(&w, 0)->ranks[0].shares[0].card, 1);
    assert_int_equal(world_start(&w, 1)->ranks[0].shares[0].card, 0);
    world_release(&w);
}

static void wants_two_kinds_at_once(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    static const struct sched_card cards[] = {{GPU, false}, {NPU, false}};
    world_node(&w, 16, 64, 2);
    struct sched_node *both = world_node(&w, 16, 64, 2);
    both->cards = cards;
    world_job(&w, 1, 1, 1000)->request.wants[1] = (struct sched_want){NPU, 1000};
    world_plan(&w);
    assert_int_equal(world_start(&w, 0)->ranks[0].node, 1);
    assert_int_equal(world_start(&w, 0)->ranks[0].n_shares, 2);
    world_release(&w);
}

static void leaves_broken_cards_alone(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    static const struct sched_card cards[] = {{GPU, true}, {GPU, false}};
    world_node(&w, 16, 64, 2)->cards = cards;
    world_job(&w, 1, 1, 1000);
    world_plan(&w);
    assert_int_equal(world_start(&w, 0)->ranks[0].shares[0].card, 1);
    world_release(&w);
}

static void keeps_nodes_with_cards_for_those_who_need_them(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 4);
    world_node(&w, 64, 64, 0);
    world_job(&w, 8, 1, 0);
    world_plan(&w);
    assert_int_equal(world_start(&w, 0)->ranks[0].node, 1);
    world_release(&w);
}

static void starts_gangs_whole_or_not(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    world_node(&w, 8, 64, 0);
    struct sched_waiting *gang = world_job(&w, 4, 1, 0);
    gang->n_ranks = 4;
    world_plan(&w);
    assert_int_equal(world_start(&w, 0)->n_ranks, 4);
    world_run(&w, 0, 1, 1, 0, 0, HOUR);
    world_plan(&w);
    assert_int_equal(w.plan.n_starts, 0);
    assert_int_equal(w.plan.waits[0].reason, SCHED_GANG);
    assert_int_equal(w.plan.waits[0].most, 3);
    gang->n_ranks = 3;
    world_plan(&w);
    assert_int_equal(world_start(&w, 0)->n_ranks, 3);
    gang->spread = true; /* two nodes only */
    world_plan(&w);
    assert_int_equal(w.plan.waits[0].reason, SCHED_GANG_TOO_LARGE);
    gang->n_ranks = 2;
    world_plan(&w);
    assert_int_not_equal(world_start(&w, 0)->ranks[0].node, world_start(&w, 0)->ranks[1].node);
    world_release(&w);
}

static void keeps_to_nodes_in_service_arch_and_pool(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    w.s.n_pools = 2;
    world_node(&w, 8, 64, 0)->state = SCHED_NODE_DRAINING;
    world_node(&w, 8, 64, 0)->state = SCHED_NODE_LOST;
    world_node(&w, 8, 64, 0)->pool = 1;
    world_node(&w, 8, 64, 0)->arch = SCHED_ARCH_ARM;
    world_node(&w, 8, 64, 0);
    world_job(&w, 8, 1, 0)->arch = SCHED_ARCH_ARM;
    world_job(&w, 8, 1, 0)->project = 1; /* its own pool comes first */
    world_job(&w, 8, 1, 0)->pool = 0;
    world_job(&w, 1, 1, 0)->pool = 1; /* of others */
    world_job(&w, 1, 1, 0);
    world_plan(&w);
    assert_int_equal(world_start(&w, 0)->ranks[0].node, 3);
    assert_int_equal(world_start(&w, 1)->ranks[0].node, 2);
    assert_int_equal(world_start(&w, 2)->ranks[0].node, 4);
    assert_int_equal(w.plan.waits[3].reason, SCHED_POOL_CLOSED);
    assert_int_equal(w.plan.waits[4].reason, SCHED_RESOURCE);
    world_release(&w);
}

static void never_exceeds_a_quota(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 64, 256, 8);
    w.projects[0].quota.cpu = 8000;
    w.devices[0][GPU] = 1500;
    world_run(&w, 0, 4, 1, 1000, 0, HOUR);
    world_job(&w, 4, 1, 500);
    world_job(&w, 1, 1, 0);
    world_job(&w, 0, 1, 500);
    world_job(&w, 4, 1, 1000)->project = 1; /* another project is not concerned */
    world_job(&w, 9, 1, 0);                 /* more than the quota */
    world_plan(&w);
    assert_non_null(world_start(&w, 0));
    assert_int_equal(w.plan.waits[1].reason, SCHED_QUOTA);
    assert_int_equal(w.plan.waits[1].resource, SCHED_CPU);
    assert_int_equal(w.plan.waits[1].used, 8000);
    assert_int_equal(w.plan.waits[1].estimate, NOW + HOUR);
    assert_int_equal(w.plan.waits[2].reason, SCHED_QUOTA);
    assert_int_equal(w.plan.waits[2].resource, SCHED_DEVICE);
    assert_non_null(world_start(&w, 3));
    assert_int_equal(w.plan.waits[4].reason, SCHED_OVER_QUOTA);
    world_release(&w);
}

/* A large job that waits for quota is not passed for ever by small ones of its project. */
static void keeps_the_place_of_who_waits_for_quota(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 64, 256, 0);
    w.projects[0].quota.cpu = 8000;
    world_run(&w, 0, 4, 1, 0, 0, HOUR);
    world_job(&w, 8, 1, 0);
    world_job(&w, 2, 1, 0)->duration = 2 * HOUR; /* would be in the way */
    world_job(&w, 2, 1, 0)->duration = HOUR / 2; /* is over in time */
    world_job(&w, 2, 1, 0)->duration = 0;        /* nobody knows */
    world_job(&w, 2, 1, 0)->project = 1;
    world_plan(&w);
    assert_int_equal(w.plan.waits[0].reason, SCHED_QUOTA);
    assert_int_equal(w.plan.waits[1].reason, SCHED_TURN);
    assert_non_null(world_start(&w, 2));
    assert_int_equal(w.plan.waits[3].reason, SCHED_TURN);
    assert_non_null(world_start(&w, 4));
    world_release(&w);
}

static void goes_by_priority_then_age(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 4, 64, 0);
    world_job(&w, 4, 1, 0);
    struct sched_waiting *high = world_job(&w, 4, 1, 0);
    high->priority = 6;
    struct sched_waiting *old = world_job(&w, 4, 1, 0);
    world_plan(&w);
    assert_non_null(world_start(&w, 1));
    old->submitted_at = NOW - 2 * HOUR; /* two steps of priority */
    world_plan(&w);
    assert_non_null(world_start(&w, 2));
    w.s.options.aging = -1;
    world_plan(&w);
    assert_non_null(world_start(&w, 1));
    high->not_before = NOW + MINUTE;
    world_plan(&w);
    assert_non_null(world_start(&w, 2)); /* the oldest of the rest */
    assert_int_equal(w.plan.waits[1].reason, SCHED_BACKOFF);
    world_release(&w);
}

/* Starts by project of `count` slots of one CPU. */
static void shares_of(struct world *w, int32_t count, int32_t ret[3])
{
    world_node(w, count, 256, 0);
    for (int32_t i = 0; i < 3 * count; i++)
        world_job(w, 1, 1, 0)->project = i / count; /* project 0 was first with all of its jobs */
    world_plan(w);
    assert_int_equal(w->plan.n_starts, count);
    memset(ret, 0, 3 * sizeof *ret);
    for (int32_t i = 0; i < count; i++)
        ret[w->waiting[w->plan.starts[i].job].project]++;
}

static void shares_fairly_between_projects(void **state)
{
    (void)state;
    struct world w;
    int32_t n[3];
    world_init(&w);
    shares_of(&w, 12, n);
    assert_int_equal(n[0], 4);
    assert_int_equal(n[1], 4);
    assert_int_equal(n[2], 4);
    world_release(&w);
    world_init(&w);
    w.projects[2].weight = 4;
    shares_of(&w, 12, n);
    assert_int_equal(n[0], 2);
    assert_int_equal(n[1], 2);
    assert_int_equal(n[2], 8);
    world_release(&w);
}

/* Who has all the cards has more than who has nearly all CPUs. */
static void compares_dominant_shares(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 40, 256, 1);
    world_run(&w, 0, 1, 1, 1000, 0, HOUR)->project = 0;
    world_run(&w, 0, 38, 1, 0, 0, HOUR)->project = 1;
    world_job(&w, 1, 1, 0)->project = 0;
    world_job(&w, 1, 1, 0)->project = 1;
    world_plan(&w);
    assert_null(world_start(&w, 0));
    assert_non_null(world_start(&w, 1));
    world_release(&w);
}

static void lets_users_of_a_project_take_turns(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 4, 64, 0);
    for (int i = 0; i < 6; i++)
        world_job(&w, 1, 1, 0)->user = 1;
    for (int i = 0; i < 6; i++)
        world_job(&w, 1, 1, 0)->user = 2;
    world_plan(&w);
    int32_t n = 0;
    for (int32_t i = 0; i < w.plan.n_starts; i++)
        n += w.waiting[w.plan.starts[i].job].user == 2;
    assert_int_equal(w.plan.n_starts, 4);
    assert_int_equal(n, 2);
    world_release(&w);
}

static void plans_nothing_for_nobody(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_plan(&w);
    assert_int_equal(w.plan.n_starts, 0);
    world_job(&w, 1, 1, 0);
    world_plan(&w);
    assert_int_equal(w.plan.waits[0].reason, SCHED_POOL_EMPTY);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_whole_cards_and_shares),
        cmocka_unit_test(puts_shares_on_the_fullest_card),
        cmocka_unit_test(wants_two_kinds_at_once),
        cmocka_unit_test(leaves_broken_cards_alone),
        cmocka_unit_test(keeps_nodes_with_cards_for_those_who_need_them),
        cmocka_unit_test(starts_gangs_whole_or_not),
        cmocka_unit_test(keeps_to_nodes_in_service_arch_and_pool),
        cmocka_unit_test(never_exceeds_a_quota),
        cmocka_unit_test(keeps_the_place_of_who_waits_for_quota),
        cmocka_unit_test(goes_by_priority_then_age),
        cmocka_unit_test(shares_fairly_between_projects),
        cmocka_unit_test(compares_dominant_shares),
        cmocka_unit_test(lets_users_of_a_project_take_turns),
        cmocka_unit_test(plans_nothing_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

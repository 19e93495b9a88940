/* Snapshots that contradict themselves are refused, with array, index and rule. */
#include "fixture.h"

static void is_refused(struct world *w, const char *array, const char *message)
{
    struct err err = {0};
    struct sched_plan plan = {.n_waits = 7};
    assert_false(sched_pass(&w->s, &w->arena, &plan, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_string_equal(err.field, array);
    assert_string_equal(err.message, message);
    assert_int_equal(plan.n_waits, 7);
}

static void make(struct world *w)
{
    world_init(w);
    world_node(w, 8, 64, 1);
    world_node(w, 8, 64, 1);
    world_run(w, 0, 1, 1, 1000, 0, HOUR);
    world_job(w, 1, 1, 0);
    world_plan(w);
}

static void refuses_bad_nodes_and_projects(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    w.nodes[1].id = 1;
    is_refused(&w, "nodes", "nodes[1]: ids must ascend");
    w.nodes[1].id = 2;
    w.nodes[1].pool = 5;
    is_refused(&w, "nodes", "nodes[1]: pool does not exist");
    w.nodes[1].pool = 0;
    w.nodes[0].arch = SCHED_ARCH_ANY;
    is_refused(&w, "nodes", "nodes[0]: arch must be x86 or arm");
    w.nodes[0].arch = SCHED_ARCH_ARM;
    w.nodes[0].cpu = -1;
    is_refused(&w, "nodes", "nodes[0]: cpu must be 0 to 2^32 millicores and memory 0 to 2^50 bytes");
    w.nodes[0].cpu = 0;
    w.projects[2].quota.memory = -2;
    is_refused(&w, "projects", "projects[2]: a quota must be unlimited (-1), 0 or more");
    w.projects[2].quota.memory = 0;
    w.projects[2].weight = -1;
    is_refused(&w, "projects", "projects[2]: weight must not be negative");
    w.projects[2].weight = 0;
    w.s.now = -1;
    is_refused(&w, "now", "now: -1 is no time");
    world_release(&w);
}

static void refuses_bad_jobs(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    w.waiting[0].project = 3;
    is_refused(&w, "waiting", "waiting[0]: project does not exist");
    w.waiting[0].project = 0;
    w.waiting[0].n_ranks = SCHED_RANKS_MAX + 1;
    is_refused(&w, "waiting", "waiting[0]: ranks must be 1 to 4096");
    w.waiting[0].n_ranks = 1;
    w.waiting[0].request.wants[0] = (struct sched_want){GPU, 1500};
    is_refused(&w, "waiting", "waiting[0]: devices must be whole cards, or a share of one");
    w.waiting[0].request.wants[0] = (struct sched_want){9, 1000};
    is_refused(&w, "waiting", "waiting[0]: a wanted kind of device does not exist");
    w.waiting[0].request.wants[0] = w.waiting[0].request.wants[1] = (struct sched_want){GPU, 1000};
    is_refused(&w, "waiting", "waiting[0]: wants the same kind of device twice");
    w.waiting[0].request.wants[1].thousandths = 0;
    const struct sched_rank nowhere = {.node = 2};
    w.waiting[0].promised = &nowhere;
    is_refused(&w, "waiting", "waiting[0]: node of a rank does not exist");
    w.waiting[0].promised = NULL;
    w.running[0].ranks = &nowhere;
    is_refused(&w, "running", "running[0]: node of a rank does not exist");
    world_release(&w);
}

/* A node that shrank holds more than it has, and cards may have been taken out: nothing new comes, nothing
 * breaks. */
static void accepts_nodes_that_shrank(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    w.nodes[0].cpu = 0;
    w.nodes[0].n_cards = 0;
    w.nodes[1].state = SCHED_NODE_LOST;
    world_plan(&w);
    assert_int_equal(w.plan.n_starts, 0);
    world_release(&w);
}

static void finds_by_id_and_name(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    assert_int_equal(sched_find_node(&w.s, 2), 1);
    assert_int_equal(sched_find_node(&w.s, 3), SCHED_NONE);
    assert_int_equal(sched_find_project(&w.s, 3), 2);
    assert_int_equal(sched_find_project(&w.s, 0), SCHED_NONE);
    assert_int_equal(sched_find_pool(&w.s, 1), 0);
    assert_int_equal(sched_find_kind(&w.s, "npu"), NPU);
    assert_int_equal(sched_find_kind(&w.s, "tpu"), SCHED_NONE);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_nodes_and_projects),
        cmocka_unit_test(refuses_bad_jobs),
        cmocka_unit_test(accepts_nodes_that_shrank),
        cmocka_unit_test(finds_by_id_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

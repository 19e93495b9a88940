/* Every sentence, in both languages, from a case that brings it about. */
#include "fixture.h"

static void says(struct world *w, int32_t job, const char *en, const char *zh)
{
    assert_string_equal(world_why(w, job, SCHED_EN), en);
    assert_string_equal(world_why(w, job, SCHED_ZH), zh);
}

static void says_what_can_never_be(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    w.s.n_pools = 2;
    world_node(&w, 16, 64, 2);
    w.projects[2].quota.cpu = 4000;
    world_job(&w, 64, 1, 0);
    world_job(&w, 1, 1, 0)->request.wants[0] = (struct sched_want){NPU, 1000};
    world_job(&w, 1, 1, 0)->arch = SCHED_ARCH_ARM;
    world_job(&w, 1, 1, 0)->pool = 1;
    struct sched_waiting *own = world_job(&w, 1, 1, 0);
    own->pool = 1;
    own->project = 1;
    world_job(&w, 1, 1, 0)->request.wants[0] = (struct sched_want){NPU, 500};
    world_job(&w, 16, 1, 0)->n_ranks = 4;
    world_job(&w, 8, 1, 0)->project = 2;
    world_job(&w, 1, 1, 3000)->pool = 0;
    world_plan(&w);
    says(&w, 0, "no node has 64 CPUs (the largest has 16 CPUs): it can never start",
         "没有节点拥有 64 核 CPU（最大的有 16 核 CPU）：永远无法启动");
    says(&w, 1, "no node has npu: it can never start", "没有节点拥有 npu：永远无法启动");
    says(&w, 2, "there is no ARM node for it: it can never start", "没有可用的 ARM 节点：永远无法启动");
    says(&w, 3, "it may not use nodes in pool own, reserved to other projects: it can never start",
         "资源池 own 保留给其他项目：永远无法启动");
    says(&w, 4, "there are no nodes in pool own for it: it can never start",
         "资源池 own 没有可用节点：永远无法启动");
    says(&w, 5, "npu cannot be shared, only whole cards: it can never start",
         "npu 不支持共享，只能申请整卡：永远无法启动");
    says(&w, 6, "its gang needs 4 nodes, but there are only 1 even when all is free: it can never start",
         "同组需要 4 个节点，全部空闲时也只有 1 个：永远无法启动");
    says(&w, 7, "wants 8 CPUs, but the project's quota is 4 CPUs: it can never start",
         "需要 8 核 CPU，而项目配额为 4 核 CPU：永远无法启动");
    says(&w, 8, "no node in pool default has 3 gpu-a100 (the largest has 2 gpu-a100): it can never start",
         "资源池 default 没有节点拥有 3 gpu-a100（最大的有 2 gpu-a100）：永远无法启动");
    for (int32_t i = 0; i < w.s.n_waiting; i++)
        assert_true(sched_reason_is_final(w.plan.waits[i].reason));
    world_release(&w);
}

static void says_what_is_never_together(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 4, 64, 2);
    world_node(&w, 16, 64, 0);
    world_job(&w, 8, 1, 1000);
    world_plan(&w);
    says(&w, 0, "no node has 1 gpu-a100 together with the rest of its request: it can never start",
         "没有节点同时拥有 1 gpu-a100 和其余所需资源：永远无法启动");
    world_release(&w);
}

static void says_which_resource(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 2);
    world_node(&w, 8, 64, 2);
    world_run(&w, 0, 6, 60, 1000, 0, HOUR);
    world_run(&w, 1, 1, 1, 2000, 0, HOUR);
    world_job(&w, 1, 1, 2000);
    world_plan(&w);
    says(&w, 0, "waits for 2 gpu-a100; 1 is free in pool default", "等待 2 gpu-a100；资源池 default 空闲 1");
    w.waiting[0].request = (struct sched_demand){.cpu = 7500, .memory = GIB};
    world_plan(&w);
    says(&w, 0, "waits for 7.5 CPUs on one node; 9 are free in pool default, but at most 7 CPUs on one",
         "等待同一节点上的 7.5 核 CPU；资源池 default 共空闲 9，单个节点最多 7 核 CPU");
    w.waiting[0].request = (struct sched_demand){.cpu = 1000, .memory = 64 * GIB};
    world_plan(&w);
    says(&w, 0,
         "waits for 64 GiB of memory on one node; 67 GiB is free in pool default, but at most 63 GiB of "
         "memory on one",
         "等待同一节点上的 64 GiB 内存；资源池 default 共空闲 67 GiB，单个节点最多 63 GiB 内存");
    w.waiting[0].request = (struct sched_demand){.cpu = 7000, .memory = GIB, .wants = {{GPU, 500}}};
    world_plan(&w);
    says(&w, 0,
         "waits for a node in pool default with 0.5 gpu-a100 and the rest of its request free together",
         "等待资源池 default 某个节点同时空出 0.5 gpu-a100 和其余所需资源");
    world_release(&w);
}

static void says_whose_turn_it_is(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    world_run(&w, 0, 4, 1, 0, 0, HOUR);
    world_job(&w, 8, 1, 0);
    world_job(&w, 4, 1, 0)->duration = 0;
    world_job(&w, 4, 1, 0)->duration = 0;
    world_job(&w, 4, 1, 0)->not_before = NOW + MINUTE;
    world_plan(&w);
    says(&w, 1, "waits its turn: 1 job is before it", "排队等候：前面还有 1 个作业");
    says(&w, 2, "waits its turn: 2 jobs are before it", "排队等候：前面还有 2 个作业");
    says(&w, 3, "backs off until 2027-01-15 08:01:00 UTC", "退避重试，等待至 2027-01-15 08:01:00 UTC");
    world_release(&w);
}

static void says_quota_gang_and_start(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 16, 64, 0);
    w.projects[0].quota.cpu = 8000;
    world_run(&w, 0, 8, 1, 0, 0, HOUR);
    world_job(&w, 1, 1, 0);
    struct sched_waiting *gang = world_job(&w, 4, 1, 0);
    gang->project = 1;
    gang->n_ranks = 4;
    world_job(&w, 1, 1, 0)->project = 2;
    world_plan(&w);
    says(&w, 0, "the project's quota of 8 CPUs is used up (8 in use)",
         "项目的 8 核 CPU 配额已用尽（已用 8）");
    says(&w, 1, "waits for all 4 nodes of its gang; there is room for 1",
         "等待同组全部 4 个节点；目前可容纳 1 个");
    says(&w, 2, "starts now", "立即启动");
    w.projects[0].quota.cpu = 8500;
    world_plan(&w);
    says(&w, 0, "the project's quota of 8.5 CPUs has no room for 1 CPU more (8 in use)",
         "项目的 8.5 核 CPU 配额容不下新增的 1 核 CPU（已用 8）");
    w.projects[0].quota.cpu = SCHED_UNLIMITED;
    w.projects[0].quota.memory = 1536 * (GIB >> 10);
    world_plan(&w);
    says(&w, 0,
         "the project's quota of 1.5 GiB of memory has no room for 1 GiB of memory more (1 GiB in use)",
         "项目的 1.5 GiB 内存 配额容不下新增的 1 GiB 内存（已用 1 GiB）");
    world_release(&w);
}

static void says_who_makes_room(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    struct sched_node *node = world_node(&w, 8, 64, 0);
    for (int i = 0; i < 2; i++) {
        struct sched_running *r = world_run(&w, 0, 4, 1, 0, 0, 0);
        r->preemptible = true;
        r->priority = 1;
    }
    world_job(&w, 8, 1, 0);
    world_plan(&w);
    says(&w, 0, "waits until 2 jobs of lower priority have stopped to make room for it",
         "等待 2 个低优先级作业停止，为其腾出资源");
    w.running[0].stopping = w.running[1].stopping = true;
    world_plan(&w);
    says(&w, 0, "waits until jobs that are being stopped have left its room", "等待正在停止的作业释放资源");
    node->state = SCHED_NODE_DRAINING;
    world_plan(&w);
    says(&w, 0, "waits for nodes that are drained or lost (1)", "等待已排空或失联的节点恢复（1 个）");
    world_release(&w);
}

static void has_a_name_for_every_reason(void **state)
{
    (void)state;
    for (int i = 0; i < SCHED_REASON_COUNT; i++) {
        assert_non_null(sched_reason_name((enum sched_reason)i));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(sched_reason_name((enum sched_reason)i),
                                    sched_reason_name((enum sched_reason)k));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_can_never_be),      cmocka_unit_test(says_what_is_never_together),
        cmocka_unit_test(says_which_resource),         cmocka_unit_test(says_whose_turn_it_is),
        cmocka_unit_test(says_quota_gang_and_start),   cmocka_unit_test(says_who_makes_room),
        cmocka_unit_test(has_a_name_for_every_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

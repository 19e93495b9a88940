/* Estimates, and the forecast for a job that is not submitted yet. */
#include "fixture.h"

static struct sched_forecast forecast(struct world *w, const struct sched_waiting *job)
{
    struct sched_forecast f;
    struct err err = {0};
    if (!sched_forecast(&w->s, job, &w->arena, &f, &err))
        fail_msg("%s", err.message);
    return f;
}

static void says(struct world *w, const struct sched_forecast *f, const char *en, const char *zh)
{
    buf_clear(&w->text);
    sched_forecast_write(&w->s, f, SCHED_EN, &w->text);
    assert_string_equal(w->text.p, en);
    buf_clear(&w->text);
    sched_forecast_write(&w->s, f, SCHED_ZH, &w->text);
    assert_string_equal(w->text.p, zh);
}

/* A job as the fixture makes them, taken out of the queue again. */
static struct sched_waiting job_of(struct world *w, int64_t cpus)
{
    struct sched_waiting job = *world_job(w, cpus, 1, 0);
    w->s.n_waiting--;
    return job;
}

static void starts_at_once_when_there_is_room(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    struct sched_waiting job = job_of(&w, 8);
    struct sched_forecast f = forecast(&w, &job);
    assert_true(f.admitted && f.possible);
    assert_int_equal(f.start, NOW);
    says(&w, &f, "starts at once", "可立即启动");
    world_release(&w);
}

/* One node; what runs ends in an hour, then two that wait take an hour each, then it is our turn. */
static void waits_behind_the_queue(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    world_run(&w, 0, 8, 1, 0, 0, HOUR);
    world_job(&w, 8, 1, 0);
    world_job(&w, 8, 1, 0);
    struct sched_waiting job = job_of(&w, 8);
    struct sched_forecast f = forecast(&w, &job);
    assert_true(f.admitted && f.possible);
    assert_int_equal(f.start, NOW + 3 * HOUR);
    says(&w, &f, "starts in about 3 hours: waits for 8 CPUs; 0 are free in pool default",
         "预计 3 小时后启动：等待 8 核 CPU；资源池 default 空闲 0");
    job.duration = 10 * MINUTE;
    job.request.cpu = 0; /* needs next to nothing: passes them all */
    f = forecast(&w, &job);
    assert_int_equal(f.start, NOW);
    world_release(&w);
}

static void knows_quota_and_the_impossible(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    w.projects[0].quota.cpu = 4000;
    world_run(&w, 0, 4, 1, 0, 0, 20 * MINUTE);
    struct sched_waiting job = job_of(&w, 1);
    struct sched_forecast f = forecast(&w, &job);
    assert_false(f.admitted);
    assert_true(f.possible);
    assert_int_equal(f.start, NOW + 20 * MINUTE);
    says(&w, &f, "starts in about 20 minutes: the project's quota of 4 CPUs is used up (4 in use)",
         "预计 20 分钟后启动：项目的 4 核 CPU 配额已用尽（已用 4）");
    w.running[0].expected_end = 0;
    f = forecast(&w, &job);
    assert_int_equal(f.start, 0);
    says(&w, &f, "when it starts cannot be told: the project's quota of 4 CPUs is used up (4 in use)",
         "无法估计启动时间：项目的 4 核 CPU 配额已用尽（已用 4）");
    job.project = 1;
    job.request.cpu = 9000;
    f = forecast(&w, &job);
    assert_false(f.possible);
    says(&w, &f, "no node has 9 CPUs (the largest has 8 CPUs): it can never start",
         "没有节点拥有 9 核 CPU（最大的有 8 核 CPU）：永远无法启动");
    world_release(&w);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    struct sched_waiting job = job_of(&w, 1);
    struct sched_forecast f = {.start = 7};
    struct err err = {0};
    job.n_ranks = 0;
    assert_false(sched_forecast(&w.s, &job, &w.arena, &f, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_int_equal(f.start, 7);
    world_release(&w);
}

static void estimates_the_front_of_the_queue(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 8, 64, 0);
    world_run(&w, 0, 8, 1, 0, 0, HOUR);
    for (int i = 0; i < 4; i++)
        world_job(&w, 8, 1, 0);
    world_plan(&w);
    assert_int_equal(w.plan.waits[0].estimate, NOW + HOUR);
    assert_int_equal(w.plan.waits[1].estimate, 0);
    w.s.options.estimates = 3;
    world_plan(&w);
    for (int i = 0; i < 3; i++)
        assert_int_equal(w.plan.waits[i].estimate, NOW + (i + 1) * HOUR);
    assert_int_equal(w.plan.waits[3].estimate, 0);
    world_release(&w);
}

static void estimates_a_long_queue(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    world_node(&w, 1, 64, 0);
    w.s.options.aging = -1;
    for (int i = 0; i < 60; i++)
        world_job(&w, 1, 1, 0)->duration = MINUTE;
    w.s.options.estimates = 60;
    world_plan(&w);
    assert_non_null(world_start(&w, 0));
    for (int i = 1; i < 60; i++)
        assert_int_equal(w.plan.waits[i].estimate, NOW + i * MINUTE);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_at_once_when_there_is_room), cmocka_unit_test(waits_behind_the_queue),
        cmocka_unit_test(knows_quota_and_the_impossible),    cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(estimates_the_front_of_the_queue),  cmocka_unit_test(estimates_a_long_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* From the scheduler's plan to the table. */
#include "base/hash.h"
#include "core/compute/node.h"
#include "core/job/plan_input.h"

#define SAY_EVERY_US INT64_C(1500000)
#define ESTIMATES    200               /* jobs at the front of the queue whose start is estimated */
#define MOVED_US     INT64_C(60000000) /* an estimate that changed by less is left alone */

/* --- nodes, as far as the executor tells something new --- */

static bool sync_nodes(struct tick *l, struct err *err)
{
    struct exec *x = l->jobs->exec;
    struct exec_node *nodes;
    size_t n;
    auto_buf struct buf text = {0};
    if (!x->ops->nodes(x, l->arena, &nodes, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        buf_printf(&text, "%s %s %lld %lld %lld %d %s\n", nodes[i].name, nodes[i].arch,
                   (long long)nodes[i].cpu_millis, (long long)nodes[i].memory, (long long)nodes[i].disk,
                   nodes[i].ready, nodes[i].reason);
        for (size_t k = 0; k < nodes[i].n_devices; k++)
            buf_printf(&text, "%s %s\n", nodes[i].devices[k].kind, nodes[i].devices[k].path);
    }
    uint64_t seen = hash64(buf_view(&text));
    if (l->jobs->nodes_seen == seen)
        return true;
    if (!node_sync(l->jobs->core, nodes, n, l->arena, err))
        return false;
    l->jobs->nodes_seen = seen;
    return true;
}

/* --- starting --- */

struct starting {
    const struct object *job;
    struct str placement;
    int32_t attempt; /* 0: it was not started */
};

struct starts {
    struct starting *list;
    int32_t n;
};

static bool start_one(struct op *op, struct starting *s, struct err *err)
{
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_job, s->job->id, &now, &found, err))
        return false;
    if (!found || job_state_of(&now) != JOB_QUEUED)
        return true; /* it was stopped or deleted meanwhile */
    s->attempt = (int32_t)object_int(&now, "attempt") + 1;
    *object_value(&now, "attempt") = db_int(s->attempt);
    *object_value(&now, "exit_code") = db_null();
    *object_value(&now, "placement") = db_text(s->placement);
    *object_value(&now, "not_before") = db_null();
    return job_set_state(op, &now, &(struct job_change){.from = JOB_QUEUED, .to = JOB_STARTING}, err);
}

static bool starts_write(struct op *op, void *ctx, struct err *err)
{
    struct starts *s = ctx;
    for (int32_t i = 0; i < s->n; i++) {
        s->list[i].attempt = 0;
        if (!start_one(op, &s->list[i], err))
            return false;
    }
    return true;
}

/* All in one commit, then launched. */
static bool start_all(struct tick *l, struct plan_input *s, const struct sched_plan *plan, struct err *err)
{
    struct starts starts = {arena_array(l->arena, struct starting, (size_t)plan->n_starts + 1),
                            plan->n_starts};
    for (int32_t i = 0; i < plan->n_starts; i++) {
        const struct sched_start *start = &plan->starts[i];
        starts.list[i] = (struct starting){.job = &l->job[s->waiting_job[start->job]],
                                           .placement = plan_input_placement(s, start)};
    }
    if (!starts.n)
        return true;
    if (!engine_write(l->jobs->core, &caller_system, l->arena, starts_write, &starts, err))
        return false;
    for (int32_t i = 0; i < starts.n; i++)
        if (starts.list[i].attempt)
            jobs_launch(l->jobs, starts.list[i].job->id, starts.list[i].attempt);
    return true;
}

/* --- making room --- */

struct evicting {
    const struct object *victim, *winner;
};

static bool evict_write(struct op *op, void *ctx, struct err *err)
{
    struct evicting *e = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_job, e->victim->id, &now, &found, err))
        return false;
    enum job_state state = found ? job_state_of(&now) : JOB_STOPPED;
    if (state != JOB_STARTING && state != JOB_RUNNING)
        return true;
    long long id = (long long)e->winner->id, priority = (long long)object_int(e->winner, "priority");
    struct job_change c = {
        .from = state,
        .to = JOB_STOPPING,
        .reason = arena_printf(op->arena, "makes room for job %lld of priority %lld; it is queued again", id,
                               priority),
        .reason_zh = arena_printf(op->arena, "为优先级 %lld 的作业 %lld 让出资源，将重新排队", priority, id),
        .then = JOB_THEN_QUEUED};
    return job_set_state(op, &now, &c, err);
}

static bool evict_all(struct tick *l, struct plan_input *s, const struct sched_plan *plan, struct err *err)
{
    for (int32_t i = 0; i < plan->n_evictions; i++) {
        struct evicting e = {&l->job[s->running_job[plan->evictions[i].victim]],
                             &l->job[s->waiting_job[plan->evictions[i].job]]};
        if (!engine_write(l->jobs->core, &caller_system, l->arena, evict_write, &e, err))
            return false;
    }
    if (plan->n_evictions)
        jobs_wake(l->jobs);
    return true;
}

/* --- why the others wait --- */

struct wait_reason {
    const struct object *job;
    const char *reason, *reason_zh;
    int64_t estimate;
};

struct wait_reasons {
    struct wait_reason *list;
    size_t n;
};

static bool write_reason(struct op *op, const struct wait_reason *s, struct err *err)
{
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_job, s->job->id, &now, &found, err))
        return false;
    if (!found || job_state_of(&now) != JOB_QUEUED)
        return true;
    return engine_set_status(
        op, &kind_job, now.id,
        ENGINE_STATUSES(status_set("reason", db_textz(s->reason)),
                        status_set("reason_zh", db_textz(s->reason_zh)),
                        status_set("estimate", s->estimate ? db_int(s->estimate) : db_null())),
        err);
}

static bool says_write(struct op *op, void *ctx, struct err *err)
{
    const struct wait_reasons *s = ctx;
    for (size_t i = 0; i < s->n; i++)
        if (!write_reason(op, &s->list[i], err))
            return false;
    return true;
}

/* Only what is new. */
static void add_reason(struct wait_reasons *all, struct wait_reason s)
{
    int64_t known = object_int(s.job, "estimate"), moved = known - s.estimate;
    bool same = !known == !s.estimate && moved < MOVED_US && moved > -MOVED_US;
    if (!same || !str_is(object_text(s.job, "reason"), s.reason))
        all->list[all->n++] = s;
}

static void add_wait(struct tick *l, struct plan_input *s, int32_t w, const struct sched_wait *wait,
                     struct wait_reasons *all)
{
    auto_buf struct buf en = {0}, zh = {0};
    sched_reason_write(&s->snapshot, wait, SCHED_EN, &en);
    sched_reason_write(&s->snapshot, wait, SCHED_ZH, &zh);
    add_reason(all, (struct wait_reason){.job = &l->job[s->waiting_job[w]],
                                         .reason = arena_strz(l->arena, buf_view(&en)),
                                         .reason_zh = arena_strz(l->arena, buf_view(&zh)),
                                         .estimate = wait->estimate});
}

/* Jobs that the snapshot leaves out. */
static void add_impossible(struct tick *l, struct plan_input *s, struct wait_reasons *all)
{
    struct sched_demand ignored;
    for (size_t i = 0; i < l->n; i++)
        if (job_state_of(&l->job[i]) == JOB_QUEUED && !plan_input_demand_of(s, &l->job[i], &ignored))
            add_reason(all, (struct wait_reason){
                                .job = &l->job[i],
                                .reason = "its spec asks for more or other devices than any node can have",
                                .reason_zh = "规格要求的设备超出任何节点的能力"});
}

/* All in one commit, and not with every look: a long queue that moves changes every sentence. */
static bool write_reasons(struct tick *l, struct plan_input *s, const struct sched_plan *plan,
                          struct err *err)
{
    struct wait_reasons all = {arena_array(l->arena, struct wait_reason, l->n + 1), 0};
    if (l->now - l->jobs->said_at < SAY_EVERY_US)
        return true;
    for (int32_t i = 0; i < plan->n_waits; i++)
        if (plan->waits[i].reason != SCHED_STARTS)
            add_wait(l, s, i, &plan->waits[i], &all);
    add_impossible(l, s, &all);
    if (!all.n)
        return true;
    l->jobs->said_at = l->now;
    return engine_write(l->jobs->core, &caller_system, l->arena, says_write, &all, err);
}

bool jobs_place(struct tick *l, struct err *err)
{
    struct plan_input s = {.core = l->jobs->core,
                           .arena = l->arena,
                           .job = l->job,
                           .n = l->n,
                           .snapshot = {.now = l->now, .options = {.estimates = ESTIMATES}}};
    struct sched_plan plan;
    if (!sync_nodes(l, err))
        return false;
    bool waits = false;
    for (size_t i = 0; i < l->n; i++)
        waits = waits || job_state_of(&l->job[i]) == JOB_QUEUED;
    if (!waits)
        return true;
    if (!plan_input_build(&s, l->jobs->promises, err) || !sched_pass(&s.snapshot, l->arena, &plan, err))
        return false;
    promises_update(l->jobs, &s, &plan);
    return start_all(l, &s, &plan, err) && evict_all(l, &s, &plan, err) && write_reasons(l, &s, &plan, err);
}

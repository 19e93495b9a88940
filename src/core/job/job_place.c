/* From the scheduler's plan to the table. */
#include "base/hash.h"
#include "core/compute/node.h"
#include "core/job/scene.h"
#include "core/pending.h"

#define ESTIMATES 200               /* jobs at the front of the queue whose start is estimated */
#define MOVED_US  INT64_C(60000000) /* an estimate that changed by less is left alone */

/* --- nodes, as far as the executor tells something new --- */

static bool sync_nodes(struct look *l, struct err *err)
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
    struct object *job;
    struct str placement;
};

static bool start_write(struct op *op, void *ctx, struct err *err)
{
    struct starting *s = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_job, s->job->id, &now, &found, err))
        return false;
    if (!found || job_state_of(&now) != JOB_QUEUED)
        return true; /* somebody stopped or deleted it meanwhile */
    *object_value(&now, "attempt") = db_int(object_int(&now, "attempt") + 1);
    *object_value(&now, "exit_code") = db_null();
    *object_value(&now, "placement") = db_text(s->placement);
    *object_value(&now, "not_before") = db_null();
    return job_set_state(op, &now, &(struct job_change){.from = JOB_QUEUED, .to = JOB_STARTING}, err);
}

static bool start_all(struct look *l, struct scene *s, const struct sched_plan *plan, struct err *err)
{
    for (int32_t i = 0; i < plan->n_starts; i++) {
        const struct sched_start *start = &plan->starts[i];
        struct starting c = {&l->job[s->waiting_job[start->job]],
                             scene_placement(s, start->ranks, start->n_ranks)};
        if (!engine_write(l->jobs->core, &caller_system, l->arena, start_write, &c, err))
            return false;
    }
    if (plan->n_starts)
        jobs_wake(l->jobs);
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

static bool evict_all(struct look *l, struct scene *s, const struct sched_plan *plan, struct err *err)
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

/* --- saying why the others wait --- */

struct saying {
    const struct object *job;
    const char *reason, *reason_zh;
    int64_t estimate;
};

static bool say_write(struct op *op, void *ctx, struct err *err)
{
    struct saying *s = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_job, s->job->id, &now, &found, err))
        return false;
    if (!found || job_state_of(&now) != JOB_QUEUED)
        return true;
    pending_add(op->pending, &now, "update");
    return conn_exec(op->conn, "UPDATE jobs SET reason = ?, reason_zh = ?, estimate = ? WHERE id = ?",
                     db_args(db_textz(s->reason), db_textz(s->reason_zh),
                             s->estimate ? db_int(s->estimate) : db_null(), db_int(now.id)),
                     NULL, err);
}

static bool say(struct look *l, struct saying *s, struct err *err)
{
    int64_t known = object_int(s->job, "estimate"), moved = known - s->estimate;
    bool same = !known == !s->estimate && moved < MOVED_US && moved > -MOVED_US;
    if (same && str_is(object_text(s->job, "reason"), s->reason))
        return true;
    return engine_write(l->jobs->core, &caller_system, l->arena, say_write, s, err);
}

static bool say_wait(struct look *l, struct scene *s, int32_t w, const struct sched_wait *wait,
                     struct err *err)
{
    auto_buf struct buf en = {0}, zh = {0};
    sched_reason_write(&s->snapshot, wait, SCHED_EN, &en);
    sched_reason_write(&s->snapshot, wait, SCHED_ZH, &zh);
    struct saying x = {.job = &l->job[s->waiting_job[w]],
                       .reason = arena_strz(l->arena, buf_view(&en)),
                       .reason_zh = arena_strz(l->arena, buf_view(&zh)),
                       .estimate = wait->estimate};
    return say(l, &x, err);
}

/* Jobs that the snapshot leaves out. */
static bool say_impossible(struct look *l, struct scene *s, struct err *err)
{
    for (size_t i = 0; i < l->n; i++) {
        struct sched_request ignored;
        if (job_state_of(&l->job[i]) != JOB_QUEUED ||
            scene_request(s, object_int(&l->job[i], "spec"), &ignored))
            continue;
        struct saying x = {.job = &l->job[i],
                           .reason = "its spec asks for more or other devices than any node can have",
                           .reason_zh = "规格要求的设备超出任何节点的能力"};
        if (!say(l, &x, err))
            return false;
    }
    return true;
}

bool jobs_place(struct look *l, struct err *err)
{
    struct scene s = {.core = l->jobs->core,
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
    if (!scene_build(&s, l->jobs->promises, err) || !sched_pass(&s.snapshot, l->arena, &plan, err))
        return false;
    promises_update(l->jobs, &s, &plan);
    if (!start_all(l, &s, &plan, err) || !evict_all(l, &s, &plan, err))
        return false;
    for (int32_t i = 0; i < plan.n_waits; i++)
        if (plan.waits[i].reason != SCHED_STARTS && !say_wait(l, &s, i, &plan.waits[i], err))
            return false;
    return say_impossible(l, &s, err);
}

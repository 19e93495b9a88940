/* The controller: looks, compares, does what is missing. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "core/job/curves.h"
#include "core/job/jobs_own.h"
#include "core/job/owner.h"
#include "core/job/plan_input.h"
#include "core/job/sentence.h"
#include "core/row.h"
#include "exec/local/local.h"

#include <stdio.h>

#define TICK_S        1
#define BACKOFF_US    INT64_C(5000000)
#define LOST_MAX      20
#define REST_NS       UINT64_C(50000000)
#define REST_LEAST_NS UINT64_C(8000000)
#define MANY          64 /* jobs */

struct exec *jobs_exec(struct jobs *j)
{
    return j ? j->exec : NULL;
}

struct exec *jobs_exec_wait(struct jobs *j)
{
    if (!j)
        return NULL;
    pthread_mutex_lock(&j->lock);
    while (!j->opened)
        pthread_cond_wait(&j->opening, &j->lock);
    pthread_mutex_unlock(&j->lock);
    return j->exec;
}

struct curves *jobs_curves(struct jobs *j)
{
    return j->curves;
}

/* --- looking --- */

struct ranks tick_ranks(const struct tick *l, const struct object *job)
{
    struct ranks r = {.wanted = (int32_t)object_int(job, "nodes")};
    int32_t attempt = (int32_t)object_int(job, "attempt"), seen = 0;
    for (size_t i = 0; i < l->n_status; i++) {
        const struct exec_status *s = &l->status[i];
        if (s->id.job != job->id || s->id.attempt != attempt)
            continue;
        seen++;
        r.starting += s->state == EXEC_STARTING;
        r.running += s->state == EXEC_RUNNING;
        r.exited += s->state == EXEC_EXITED;
        r.started_us = s->started_us > r.started_us ? s->started_us : r.started_us;
        bool bad = s->state == EXEC_EXITED && !(s->end == EXEC_END_EXIT && s->code == 0);
        if (bad && (!r.failed || r.failed->end == EXEC_END_STOPPED))
            r.failed = s;
    }
    r.missing = r.wanted - seen;
    return r;
}

/* --- changing one job --- */

struct move {
    const struct object *job;
    struct job_change change;
    int64_t not_before;
    const struct exec_status *end;
    bool uncounted; /* it goes back to the queue for no fault of its own: no retry is counted */
    bool moved;
};

static bool move_write(struct op *op, void *ctx, struct err *err)
{
    struct move *m = ctx;
    struct object now;
    bool found;
    m->moved = false;
    if (!engine_load_row(op, &kind_job, m->job->id, &now, &found, err))
        return false;
    if (!found || job_state_of(&now) != m->change.from)
        return true; /* somebody else was faster: the next look sees it */
    if (m->end && m->end->code >= 0)
        *object_value(&now, "exit_code") = db_int(m->end->code);
    if (m->uncounted)
        *object_value(&now, "evicted") = db_int(object_int(&now, "evicted") + 1);
    *object_value(&now, "not_before") = m->not_before ? db_int(m->not_before) : db_null();
    m->moved = true;
    return job_set_state(op, &now, &m->change, err);
}

static bool move(struct tick *l, struct move *m, struct err *err)
{
    return engine_write(l->jobs->core, &caller_system, l->arena, move_write, m, err);
}

/* At the end of the look, with others in one commit: for changes that only tell what has happened already. */
static bool move_later(struct tick *l, const struct move *m)
{
    if (!l->moves)
        l->moves = arena_array(l->arena, struct move, l->n + 1);
    l->moves[l->n_moves++] = *m;
    return true;
}

static bool moves_write(struct op *op, void *ctx, struct err *err)
{
    struct tick *l = ctx;
    for (size_t i = 0; i < l->n_moves; i++)
        if (!move_write(op, &l->moves[i], err))
            return false;
    return true;
}

/* Together; when that fails each for itself, so that one cannot hold up the others. */
static void write_moves(struct tick *l)
{
    struct err err = {0};
    if (!l->n_moves || engine_write(l->jobs->core, &caller_system, l->arena, moves_write, l, &err))
        return;
    for (size_t i = 0; i < l->n_moves; i++) {
        struct err one = {0};
        if (!move(l, &l->moves[i], &one))
            log_warn("job %lld: %s", (long long)l->moves[i].job->id, one.message);
    }
}

/* The jobs that moved as they are now, without those that are over: what they leave is free at once. */
static bool read_moved(struct tick *l, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n_moves; i++) {
        struct object *job = &l->job[l->moves[i].job - l->job];
        struct row_key key = {.id = job->id};
        bool found;
        if (!row_load(l->jobs->core->db, NULL, l->arena, &kind_job, &key, job, &found, err))
            return false;
        if (!found || job_is_over(job_state_of(job)))
            job->id = 0;
    }
    for (size_t i = 0; i < l->n; i++)
        if (l->job[i].id)
            l->job[n++] = l->job[i];
    l->n = n;
    return true;
}

/* Why a container ended badly. */
static const char *end_reason(struct tick *l, const struct exec_status *s)
{
    if (s->reason[0])
        return arena_strdup(l->arena, s->reason);
    switch (s->end) {
    case EXEC_END_OOM:
        return "it needed more memory than its spec gives";
    case EXEC_END_SIGNAL:
        return arena_printf(l->arena, "ended by signal %d", s->signal);
    case EXEC_END_LOST:
        return "its container was lost";
    default:
        return arena_printf(l->arena, "ended with exit code %d", s->code);
    }
}

static void to_be_tried_again(struct tick *l, struct move *m, int64_t failures, const char *why)
{
    m->change.to = JOB_QUEUED;
    m->not_before = l->now + (BACKOFF_US << (failures > 6 ? 6 : failures - 1));
    m->change.reason = arena_printf(l->arena, "%s; it is tried again", why);
}

/* All ranks have ended: what becomes of the job? */
static void judge(struct tick *l, const struct object *job, const struct ranks *r, struct move *m)
{
    static const struct exec_status well = {.code = 0};
    enum job_then then = job_then_of(job);
    bool stopping = m->change.from == JOB_STOPPING;
    int64_t failures = object_int(job, "attempt") - object_int(job, "evicted");
    m->end = r->failed;
    if (stopping && (then != JOB_THEN_RETRY || !r->failed)) {
        m->uncounted = then == JOB_THEN_QUEUED;
        m->change.to = then == JOB_THEN_STOPPED  ? JOB_STOPPED
                       : then == JOB_THEN_QUEUED ? JOB_QUEUED
                                                 : JOB_FAILED;
        m->change.reason = arena_strz(l->arena, object_text(job, "reason"));
        m->change.reason_zh = arena_strz(l->arena, object_text(job, "reason_zh"));
    } else if (!r->failed) {
        m->change.to = JOB_COMPLETED;
        m->end = &well;
    } else if (r->failed->end == EXEC_END_LOST && object_int(job, "evicted") < LOST_MAX) {
        m->change.to = JOB_QUEUED;
        m->uncounted = true;
        m->change.reason = "its container was lost with its machine or supervisor; it is started again";
        m->change.reason_zh = "容器随其机器或守护进程丢失，将重新启动";
    } else if (failures <= object_int(job, "retries")) {
        to_be_tried_again(l, m, failures, end_reason(l, r->failed));
    } else {
        m->change.to = JOB_FAILED;
        m->change.reason = end_reason(l, r->failed);
    }
}

/* The owner takes over what the containers leave, before anybody reads that the job is over. */
static bool collect(struct tick *l, const struct object *job, struct move *m, struct err *err)
{
    const struct job_owner *owner = job_owner_of(job);
    struct err why = {0};
    if (!job_is_over(m->change.to) || !owner || !owner->take_over ||
        owner->take_over(l->jobs->core, job, l->arena, &why))
        return true;
    if (why.code == ERR_UNAVAILABLE) {
        *err = why;
        return false; /* the next look tries again */
    }
    m->change.to = JOB_FAILED;
    m->change.reason = arena_strdup(l->arena, why.message);
    return true;
}

static bool finish(struct tick *l, const struct object *job, const struct ranks *r, struct err *err)
{
    struct move m = {.job = job, .change = {.from = job_state_of(job), .started_at = r->started_us}};
    judge(l, job, r, &m);
    return collect(l, job, &m, err) && move_later(l, &m);
}

static bool stop_ranks(struct tick *l, const struct object *job, struct err *err)
{
    struct exec *x = l->jobs->exec;
    for (size_t i = 0; i < l->n_status; i++) {
        const struct exec_status *s = &l->status[i];
        if (s->id.job == job->id && s->state != EXEC_EXITED && !x->ops->stop(x, s->id, -1, err) &&
            err->code != ERR_NOT_FOUND)
            return false;
    }
    return true;
}

static bool over_time(const struct tick *l, const struct object *job)
{
    double hours = object_value(job, "hours")->r;
    int64_t started = object_int(job, "started_at");
    return hours > 0 && started && l->now > started + (int64_t)(hours * 3.6e9);
}

static bool step_started(struct tick *l, const struct object *job, struct err *err)
{
    struct ranks r = tick_ranks(l, job);
    enum job_state s = job_state_of(job);
    if (r.missing && s == JOB_STARTING)
        return jobs_launch(l->jobs, job->id, (int32_t)object_int(job, "attempt")), true;
    if (r.missing && s == JOB_RUNNING) {
        struct move m = {.job = job,
                         .change = {.from = s,
                                    .to = JOB_STOPPING,
                                    .reason = "its container is gone; it is started again",
                                    .reason_zh = "容器已不存在，将重新启动",
                                    .then = JOB_THEN_QUEUED}};
        return move(l, &m, err) && stop_ranks(l, job, err);
    }
    if (r.exited == r.wanted)
        return finish(l, job, &r, err);
    if (r.failed) {
        struct move m = {.job = job,
                         .change = {.from = s,
                                    .to = JOB_STOPPING,
                                    .reason = "a rank failed: the others are stopped",
                                    .reason_zh = "有节点失败，其余节点正在停止",
                                    .then = JOB_THEN_RETRY}};
        return move(l, &m, err) && stop_ranks(l, job, err);
    }
    if (s == JOB_STARTING && r.running + r.exited == r.wanted) {
        struct move m = {.job = job,
                         .change = {.from = JOB_STARTING, .to = JOB_RUNNING, .started_at = r.started_us}};
        return move_later(l, &m);
    }
    if (s == JOB_RUNNING && over_time(l, job)) {
        struct move m = {.job = job,
                         .change = {.from = JOB_RUNNING,
                                    .to = JOB_STOPPING,
                                    .reason = "its hours are over",
                                    .reason_zh = "已到运行时限"}};
        return move(l, &m, err) && stop_ranks(l, job, err);
    }
    const struct job_owner *owner = s == JOB_RUNNING ? job_owner_of(job) : NULL;
    return !owner || !owner->running || owner->running(l->jobs->core, job, l->arena, err);
}

static bool step_stopping(struct tick *l, const struct object *job, struct err *err)
{
    struct ranks r = tick_ranks(l, job);
    if (r.starting + r.running > 0)
        return stop_ranks(l, job, err);
    return finish(l, job, &r, err);
}

static bool step(struct tick *l, const struct object *job, struct err *err)
{
    if (tick_is_launching(l, job->id))
        return true;
    switch (job_state_of(job)) {
    case JOB_STARTING:
    case JOB_RUNNING:
        return step_started(l, job, err);
    case JOB_STOPPING:
        return step_stopping(l, job, err);
    default:
        return true;
    }
}

/* --- containers of jobs that nobody knows (a backup was restored) --- */

static bool is_live(const struct tick *l, struct exec_id id)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->job[middle].id < id.job)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->n && l->job[low].id == id.job && object_int(&l->job[low], "attempt") == id.attempt;
}

static bool stop_strangers(struct tick *l, struct err *err)
{
    struct exec *x = l->jobs->exec;
    for (size_t i = 0; i < l->n_status; i++) {
        const struct exec_status *s = &l->status[i];
        if (s->state != EXEC_EXITED && !is_live(l, s->id) && !x->ops->stop(x, s->id, -1, err) &&
            err->code != ERR_NOT_FOUND)
            return false;
    }
    return true;
}

/* --- deleted jobs --- */

static bool remove_job(struct core *core, const struct db_value *v, struct arena *a, struct err *err)
{
    (void)a;
    struct exec *x = jobs_exec_wait(core->jobs);
    bool ok = true;
    for (int32_t attempt = 1; x && attempt <= (int32_t)v[1].i; attempt++)
        for (int32_t rank = 0; rank < (int32_t)v[2].i; rank++) {
            struct exec_id id = {v[0].i, attempt, rank};
            struct err one = {0};
            if (!x->ops->remove(x, id, &one))
                ok = err_keep(err, &one);
        }
    return ok && x != NULL;
}

static bool collect_jobs(struct core *core, struct err *err)
{
    /* Without an executor nothing can be removed: what is to go stays. */
    return !jobs_exec_wait(core->jobs) ||
           purge_rows(core, &(struct purge){"job_purges", "job", ", attempts, nodes", remove_job}, err);
}

const struct controller controller_collect_jobs = {
    .name = "collect-jobs",
    .title = {"Removes the folders and logs of deleted jobs", "清除已删除作业的文件和日志"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .woken_by = {{"job", "delete"}},
    .tick = collect_jobs,
};

/* --- the loop --- */

/* While many jobs wait and run there is always something new, and a look at all of them takes long: then as
 * much time as the look took passes before the next, and that one sees more at once: jobs that end and start
 * within some milliseconds share a look and a commit. */
static void rest(struct jobs *j, size_t n, uint64_t began)
{
    uint64_t now = clock_mono(), most = now - began < REST_NS ? now - began : REST_NS;
    most = most < REST_LEAST_NS ? REST_LEAST_NS : most;
    controller_rest(j->core, &controller_jobs, most * (n < MANY ? n : MANY) / MANY);
}

static bool tick_once(struct jobs *j, struct err *err)
{
    uint64_t began = clock_mono();
    auto_arena struct arena a;
    arena_init(&a);
    struct tick l = {.jobs = j, .arena = &a, .now = clock_now()};
    tick_launching(&l);
    if (!plan_input_jobs(j->core, &a, &l.job, &l.n, err))
        return false;
    if (!j->exec->ops->list(j->exec, &a, &l.status, &l.n_status, err))
        return false;
    for (size_t i = 0; i < l.n; i++) {
        struct err one = {0};
        if (!step(&l, &l.job[i], &one))
            log_warn("job %lld: %s", (long long)l.job[i].id, one.message);
    }
    write_moves(&l);
    if (!read_moved(&l, err))
        return false;
    bool ok = jobs_place(&l, err) && stop_strangers(&l, err);
    rest(j, l.n, began);
    return ok;
}

/* Jobs wait, and say why, on a machine that cannot run containers. */
static bool wait_write(struct op *op, void *ctx, struct err *err)
{
    struct jobs *j = ctx;
    struct db_rows rows;
    const char *zh = sentence_zh(op->arena, j->reason);
    if (!conn_query(op->conn, op->arena,
                    "SELECT id FROM jobs WHERE state = 'queued' AND (reason IS NULL OR reason <> ?)",
                    db_args(db_textz(j->reason)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (!engine_set_status(op, &kind_job, rows.row[i].v[0].i,
                               ENGINE_STATUSES(status_set("reason", db_textz(j->reason)),
                                               status_set("reason_zh", db_textz(zh))),
                               err))
            return false;
    return true;
}

static void on_change(void *ctx, const struct exec_status *s)
{
    (void)s;
    jobs_wake(ctx);
}

/* Containers of two platforms on one machine are told apart by their data folders. */
static void open_exec(struct jobs *j)
{
    struct err err = {0};
    auto_arena struct arena a;
    arena_init(&a);
    uint8_t hash[SHA256_SIZE];
    char name[8] = "i";
    sha256_of(str_of(j->core->data), hash);
    hex_encode(hash, 2, name + 1);
    struct local_options options = {.dir = arena_printf(&a, "%s/jobs", j->core->data),
                                    .name = name,
                                    .egress = j->core->egress,
                                    .inventory = j->core->inventory};
    struct exec *x = local_new(&options, &err);
    if (x) {
        x->ops->watch(x, on_change, j);
        j->exec = x;
        return;
    }
    log_warn("no containers on this machine: %s", err.message);
    j->reason = base_strdup(err.message);
}

static void set_opened(struct jobs *j)
{
    pthread_mutex_lock(&j->lock);
    j->opened = true;
    pthread_cond_broadcast(&j->opening);
    pthread_mutex_unlock(&j->lock);
}

static bool control(struct core *core, struct err *err)
{
    struct jobs *j = core->jobs;
    if (!j->exec && !j->reason) {
        open_exec(j);
        set_opened(j);
    }
    auto_arena struct arena a;
    arena_init(&a);
    return j->exec ? tick_once(j, err) : engine_write(core, &caller_system, &a, wait_write, j, err);
}

void jobs_wake(struct jobs *j)
{
    if (j)
        controller_wake(j->core, &controller_jobs);
}

static bool start(struct core *core, const struct core_options *o, struct err *err)
{
    (void)o;
    (void)err;
    struct jobs *j = base_zalloc(sizeof *j);
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->opening, NULL);
    j->core = core;
    launchers_start(j);
    j->curves = curves_new(core);
    core->jobs = j;
    return true;
}

/* Nobody waits for the executor any more. */
static void end(struct core *core)
{
    set_opened(core->jobs);
}

static void stop(struct core *core)
{
    launchers_stop(core->jobs);
}

static void free_jobs(struct core *core)
{
    struct jobs *j = core->jobs;
    promises_free(j);
    curves_free(j->curves);
    struct exec *x = j->exec;
    if (x) {
        x->ops->watch(x, NULL, NULL);
        x->ops->free(x);
    }
    pthread_mutex_destroy(&j->checkout_lock);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->opening);
    free(j->reason);
    free(j);
}

const struct controller controller_jobs = {
    .name = "jobs",
    .title = {"Starts, watches and ends jobs", "启动、监视和结束作业"},
    .thread = "jobs",
    .every_s = TICK_S,
    .start = start,
    .tick = control,
    .end = end,
    .stop = stop,
    .free = free_jobs,
};

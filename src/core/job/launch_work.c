/* Launching jobs beside the controller: preparing images, laying out versions and starting supervisors take
 * their time on a few threads, while the job is `starting` and says what it waits for. The controller leaves
 * a job alone that is being launched. */
#include "base/log.h"
#include "core/changes.h"
#include "core/job/launch_own.h"
#include "core/job/sentence.h"

#define THREADS 4

struct launching {
    struct launching *next;
    struct jobs *jobs;
    int64_t job;
    int32_t attempt;
};

/* --- what came of it --- */

struct outcome {
    struct launching *w;
    const struct err *err;
    bool final; /* it can never start */
};

/* A failed launch may have left containers behind: `stopping` ends them. */
static bool outcome_write(struct op *op, void *ctx, struct err *err)
{
    struct outcome *o = ctx;
    struct object job;
    bool found;
    if (!engine_load_row(op, &kind_job, o->w->job, &job, &found, err))
        return false;
    if (!found || job_state_of(&job) != JOB_STARTING || object_int(&job, "attempt") != o->w->attempt)
        return true;
    const char *reason = arena_strdup(op->arena, o->err->message);
    if (o->final) {
        struct job_change c = {
            .from = JOB_STARTING, .to = JOB_STOPPING, .reason = reason, .then = JOB_THEN_FAILED};
        return job_set_state(op, &job, &c, err);
    }
    if (str_is(object_text(&job, "reason"), reason))
        return true;
    return engine_set_status(
        op, &kind_job, job.id,
        ENGINE_STATUSES(status_set("reason", db_textz(reason)),
                        status_set("reason_zh", db_textz(sentence_zh(op->arena, reason)))),
        err);
}

static void tell_outcome(struct launching *w, struct arena *a, const struct err *why)
{
    struct outcome o = {w, why, why->code != ERR_UNAVAILABLE};
    struct err err = {0};
    if (!engine_write(w->jobs->core, &caller_system, a, outcome_write, &o, &err))
        log_warn("job %lld: %s; and %s", (long long)w->job, why->message, err.message);
}

/* --- the work --- */

static bool start_ranks(struct launching *w, struct launch *ranks, int32_t n, struct err *err)
{
    struct exec *x = w->jobs->exec;
    for (int32_t i = 0; i < n; i++)
        if (!x->ops->start(x, &ranks[i].spec, err))
            return false;
    return true;
}

static bool launch_job_ranks(struct launching *w, struct arena *a, struct err *err)
{
    struct core *core = w->jobs->core;
    struct object job;
    if (!engine_get(core, &caller_system, &kind_job, 0, w->job, a, &job, err))
        return err->code == ERR_NOT_FOUND;
    int32_t n = (int32_t)object_int(&job, "nodes");
    if (job_state_of(&job) != JOB_STARTING || object_int(&job, "attempt") != w->attempt)
        return true; /* stopped meanwhile */
    struct checkout_user checkouts = {
        .core = core, .arena = a, .job = job.id, .lock = &w->jobs->checkout_lock, .uses = ""};
    struct launch *ranks = arena_array(a, struct launch, (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        ranks[i] = (struct launch){.jobs = w->jobs,
                                   .checkouts = &checkouts,
                                   .arena = a,
                                   .job = &job,
                                   .spec = {.id = {job.id, w->attempt, i}}};
        if (!launch_build(&ranks[i], err))
            return false;
    }
    return start_ranks(w, ranks, n, err);
}

static struct jobs *forget(struct launching *w)
{
    struct jobs *j = w->jobs;
    pthread_mutex_lock(&j->lock);
    struct launching **at = &j->launching;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    pthread_mutex_unlock(&j->lock);
    free(w);
    return j;
}

/* The executor tells when that changes. What changed before the job was forgotten here, the controller has
 * not looked at. */
static bool is_starting(struct jobs *j, struct arena *a, struct exec_id id)
{
    struct exec *x = j->exec;
    struct exec_status status;
    struct err ignored = {0};
    return x->ops->status(x, a, id, &status, &ignored) && status.state == EXEC_STARTING;
}

static void launch_work(void *arg)
{
    struct launching *w = arg;
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    bool ok = launch_job_ranks(w, &a, &err);
    if (!ok)
        tell_outcome(w, &a, &err);
    bool failed = !ok && err.code != ERR_UNAVAILABLE; /* else the next round is soon enough */
    struct exec_id first = {w->job, w->attempt, 0};
    struct jobs *j = forget(w);
    if (failed || (ok && !is_starting(j, &a, first)))
        jobs_wake(j);
}

/* --- for the controller --- */

void launchers_start(struct jobs *j)
{
    struct err err = {0};
    pthread_mutex_init(&j->checkout_lock, NULL);
    j->launchers = pool_new("launch", THREADS, 20000);
    if (!checkout_sweep_halves(j->core, &err))
        log_warn("checkouts: %s", err.message);
}

void launchers_stop(struct jobs *j)
{
    pool_free(j->launchers);
}

void jobs_launch(struct jobs *j, int64_t job, int32_t attempt)
{
    struct launching *w = base_zalloc(sizeof *w);
    *w = (struct launching){.jobs = j, .job = job, .attempt = attempt};
    pthread_mutex_lock(&j->lock);
    w->next = j->launching;
    j->launching = w;
    pthread_mutex_unlock(&j->lock);
    if (!pool_submit(j->launchers, launch_work, w))
        forget(w); /* the next look tries again */
}

void tick_launching(struct tick *l)
{
    size_t n = 0;
    pthread_mutex_lock(&l->jobs->lock);
    for (struct launching *w = l->jobs->launching; w; w = w->next)
        n++;
    l->launching = arena_array(l->arena, int64_t, n + 1);
    for (struct launching *w = l->jobs->launching; w; w = w->next)
        l->launching[l->n_launching++] = w->job;
    pthread_mutex_unlock(&l->jobs->lock);
}

bool tick_is_launching(const struct tick *l, int64_t job)
{
    for (size_t i = 0; i < l->n_launching; i++)
        if (l->launching[i] == job)
            return true;
    return false;
}

static bool collect_checkouts(struct core *core, struct err *err)
{
    return checkout_sweep(core, &core->jobs->checkout_lock, CHECKOUT_KEEP_S, err);
}

const struct controller controller_collect_checkouts = {
    .name = "collect-checkouts",
    .title = {"Removes versions that were laid out for containers which have ended",
              "清除为已结束容器展开的版本"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 600,
    .tick = collect_checkouts,
};

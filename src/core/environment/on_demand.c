#include "core/environment/on_demand.h"

#include "base/clock.h"
#include "base/messages.h"
#include "core/compute/spec.h"
#include "core/controllers.h"
#include "core/environment/tools.h"

#define HOURS       24
#define PRIORITY    50 /* people wait for it */
#define SWEEP_MOST  200
#define NAME_LENGTH 50 /* characters of a job's name */

static struct str variable(const struct object *job, struct arena *a, const char *name)
{
    struct err ignored = {0};
    struct str env = object_text(job, "env");
    return env.n ? json_str(yyjson_obj_get(json_parse(a, env, &ignored), name)) : STR_NULL;
}

bool on_demand_is_from(const struct object *job, struct arena *a, struct str from)
{
    return str_eq(variable(job, a, ON_DEMAND_FROM), from);
}

/* --- finding --- */

bool on_demand_last(struct core *core, const struct on_demand *d, int64_t project, int64_t owner,
                    struct arena *a, struct object *ret, bool *found, struct err *err)
{
    struct db_row row;
    if (!db_query_one(core->db, a,
                      "SELECT id FROM jobs WHERE owner_kind = ? AND owner = ? AND project = ? ORDER BY id"
                      " DESC LIMIT 1",
                      db_args(db_textz(d->owner->kind), db_int(owner), db_int(project)), &row, found, err))
        return false;
    if (!*found)
        return true;
    struct err gone = {0};
    *found = engine_get(core, &caller_system, &kind_job, 0, row.v[0].i, a, ret, &gone);
    if (*found || gone.code == ERR_NOT_FOUND)
        return true;
    *err = gone;
    return false;
}

static bool is_live(const struct object *job)
{
    return !job_is_over(job_state_of(job)) && job_state_of(job) != JOB_STOPPING;
}

/* --- starting --- */

struct starting {
    const struct on_demand *d;
    const struct on_demand_want *want;
    struct object *job;
    bool made;
};

static struct str env_of(struct arena *a, const struct on_demand_want *w)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    if (!w->from.p && !w->idle_s)
        return STR_NULL;
    json_begin(&o, &text);
    json_object(&o);
    if (w->from.p)
        json_kstr(&o, ON_DEMAND_FROM, w->from);
    if (w->idle_s)
        json_kz(&o, ON_DEMAND_IDLE, arena_printf(a, "%lld", (long long)w->idle_s));
    json_object_end(&o);
    return arena_str(a, buf_view(&text));
}

static struct str cut_name(struct str name)
{
    size_t n = 0;
    for (size_t count = 0; n < name.n && count < NAME_LENGTH; count++)
        utf8_next(name, &n);
    return str_trim((struct str){name.p, n});
}

static bool make(struct op *op, struct starting *s, int64_t *ret, struct err *err)
{
    const struct on_demand_want *w = s->want;
    struct job_new r = {.project = w->project,
                        .owner_kind = s->d->owner->kind,
                        .owner = w->owner,
                        .name = cut_name(w->name),
                        .image = STR("host"),
                        .command = w->command,
                        .env = env_of(op->arena, w),
                        .nodes = 1,
                        .priority = PRIORITY,
                        .hours = HOURS};
    if (w->spec) {
        r.spec = w->spec;
        r.cpus = w->cpus;
        r.memory = w->memory;
    } else if (!spec_smallest(op, w->memory, &r.spec, err)) {
        return false;
    } else if (!r.spec) {
        return err_message(err, ERR_CONFLICT, "spec", MESSAGE_DEPLOY_SPEC, (long long)(w->memory >> 20));
    }
    return job_create(op, &r, ret, err) && (!s->d->link || s->d->link(op, w->owner, *ret, false, err));
}

/* Another request may have made it meanwhile; one of former content makes room. */
static bool start_write(struct op *op, void *ctx, struct err *err)
{
    struct starting *s = ctx;
    struct db_rows rows;
    struct object job;
    bool found;
    int64_t id;
    if (!conn_query(op->conn, op->arena,
                    "SELECT id FROM jobs WHERE owner_kind = ? AND owner = ? AND project = ? AND state IN"
                    " ('queued', 'starting', 'running')",
                    db_args(db_textz(s->d->owner->kind), db_int(s->want->owner), db_int(s->want->project)),
                    &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        if (!engine_load_row(op, &kind_job, rows.row[i].v[0].i, &job, &found, err))
            return false;
        if (found && (!s->want->from.p || on_demand_is_from(&job, op->arena, s->want->from))) {
            *s->job = job;
            return true;
        }
        if (found && !job_stop(op, job.id, "what it was made from was changed", err))
            return false;
    }
    s->made = true;
    return make(op, s, &id, err) && engine_load_row(op, &kind_job, id, s->job, &found, err);
}

bool on_demand_start(struct op *op, const struct on_demand *d, const struct on_demand_want *want,
                     struct object *ret, bool *made, struct err *err)
{
    struct starting s = {.d = d, .want = want, .job = ret};
    bool found;
    *made = false;
    if (!on_demand_last(op->core, d, want->project, want->owner, op->arena, ret, &found, err))
        return false;
    if (found && is_live(ret) && (!want->from.p || on_demand_is_from(ret, op->arena, want->from)))
        return true;
    if (!engine_write(op->core, op->caller, op->arena, start_write, &s, err))
        return false;
    *made = s.made;
    jobs_wake(op->core->jobs);
    return true;
}

/* --- ending --- */

bool on_demand_drop(struct op *op, const struct on_demand *d, int64_t owner, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena, "SELECT id FROM jobs WHERE owner_kind = ? AND owner = ?",
                    db_args(db_textz(d->owner->kind), db_int(owner)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (!job_stop(op, rows.row[i].v[0].i, d->gone_reason, err))
            return false;
    return true;
}

struct ending {
    const struct on_demand *d;
    int64_t job, owner;
    const char *reason;
};

static bool stop_write(struct op *op, void *ctx, struct err *err)
{
    const struct ending *e = ctx;
    return job_stop(op, e->job, e->reason, err);
}

/* Its object forgets it, then it goes. */
static bool delete_write(struct op *op, void *ctx, struct err *err)
{
    const struct ending *e = ctx;
    struct object job;
    bool found;
    if (!engine_load_row(op, &kind_job, e->job, &job, &found, err))
        return false;
    if (!found || !job_is_over(job_state_of(&job)))
        return true;
    if (e->d->link && !e->d->link(op, e->owner, e->job, true, err))
        return false;
    op->kind = &kind_job;
    return engine_delete_row(op, &job, err) && kind_job.after_delete(op, &job, err);
}

static bool is_idle(struct core *core, const struct on_demand *d, const struct object *job, struct arena *a)
{
    int64_t idle_s, used = tools_touched(core->tools, job->id), started = object_int(job, "started_at");
    int64_t idle_us = str_to_i64(variable(job, a, ON_DEMAND_IDLE), &idle_s) ? idle_s * 1000000 : d->idle_us;
    return job_state_of(job) == JOB_RUNNING && clock_now() - (used > started ? used : started) >= idle_us;
}

static bool is_there(struct core *core, const struct on_demand *d, int64_t owner, struct arena *a, bool *ret,
                     struct err *err)
{
    struct db_row row;
    return db_query_one(core->db, a, arena_printf(a, "SELECT id FROM %s WHERE id = ?", d->of->table),
                        db_args(db_int(owner)), &row, ret, err);
}

static bool sweep_one(struct core *core, const struct on_demand *d, const struct object *job, struct arena *a,
                      struct err *err)
{
    struct ending e = {.d = d, .job = job->id, .owner = object_int(job, "owner")};
    bool there;
    if (!is_there(core, d, e.owner, a, &there, err))
        return false;
    if (job_is_over(job_state_of(job)))
        return (there && clock_now() - object_int(job, "ended_at") < d->keep_us) ||
               engine_write(core, &caller_system, a, delete_write, &e, err);
    e.reason = !there ? d->gone_reason : is_idle(core, d, job, a) ? d->idle_reason : NULL;
    if (!e.reason)
        return true;
    bool ok = engine_write(core, &caller_system, a, stop_write, &e, err);
    jobs_wake(core->jobs);
    return ok;
}

static bool sweep(struct core *core, const struct on_demand *d, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    bool ok = true;
    arena_init(&a);
    if (!db_query(core->db, &a, "SELECT id FROM jobs WHERE owner_kind = ? ORDER BY id LIMIT ?",
                  db_args(db_textz(d->owner->kind), db_int(SWEEP_MOST)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct err one = {0};
        struct object job;
        if (!engine_get(core, &caller_system, &kind_job, 0, rows.row[i].v[0].i, &a, &job, &one) ||
            !sweep_one(core, d, &job, &a, &one))
            ok = one.code == ERR_NOT_FOUND ? ok : err_keep(err, &one);
    }
    return ok;
}

static bool collect(struct core *core, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; on_demand_sorts[i]; i++) {
        struct err one = {0};
        if (!sweep(core, on_demand_sorts[i], &one))
            ok = err_keep(err, &one);
    }
    return ok;
}

const struct controller controller_collect_on_demand = {
    .name = "collect-on-demand",
    .title = {"Ends TensorBoards and tried models that nobody uses", "停止无人使用的 TensorBoard 与模型试用"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 10,
    .every_s = 10,
    .woken_by = {{"model_version", "delete"}},
    .tick = collect,
};

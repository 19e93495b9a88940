#include "core/training/tensorboard.h"

#include "base/clock.h"
#include "base/fs.h"
#include "core/controllers.h"
#include "core/environment/tools.h"
#include "core/training/training.h"

#include <stdio.h>

#define IDLE_US  (INT64_C(3600) * 1000000)
#define HOURS    24
#define PRIORITY 50
#define MEMORY   (INT64_C(512) << 20) /* what it needs */

static const struct tool *board(void)
{
    return tool_find(STR("tensorboard"));
}

/* --- its container --- */

static bool mount_part(struct launch *u, const struct object *instance, const char *part, const char *target,
                       struct err *err)
{
    const char *path = training_path(launch_core(u), launch_arena(u), instance, part);
    if (!fs_mkdirs(path, 0755, err))
        return false;
    launch_mount(u, path, target, true);
    return true;
}

static bool prepare(struct launch *u, struct err *err)
{
    struct object o;
    if (!engine_get(launch_core(u), &caller_system, &kind_training_instance, 0,
                    object_int(launch_job(u), "owner"), launch_arena(u), &o, err) ||
        !tool_prepare(u, board(), err) || !mount_part(u, &o, "model", "/workspace/persistent-model", err) ||
        !mount_part(u, &o, "logs", "/workspace/logs", err))
        return false;
    const char *const argv[] = {"/bin/sh", "-c", tool_command(launch_arena(u), board(), launch_job(u)->id)};
    launch_argv(u, argv, countof(argv));
    launch_env(u, "LOGDIR", "/workspace");
    return true;
}

const struct job_owner tensorboard_owner = {
    .kind = "tensorboard", .no_platform = true, .prepare = prepare, .changed = NULL, .take_over = NULL};

/* --- starting --- */

static bool find_job(struct op *op, const struct object *instance, struct object *ret, bool *found,
                     struct err *err)
{
    int64_t id = object_int(instance, "tensorboard");
    *found = false;
    if (!id)
        return true;
    if (!engine_load_row(op, &kind_job, id, ret, found, err))
        return false;
    *found = *found && !job_is_over(job_state_of(ret)) && job_state_of(ret) != JOB_STOPPING;
    return true;
}

/* The smallest spec that it fits into, without accelerators; else what the training has. */
static bool choose_spec(struct op *op, const struct object *instance, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(
            op->conn, op->arena,
            "SELECT id FROM specs WHERE memory >= ? AND (accelerators IS NULL OR accelerators = 0)"
            " ORDER BY memory, cpus, id LIMIT 1",
            db_args(db_int(MEMORY)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : object_int(instance, "spec");
    return true;
}

static bool start_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx, now, job;
    bool found;
    struct job_new r = {.owner_kind = tensorboard_owner.kind,
                        .owner = o->id,
                        .image = STR("host"),
                        .command = STR("tensorboard"),
                        .nodes = 1,
                        .priority = PRIORITY,
                        .hours = HOURS};
    int64_t id;
    if (!engine_load_row(op, &kind_training_instance, o->id, &now, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the instance was deleted meanwhile");
    *o = now;
    if (!find_job(op, &now, &job, &found, err))
        return false;
    if (found)
        return true; /* another request made it first */
    r.project = now.project;
    r.name = str_of(arena_printf(op->arena, "TensorBoard " STR_FMT, STR_ARG(object_text(&now, "name"))));
    if (!choose_spec(op, &now, &r.spec, err) || !job_create(op, &r, &id, err))
        return false;
    *object_value(&now, "tensorboard") = db_int(id);
    if (!engine_update_row(op, &now, err))
        return false;
    *o = now;
    return true;
}

static void write_answer(const char *state, const char *url, struct str reason, struct str reason_zh,
                         struct json_out *out)
{
    json_object(out);
    json_kz(out, "state", state);
    json_kz(out, "url", url);
    json_kstr(out, "reason", reason);
    json_kstr(out, "reason_zh", reason_zh);
    json_object_end(out);
}

bool tensorboard_open(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct object job;
    bool found;
    const struct words *missing = tool_missing(op->core, board(), op->arena);
    if (missing) {
        write_answer(tool_state_names[TOOL_MISSING], NULL, str_of(missing->en), str_of(missing->zh), out);
        return true;
    }
    if (!find_job(op, o, &job, &found, err))
        return false;
    if (!found) {
        if (!engine_write(op->core, op->caller, op->arena, start_write, o, err) ||
            !engine_get(op->core, &caller_system, &kind_job, 0, object_int(o, "tensorboard"), op->arena, &job,
                        err))
            return false;
        jobs_wake(op->core->jobs);
    }
    enum tool_state state = tool_probe(op->core, &job, board());
    const char *url = state == TOOL_READY ? tool_url(op->core, op->caller, job.id, board(), op->arena) : NULL;
    write_answer(tool_state_names[state], url, object_text(&job, "reason"), object_text(&job, "reason_zh"),
                 out);
    return true;
}

/* --- ending --- */

bool tensorboard_drop(struct op *op, const struct object *instance, struct err *err)
{
    int64_t id = object_int(instance, "tensorboard");
    return !id || job_stop(op, id, "its training run was deleted", err);
}

static bool idle_write(struct op *op, void *ctx, struct err *err)
{
    return job_stop(op, *(int64_t *)ctx, "nobody has looked at it for an hour", err);
}

/* A job that is over is of no use: its instance forgets it, then it goes. */
static bool over_write(struct op *op, void *ctx, struct err *err)
{
    struct object job, instance;
    bool found;
    if (!engine_load_row(op, &kind_job, *(int64_t *)ctx, &job, &found, err))
        return false;
    if (!found || !job_is_over(job_state_of(&job)))
        return true;
    if (!engine_load_row(op, &kind_training_instance, object_int(&job, "owner"), &instance, &found, err))
        return false;
    if (found && object_int(&instance, "tensorboard") == job.id) {
        *object_value(&instance, "tensorboard") = db_null();
        if (!engine_update_row(op, &instance, err))
            return false;
    }
    op->kind = &kind_job;
    return engine_delete_row(op, &job, err) && kind_job.after_delete(op, &job, err);
}

static bool sweep_one(struct core *core, int64_t id, struct str state, int64_t started, struct arena *a,
                      struct err *err)
{
    int64_t used = tools_touched(core->tools, id);
    bool running = str_is(state, "running");
    if (running && clock_now() - (used > started ? used : started) < IDLE_US)
        return true;
    if (!engine_write(core, &caller_system, a, running ? idle_write : over_write, &id, err))
        return false;
    jobs_wake(core->jobs);
    return true;
}

/* Ends idle ones, deletes those that are over. */
static bool collect(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    arena_init(&a);
    bool ok = true;
    if (!db_query(core->db, &a,
                  "SELECT id, state, started_at FROM jobs WHERE owner_kind = 'tensorboard' AND state IN"
                  " ('running', 'completed', 'failed', 'stopped') ORDER BY id LIMIT 100",
                  DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        struct err one = {0};
        if (!sweep_one(core, v[0].i, v[1].s, v[2].type == DB_INT ? v[2].i : 0, &a, &one))
            ok = err_keep(err, &one);
    }
    return ok;
}

const struct controller controller_collect_tensorboards = {
    .name = "collect-boards",
    .title = {"Ends TensorBoards that nobody looks at", "停止无人查看的 TensorBoard"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .tick = collect,
};

#include "core/training/tensorboard.h"

#include "base/fs.h"
#include "core/environment/tools.h"
#include "core/training/training.h"

#define IDLE_US (INT64_C(3600) * 1000000)
#define MEMORY  (INT64_C(512) << 20) /* what it takes: less than any spec may have */
#define CPUS    0.25

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
    .kind = "tensorboard", .no_platform = true, .on_demand = true, .prepare = prepare};

/* The instance names its board. */
static bool link_board(struct op *op, int64_t instance, int64_t job, bool gone, struct err *err)
{
    struct object o;
    bool found;
    if (!engine_load_row(op, &kind_training_instance, instance, &o, &found, err))
        return false;
    if (!found)
        return gone || err_set(err, ERR_NOT_FOUND, NULL, "the instance was deleted meanwhile");
    if (gone && object_int(&o, "tensorboard") != job)
        return true;
    *object_value(&o, "tensorboard") = gone ? db_null() : db_int(job);
    return engine_update_row(op, &o, err);
}

const struct on_demand tensorboard_on_demand = {.owner = &tensorboard_owner,
                                                .of = &kind_training_instance,
                                                .idle_us = IDLE_US,
                                                .idle_reason = "nobody has looked at it for an hour",
                                                .gone_reason = "its training run was deleted",
                                                .link = link_board};

/* --- opening --- */

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
    bool made;
    const struct words *missing = tool_missing(op->core, board(), op->arena);
    if (missing) {
        write_answer(tool_state_names[TOOL_MISSING], NULL, str_of(missing->en), str_of(missing->zh), out);
        return true;
    }
    struct on_demand_want want = {
        .project = o->project,
        .owner = o->id,
        .name = str_of(arena_printf(op->arena, "TensorBoard " STR_FMT, STR_ARG(object_text(o, "name")))),
        .command = STR("tensorboard"),
        .memory = MEMORY,
        .spec = object_int(o, "spec"),
        .cpus = CPUS};
    if (!on_demand_start(op, &tensorboard_on_demand, &want, &job, &made, err))
        return false;
    enum tool_state state = tool_probe(op->core, &job, board());
    const char *url = state == TOOL_READY ? tool_url(op->core, op->caller, job.id, board(), op->arena) : NULL;
    write_answer(tool_state_names[state], url, object_text(&job, "reason"), object_text(&job, "reason_zh"),
                 out);
    return true;
}

bool tensorboard_drop(struct op *op, const struct object *instance, struct err *err)
{
    return on_demand_drop(op, &tensorboard_on_demand, instance->id, err);
}

/* What a training's containers need, and how its instance follows the job. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/messages.h"
#include "core/data/sample.h"
#include "core/folder/folder.h"
#include "core/training/training.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static bool load_instance(struct launch *u, struct object *ret, struct err *err)
{
    return engine_get(launch_core(u), &caller_system, &kind_training_instance, 0,
                      object_int(launch_job(u), "owner"), launch_arena(u), ret, err);
}

/* --- folders --- */

static bool mount_own(struct launch *u, const struct object *o, const char *part, const char *target,
                      struct err *err)
{
    const char *all = training_path(launch_core(u), launch_arena(u), o, ""),
               *path = training_path(launch_core(u), launch_arena(u), o, part);
    if (!fs_mkdirs(path, 0755, err))
        return false;
    /* Images may have a user of their own; other people of this machine stay out. */
    if (chmod(all, 0700) != 0 || chmod(path, 0777) != 0)
        return err_errno(err, errno, "cannot open %s to its container", path);
    launch_mount(u, path, target, false);
    return true;
}

/* Names of sets are people's: "." and ".." cannot be folders, and two versions of one set need two names. */
struct places {
    const char *seen[64];
    size_t n;
};

static const char *place_of(struct launch *u, struct places *p, const char *folder, struct str set,
                            struct str version, int64_t id)
{
    struct arena *a = launch_arena(u);
    bool dots = str_is(set, ".") || str_is(set, "..");
    const char *path = dots ? arena_printf(a, "%s/%lld", folder, (long long)id)
                            : arena_printf(a, "%s/" STR_FMT, folder, STR_ARG(set));
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->seen[i], path) == 0) {
            path = arena_printf(a, "%s-" STR_FMT, path, STR_ARG(version));
            break;
        }
    if (p->n < countof(p->seen))
        p->seen[p->n++] = path;
    return path;
}

static bool set_names(struct launch *u, const struct kind *k, int64_t id, struct str *ret_set,
                      struct str *ret_version, struct err *err)
{
    struct object version, set;
    struct core *core = launch_core(u);
    if (!engine_get(core, &caller_system, k, 0, id, launch_arena(u), &version, err) ||
        !engine_get(core, &caller_system, kind_by_name(str_of(k->parent)), 0, version.parent, launch_arena(u),
                    &set, err))
        return false;
    *ret_set = object_text(&set, "name");
    *ret_version = object_text(&version, "name");
    return true;
}

static bool mount_inputs(struct launch *u, const struct object *o, struct err *err)
{
    struct places places = {.n = 0};
    struct str set, version;
    size_t n;
    int64_t *ids = object_refs(launch_arena(u), o, "datasets", &n), algorithm = object_int(o, "algorithm"),
            base = object_int(o, "base_model");
    for (size_t i = 0; i < n; i++)
        if (!set_names(u, &kind_dataset_version, ids[i], &set, &version, err) ||
            !launch_dataset(u, ids[i], place_of(u, &places, "/workspace/dataset", set, version, ids[i]), err))
            return false;
    if (algorithm && !launch_version(u, &kind_algorithm_version, algorithm, "/workspace/algorithm", err))
        return false;
    return !base || (set_names(u, &kind_model_version, base, &set, &version, err) &&
                     launch_version(u, &kind_model_version, base,
                                    place_of(u, &places, "/workspace/model", set, version, base), err));
}

/* --- variables --- */

static bool given(struct launch *u, const struct object *o, const char *name)
{
    struct err ignored = {0};
    struct str env = object_text(o, "env");
    return env.n && yyjson_obj_get(json_parse(launch_arena(u), env, &ignored), name);
}

/* What people gave stays. */
static void set_env(struct launch *u, const struct object *o, const char *name, const char *value)
{
    if (!given(u, o, name))
        launch_env(u, name, value);
}

static const char *number(struct launch *u, int64_t n)
{
    return arena_printf(launch_arena(u), "%lld", (long long)n);
}

/* One process per node finds the others by env://. */
static void set_gang(struct launch *u, const struct object *o)
{
    int64_t nodes = object_int(o, "nodes"), rank = launch_rank(u);
    const char *master = launch_host(u, 0);
    const struct {
        const char *name, *value;
    } all[] = {{"NNODES", number(u, nodes)},
               {"NODE_RANK", number(u, rank)},
               {"WORLD_SIZE", number(u, nodes)},
               {"RANK", number(u, rank)},
               {"LOCAL_RANK", "0"},
               {"MASTER_ADDR", master},
               {"MASTER_PORT", "29500"}};
    for (size_t i = 0; i < countof(all); i++)
        set_env(u, o, all[i].name, all[i].value);
}

/* Numeric libraries start a thread per core of the machine, not of the container; and a container does not
 * see the limits it is under. */
static bool set_size(struct launch *u, const struct object *o, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(launch_core(u)->db, launch_arena(u), "SELECT cpus, memory FROM specs WHERE id = ?",
                      db_args(db_int(object_int(o, "spec"))), &row, &found, err))
        return false;
    double cpus = found ? row.v[0].r : 1;
    set_env(u, o, "OMP_NUM_THREADS", number(u, cpus > 1 ? (int64_t)cpus : 1));
    if (found)
        set_env(u, o, "INGOT_MEMORY", number(u, row.v[1].i));
    return true;
}

/* With the launcher `first` the other nodes serve ssh until the first one has done its work and says so. */
static const char first_node[] =
    "cd \"$1\" || exit 1; /bin/sh -c \"$2\"; code=$?; "
    "tail -n +2 /etc/volcano/worker.host | while read -r host; do ssh -n \"$host\" "
    "'until [ -s /run/ingot-waiter ]; do sleep 0.1; done; kill -TERM $(cat /run/ingot-waiter)'; done; exit "
    "$code";
static const char other_node[] =
    "trap 'exit 0' TERM; echo $$ >/run/ingot-waiter; while :; do sleep 1000 & wait $!; done";

static void set_command(struct launch *u, const struct object *o)
{
    const char *folder = object_int(o, "algorithm") ? "/workspace/algorithm" : "/workspace";
    const char *command = arena_strz(launch_arena(u), object_text(o, "command"));
    bool first = object_int(o, "nodes") > 1 && str_is(object_text(o, "launcher"), "first");
    const char *script = !first                ? "cd \"$1\" && exec /bin/sh -c \"$2\""
                         : launch_rank(u) == 0 ? first_node
                                               : other_node;
    const char *const argv[] = {"/bin/sh", "-c", script, "sh", folder, command};
    launch_argv(u, argv, countof(argv));
}

static bool prepare(struct launch *u, struct err *err)
{
    struct object o;
    struct stat st;
    if (!load_instance(u, &o, err))
        return false;
    int64_t former = object_int(&o, "resumed_from");
    struct object before;
    if (former && !engine_get(launch_core(u), &caller_system, &kind_training_instance, 0, former,
                              launch_arena(u), &before, err))
        return false;
    const char *checkpoint = former ? training_path(launch_core(u), launch_arena(u), &before, "model") : NULL;
    if (!mount_own(u, &o, "model", "/workspace/persistent-model", err) ||
        !mount_own(u, &o, "logs", "/workspace/logs", err) || !mount_inputs(u, &o, err) ||
        !set_size(u, &o, err))
        return false;
    if (checkpoint && stat(checkpoint, &st) == 0)
        launch_mount(u, checkpoint, "/workspace/checkpoint", true);
    if (former || object_int(launch_job(u), "attempt") > 1)
        launch_env(u, "INGOT_RESUME", "1");
    if (object_text(&o, "parameters").n)
        launch_env(u, "INGOT_PARAMETERS", arena_strz(launch_arena(u), object_text(&o, "parameters")));
    launch_env(u, "INGOT_TRAINING", number(u, o.parent));
    launch_env(u, "INGOT_INSTANCE", number(u, o.id));
    set_gang(u, &o);
    set_command(u, &o);
    launch_distributed(u);
    return true;
}

/* --- states --- */

static const char *const state_of[] = {
    [JOB_QUEUED] = "pending",    [JOB_STARTING] = "pending",    [JOB_RUNNING] = "running",
    [JOB_STOPPING] = "stopping", [JOB_COMPLETED] = "completed", [JOB_FAILED] = "failed",
    [JOB_STOPPED] = "stopped"};

static bool start_end(struct op *op, const struct object *o, struct err *err)
{
    int64_t task;
    struct object training;
    bool found;
    if (!engine_load_row(op, &kind_training, o->parent, &training, &found, err))
        return false;
    return task_create(op,
                       &(struct task_new){.type = task_training_end.name,
                                          .project = o->project,
                                          .subject_kind = kind_training_instance.name,
                                          .subject = o->id,
                                          .name = task_name(op->arena, MESSAGE_NAME_TRAINING_END,
                                                            STR_ARG(object_text(&training, "name")),
                                                            STR_ARG(object_text(o, "name"))),
                                          .params = STR("{}")},
                       &task, err);
}

static bool changed(struct op *op, const struct object *job, enum job_state from, struct err *err)
{
    (void)from;
    struct object o;
    bool found;
    enum job_state s = job_state_of(job);
    if (!engine_load_row(op, &kind_training_instance, object_int(job, "owner"), &o, &found, err))
        return false;
    if (!found || str_is(object_text(&o, "state"), state_of[s]))
        return true;
    *object_value(&o, "state") = db_textz(state_of[s]);
    if (!object_int(&o, "started_at"))
        *object_value(&o, "started_at") = *object_value(job, "started_at");
    if (job_is_over(s))
        *object_value(&o, "ended_at") = db_int(clock_now());
    /* One that is over before the controller of jobs saw it run. */
    if (job_is_over(s) && !object_int(&o, "started_at") && object_value(job, "exit_code")->type == DB_INT)
        *object_value(&o, "started_at") = *object_value(&o, "ended_at");
    if (job_is_over(s) && object_int(&o, "started_at"))
        *object_value(&o, "duration") =
            db_real((double)(object_int(&o, "ended_at") - object_int(&o, "started_at")) / 1e6);
    if (!engine_update_row(op, &o, err))
        return false;
    return !job_is_over(s) || start_end(op, &o, err);
}

const struct job_owner training_owner = {
    .kind = "training_instance", .prepare = prepare, .changed = changed, .take_over = NULL};

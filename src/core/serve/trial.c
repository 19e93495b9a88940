#include "core/serve/trial.h"

#include "base/messages.h"
#include "core/environment/tools.h"
#include "core/folder/folder.h"
#include "core/folder/model_file.h"
#include "core/serve/serve.h"
#include "core/serve/version.h"

#define INFER       "ingot-infer"
#define MODEL_PLACE "/model"
#define LISTEN      "127.0.0.1:8000" /* TRIAL_PORT */
#define BODY_MB     "64"
#define INVOKE      "service.invoke"
#define IDLE_US     (INT64_C(600) * 1000000)
#define KEEP_US     (INT64_C(600) * 1000000)

enum { PROJECT, IDLE };

#define PROJECT_FIELD                                                                                        \
    {                                                                                                        \
        .name = "project", .type = FIELD_REF, .flags = FIELD_CREATE, .ref = "project",                       \
        .title = {"Project", "项目"}, .help = {                                                              \
            "Whose quota it takes; by default that of the version.",                                         \
            "占用哪个项目的配额，默认为版本所属项目。"                                   \
        }                                                                                                    \
    }

const struct field trial_start_fields[] = {
    [PROJECT] = PROJECT_FIELD,
    [IDLE] = {.name = "idle_s",
              .type = FIELD_INT,
              .flags = FIELD_CREATE,
              .min = 1,
              .max = 86400,
              .unit = "seconds",
              .title = {"Ends after", "空闲时长"},
              .help = {"Seconds without a request; 600 by default.", "多少秒无请求后停止，默认 600。"}},
    {0},
};
const struct field trial_state_fields[] = {[PROJECT] = PROJECT_FIELD, {0}};

static struct str content_of(const struct object *version)
{
    struct str digest = object_text(version, "digest");
    return digest.n ? digest : STR("nothing");
}

/* --- its container --- */

static bool prepare(struct launch *u, struct err *err)
{
    struct arena *a = launch_arena(u);
    struct object version;
    int64_t id = object_int(launch_job(u), "owner");
    if (!engine_get(launch_core(u), &caller_system, &kind_model_version, 0, id, a, &version, err))
        return err->code == ERR_NOT_FOUND &&
               err_set(err, ERR_CONFLICT, NULL, "its model version was deleted");
    if (!on_demand_is_from(launch_job(u), a, content_of(&version)))
        return err_set(err, ERR_CONFLICT, NULL, "what it was made from was changed");
    const char *model =
        arena_printf(a, "model=" MODEL_PLACE ",version=%lld", (long long)object_int(&version, "number"));
    const char *program = EXEC_PROGRAMS "/bin/" INFER;
    const char *argv[] = {program, "--listen", LISTEN, "--try", "--max-body", BODY_MB, "--model", model};
    if (!launch_program(u, INFER, err) || !launch_version(u, &kind_model_version, id, MODEL_PLACE, err))
        return false;
    launch_argv(u, argv, countof(argv));
    launch_port(u, TRIAL_PORT);
    return true;
}

const struct job_owner trial_owner = {
    .kind = "model_trial", .no_platform = true, .on_demand = true, .prepare = prepare};
const struct on_demand trial_on_demand = {.owner = &trial_owner,
                                          .of = &kind_model_version,
                                          .idle_us = IDLE_US,
                                          .keep_us = KEEP_US,
                                          .idle_reason = "nobody has tried it for a while",
                                          .gone_reason = "its model version was deleted"};

/* --- where, and who --- */

/* A version that is not public stays where it is: who is in another project may not look into its files. */
static bool find_project(struct core *core, const struct caller *c, const char *permission,
                         const struct object *version, int64_t wanted, struct arena *a, int64_t *ret,
                         struct err *err)
{
    struct object set;
    *ret = wanted ? wanted : version->project;
    if (*ret != version->project) {
        if (!engine_get(core, &caller_system, &kind_model_set, 0, version->parent, a, &set, err))
            return false;
        if (!object_int(&set, "public"))
            return err_message(err, ERR_INVALID, "project", MESSAGE_TRIAL_PROJECT);
    }
    return caller_need(c, permission, *ret, err);
}

static int64_t given_project(const struct db_value *input)
{
    return input[PROJECT].type == DB_INT ? input[PROJECT].i : 0;
}

/* --- how it is --- */

static struct exec_id container_for(const struct object *job)
{
    return (struct exec_id){job->id, (int32_t)object_int(job, "attempt"), 0};
}

static const char *state_name(struct core *core, const struct object *job)
{
    switch (job_state_of(job)) {
    case JOB_QUEUED:
        return "waiting";
    case JOB_STARTING:
        return "starting";
    case JOB_RUNNING:
        return tool_status(core, container_for(job), TRIAL_PORT, VERSION_MODEL_HEALTH) == 200 ? "ready"
                                                                                              : "starting";
    case JOB_FAILED:
        return "failed";
    default:
        return "none";
    }
}

static void write_state(struct core *core, const struct object *job, int64_t project, struct json_out *out)
{
    const char *state = job ? state_name(core, job) : "none";
    json_object(out);
    json_kz(out, "state", state);
    json_kint(out, "project", project);
    json_key(out, "job");
    if (job)
        json_int(out, job->id);
    else
        json_null(out);
    json_kstr(out, "reason", job ? object_text(job, "reason") : STR_NULL);
    json_kstr(out, "reason_zh", job ? object_text(job, "reason_zh") : STR_NULL);
    json_object_end(out);
}

bool trial_state(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)status;
    struct object job;
    int64_t project;
    bool found;
    if (!find_project(op->core, op->caller, "job.read", o, given_project(input), op->arena, &project, err) ||
        !on_demand_last(op->core, &trial_on_demand, project, o->id, op->arena, &job, &found, err))
        return false;
    bool current = found && on_demand_is_from(&job, op->arena, content_of(o));
    write_state(op->core, current ? &job : NULL, project, out);
    return true;
}

/* "Try fruit v3" */
static struct str job_name(struct op *op, const struct object *version)
{
    struct object set;
    struct err ignored = {0};
    bool found =
        engine_get(op->core, &caller_system, &kind_model_set, 0, version->parent, op->arena, &set, &ignored);
    struct str name = found ? object_text(&set, "name") : STR("model"), v = object_text(version, "name");
    return str_of(arena_printf(op->arena, "Try " STR_FMT " " STR_FMT, STR_ARG(v), STR_ARG(name)));
}

bool trial_start(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err)
{
    (void)status;
    struct object job;
    bool made;
    struct on_demand_want want = {.owner = o->id,
                                  .name = job_name(op, o),
                                  .command = STR(INFER),
                                  .from = content_of(o),
                                  .idle_s = input[IDLE].type == DB_INT ? input[IDLE].i : 0,
                                  .memory = model_memory(object_int(o, "bytes"))};
    if (!find_project(op->core, op->caller, INVOKE, o, given_project(input), op->arena, &want.project, err))
        return false;
    if (object_int(o, "files") == 0)
        return err_message(err, ERR_CONFLICT, "files", MESSAGE_TRIAL_NO_FILES);
    if (!on_demand_last(op->core, &trial_on_demand, want.project, o->id, op->arena, &job, &made, err))
        return false;
    bool runs = made && !job_is_over(job_state_of(&job));
    if (!runs && !caller_need(op->caller, "job.create", want.project, err))
        return false;
    if (!on_demand_start(op, &trial_on_demand, &want, &job, &made, err))
        return false;
    tools_touch(op->core->tools, job.id);
    write_state(op->core, &job, want.project, out);
    return true;
}

bool trial_way(struct core *core, const struct caller *c, const struct object *version, int64_t project,
               struct arena *a, struct exec_id *ret, struct err *err)
{
    struct object job;
    bool found;
    if (!find_project(core, c, INVOKE, version, project, a, &project, err) ||
        !on_demand_last(core, &trial_on_demand, project, version->id, a, &job, &found, err))
        return false;
    if (!found || job_state_of(&job) != JOB_RUNNING || !on_demand_is_from(&job, a, content_of(version)))
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_TRIAL_NOT_RUNNING);
    tools_touch(core->tools, job.id);
    *ret = container_for(&job);
    return true;
}

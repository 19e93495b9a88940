/* What can be done with an environment: start, stop, extend, copy, save, access; keep.c has the rest. */
#include "base/clock.h"
#include "base/hash.h"
#include "core/build/save.h"
#include "core/environment/environment.h"
#include "core/environment/keep.h"
#include "core/environment/tools.h"
#include "core/fields.h"
#include "core/image/image.h"
#include "core/job/ssh_key.h"
#include "core/quota.h"
#include "core/task/task.h"

#define HOUR 3.6e9 /* microseconds */

static bool load(struct op *op, int64_t id, struct object *ret, struct err *err)
{
    bool found;
    return engine_load_row(op, &kind_environment, id, ret, &found, err) &&
           (found ||
            err_set(err, ERR_NOT_FOUND, NULL, "environment %lld was deleted meanwhile", (long long)id));
}

static double real_of(const struct db_value *v)
{
    return v->type == DB_INT ? (double)v->i : v->type == DB_REAL ? v->r : 0;
}

/* --- start --- */

static bool start_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx;
    if (!load(op, o->id, o, err))
        return false;
    struct str state = object_text(o, "state");
    if (!str_is(state, "stopped") && !str_is(state, "failed"))
        return err_set(err, ERR_CONFLICT, "state", "the environment is " STR_FMT " already", STR_ARG(state));
    struct job_new r = {.project = o->project,
                        .owner_kind = kind_environment.name,
                        .owner = o->id,
                        .name = object_text(o, "name"),
                        .image = object_text(o, "image"),
                        .command = STR("JupyterLab, VS Code, SSH"),
                        .spec = object_int(o, "spec"),
                        .nodes = object_int(o, "nodes"),
                        .hours = real_of(object_value(o, "hours"))};
    int64_t job;
    if (!job_create(op, &r, &job, err))
        return false;
    *object_value(o, "job") = db_int(job);
    *object_value(o, "state") = db_textz("pending");
    *object_value(o, "started_at") = *object_value(o, "ends_at") = db_null();
    return engine_update_row(op, o, err);
}

static bool run_start(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)input;
    (void)status;
    if (!quota_admit_storage(op->core, o->project, 0, err) ||
        !engine_write(op->core, op->caller, op->arena, start_write, o, err))
        return false;
    jobs_wake(op->core->jobs);
    return engine_answer_id(op, &kind_environment, o->id, out, err);
}

/* --- stop --- */

static bool stop_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx;
    if (!load(op, o->id, o, err))
        return false;
    struct str state = object_text(o, "state");
    if (str_is(state, "stopped") || str_is(state, "failed"))
        return err_set(err, ERR_CONFLICT, "state", "the environment does not run");
    return job_stop(op, object_int(o, "job"), arena_printf(op->arena, "stopped by %s", op->caller->name),
                    err);
}

static bool run_stop(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)input;
    (void)status;
    if (!engine_write(op->core, op->caller, op->arena, stop_write, o, err))
        return false;
    jobs_wake(op->core->jobs);
    return engine_answer_id(op, &kind_environment, o->id, out, err);
}

/* --- extend --- */

struct extension {
    int64_t id;
    double hours;
};

static bool extend_job(struct op *op, int64_t id, double hours, struct err *err)
{
    struct object job;
    bool found;
    if (!engine_load_row(op, &kind_job, id, &job, &found, err))
        return false;
    if (!found || job_is_over(job_state_of(&job)))
        return true;
    *object_value(&job, "hours") = (struct db_value){.type = DB_REAL, .r = hours};
    return engine_update_row(op, &job, err);
}

static bool extend_write(struct op *op, void *ctx, struct err *err)
{
    struct extension *x = ctx;
    struct object o;
    if (!load(op, x->id, &o, err))
        return false;
    double hours = real_of(object_value(&o, "hours"));
    if (hours == 0)
        return err_set(err, ERR_CONFLICT, "hours", "the environment has no limit of hours");
    hours += x->hours;
    if (hours > 10000)
        return err_set(err, ERR_INVALID, "hours", "hours: at most 10000 in all");
    *object_value(&o, "hours") = (struct db_value){.type = DB_REAL, .r = hours};
    int64_t started = object_int(&o, "started_at");
    if (started && str_is(object_text(&o, "state"), "running"))
        *object_value(&o, "ends_at") = db_int(started + (int64_t)(hours * HOUR));
    return extend_job(op, object_int(&o, "job"), hours, err) && engine_update_row(op, &o, err);
}

static bool run_extend(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)status;
    struct extension x = {o->id, real_of(&input[0])};
    if (x.hours <= 0)
        return err_set(err, ERR_INVALID, "hours", "hours: must be more than 0");
    if (!engine_write(op->core, op->caller, op->arena, extend_write, &x, err))
        return false;
    jobs_wake(op->core->jobs);
    return engine_answer_id(op, &kind_environment, o->id, out, err);
}

/* --- copy: all that was given, but what is secret --- */

static bool run_copy(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    static const char *const ids[] = {"datasets", "algorithms", "models", "ssh_keys"};
    (void)status;
    auto_buf struct buf text = {0};
    struct json_out b;
    struct object copy;
    json_begin(&b, &text);
    json_object(&b);
    json_kint(&b, "project", o->project);
    json_kstr(&b, "name", input[0].s);
    json_kstr(&b, "description", object_text(o, "description"));
    json_kstr(&b, "image", object_text(o, "image"));
    json_kint(&b, "spec", object_int(o, "spec"));
    json_kint(&b, "nodes", object_int(o, "nodes"));
    json_key(&b, "hours");
    json_real(&b, real_of(object_value(o, "hours")));
    json_key(&b, "idle_hours");
    json_real(&b, real_of(object_value(o, "idle_hours")));
    for (size_t i = 0; i < countof(ids); i++) {
        struct str list = object_text(o, ids[i]);
        if (!list.n)
            continue;
        json_key(&b, ids[i]);
        json_raw(&b, list);
    }
    json_object_end(&b);
    yyjson_val *body = json_parse(op->arena, arena_str(op->arena, buf_view(&text)), err);
    if (!body || !engine_create(op->core, op->caller, &kind_environment, 0, body, op->arena, &copy, err))
        return false;
    return engine_answer_id(op, &kind_environment, copy.id, out, err);
}

/* --- save as an image --- */

enum { SAVE_IMAGE, SAVE_VERSION, SAVE_DESCRIPTION };

static bool run_save(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)status;
    struct object job;
    int64_t task;
    if (!str_is(object_text(o, "state"), "running"))
        return err_set(err, ERR_CONFLICT, "state", "only a running environment can be saved");
    if (!engine_get(op->core, &caller_system, &kind_job, 0, object_int(o, "job"), op->arena, &job, err))
        return false;
    struct image_save s = {.container = {job.id, (int32_t)object_int(&job, "attempt"), 0},
                           .project = o->project,
                           .base = arena_strz(op->arena, object_text(&job, "image")),
                           .name = input[SAVE_IMAGE].s,
                           .version = input[SAVE_VERSION].s,
                           .description = input[SAVE_DESCRIPTION].s,
                           .subject_kind = kind_environment.name,
                           .subject = o->id};
    if (!image_save(op->core, op->caller, &s, op->arena, &task, err))
        return false;
    return engine_answer_id(op, &kind_task, task, out, err);
}

/* --- access --- */

static void write_reason(struct json_out *out, const char *en, const char *zh)
{
    json_kz(out, "reason", en);
    json_kz(out, "reason_zh", zh);
}

static enum tool_state state_of(struct op *op, const struct object *job, const struct tool *t)
{
    if (job && t->on_demand && job_state_of(job) == JOB_RUNNING && !tool_missing(op->core, t, op->arena))
        return TOOL_READY; /* the first visitor starts it */
    return job ? tool_probe(op->core, job, t) : TOOL_MISSING;
}

static void write_tool(struct op *op, const struct tool *t, const struct object *job, bool own,
                       struct json_out *out)
{
    const struct words *missing = tool_missing(op->core, t, op->arena);
    const bool newer = !missing && job && tool_newer(op->core, t, job, op->arena);
    enum tool_state state = newer ? TOOL_MISSING : state_of(op, job, t);
    json_object(out);
    json_kz(out, "name", t->name);
    json_kbool(out, "installed", !missing);
    json_key(out, "title");
    json_object(out);
    json_kz(out, "en", t->title.en);
    json_kz(out, "zh", t->title.zh);
    json_object_end(out);
    json_kz(out, "state", tool_state_names[state]);
    const char *url = NULL;
    if (own && job && state == TOOL_READY)
        url = tool_url(op->core, op->caller, job->id, t, op->arena);
    json_kz(out, "url", url);
    if (missing)
        write_reason(out, missing->en, missing->zh);
    else if (newer)
        write_reason(out,
                     "it was installed after the environment had started: stop and start the environment",
                     "它在开发环境启动之后才安装：请停止并重新启动开发环境");
    else if (!job)
        write_reason(out, "the environment does not run", "开发环境未运行");
    else if (!own)
        write_reason(out, "only who made the environment may open it", "只有创建者可以打开");
    else
        write_reason(out, NULL, NULL);
    json_object_end(out);
}

/* Without port and brackets, as ssh takes it. */
static struct str host_of(struct str host)
{
    size_t n = host.n;
    while (n > 0 && host.p[n - 1] >= '0' && host.p[n - 1] <= '9')
        n--;
    if (n > 0 && host.p[n - 1] == ':')
        host.n = n - 1;
    if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = (struct str){host.p + 1, host.n - 2};
    return host.n ? host : STR("127.0.0.1");
}

/* So that a client need not trust the first key it sees. */
static struct str host_key(struct op *op, const struct object *o)
{
    uint8_t seed[SSH_KEY_SEED];
    struct str secret, shared;
    struct err err = {0};
    if (!hex_decode(object_text(o, "host_key"), seed, sizeof seed) ||
        !ssh_key_files(op->arena, seed, &secret, &shared, &err))
        return STR_NULL;
    return str_trim(shared);
}

static void write_ssh(struct op *op, const struct object *o, bool own, struct json_out *out)
{
    uint16_t port = environments_port(op->core, o->id);
    struct str host = host_of(op->caller->host);
    json_key(out, "ssh");
    if (!port || !own) {
        json_null(out);
        return;
    }
    json_object(out);
    json_kstr(out, "host", host);
    json_kint(out, "port", port);
    json_kz(out, "user", "root");
    json_kstr(out, "host_key", host_key(op, o));
    json_kz(out, "command", arena_printf(op->arena, "ssh -p %u root@" STR_FMT, port, STR_ARG(host)));
    json_kstr(out, "password", caller_is(op->caller, o->created_by) ? object_text(o, "password") : STR_NULL);
    json_object_end(out);
}

static bool run_access(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct object job;
    bool own = caller_is(op->caller, o->created_by) || op->caller->administrator;
    bool runs = str_is(object_text(o, "state"), "running") || str_is(object_text(o, "state"), "starting");
    if (runs &&
        !engine_get(op->core, &caller_system, &kind_job, 0, object_int(o, "job"), op->arena, &job, err))
        return false;
    json_object(out);
    json_key(out, "tools");
    json_array(out);
    for (const struct tool *t = tools; t->name; t++)
        if (strcmp(t->owner_kind, kind_environment.name) == 0)
            write_tool(op, t, runs ? &job : NULL, own, out);
    json_array_end(out);
    write_ssh(op, o, own, out);
    int64_t idle = environment_idle(op->core, o);
    json_key(out, "idle_s");
    if (idle < 0)
        json_null(out);
    else
        json_int(out, idle);
    json_object_end(out);
    return true;
}

/* --- the table --- */

static const struct field extend_fields[] = {
    {.name = "hours",
     .type = FIELD_REAL,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .min = 0,
     .max = 10000,
     .unit = "hours",
     .title = {"Hours more", "增加时长"}},
    {0},
};

static const struct field copy_fields[] = {
    FIELD_COPY_NAME,
    {0},
};

static const struct field save_fields[] = {
    {.name = "image",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .min = 1,
     .max = 50,
     .rule = "image-name",
     .title = {"Image", "镜像"}},
    {.name = "version",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .min = 1,
     .max = 50,
     .rule = "image-tag",
     .title = {"Version", "版本"}},
    {.name = "description",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE | FIELD_LONG,
     .max = 500,
     .title = {"Description", "描述"}},
    {0},
};

const struct action environment_actions[] = {
    {.name = "start", .permission = "environment.start", .title = {"Start", "启动"}, .run = run_start},
    {.name = "stop",
     .permission = "environment.stop",
     .title = {"Stop", "停止"},
     .danger = true,
     .run = run_stop},
    {.name = "extend",
     .permission = "environment.extend",
     .fields = extend_fields,
     .title = {"Extend", "延长"},
     .run = run_extend},
    {.name = "copy",
     .permission = "environment.create",
     .fields = copy_fields,
     .status = 201,
     .title = {"Copy", "复制"},
     .run = run_copy},
    {.name = "save",
     .permission = "environment.save",
     .fields = save_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Save as image", "保存为镜像"},
     .run = run_save},
    {.name = "keep",
     .permission = "environment.keep",
     .fields = keep_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Keep as version", "保存为版本"},
     .run = keep_run},
    {.name = "folders",
     .permission = "environment.keep",
     .read_only = true,
     .fields = keep_folders_fields,
     .answer = "EnvironmentFolders",
     .title = {"Folders of /workspace", "/workspace 中的文件夹"},
     .run = keep_folders_run},
    {.name = "access",
     .permission = "environment.open",
     .read_only = true,
     .answer = "EnvironmentAccess",
     .title = {"Access", "访问方式"},
     .run = run_access},
    {0},
};

/* The kind `runtime`: recipes of images that the platform makes itself. */
#include "base/messages_runtime.h"
#include "core/fields.h"
#include "core/image/image.h"
#include "core/runtime/runtime_own.h"
#include "core/task/log_page.h"

#include <unistd.h>

static const struct choice states[] = {
    {"missing", {"Not built", "未构建"}},
    {"building", {"Building", "构建中"}},
    {"ready", {"Ready", "就绪"}},
    {"failed", {"Failed", "失败"}},
    {NULL, {NULL, NULL}},
};

static const struct choice phases[] = {
    {"fetching", {"Fetching packages", "下载软件包"}},
    {"configuring", {"Installing packages", "安装软件包"}},
    {"storing", {"Storing the image", "保存镜像"}},
    {NULL, {NULL, NULL}},
};

static const struct field fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags =
         FIELD_REQUIRED | FIELD_CREATE | FIELD_SEARCH | FIELD_SORT | FIELD_FILTER | FIELD_LIST | FIELD_UNIQUE,
     .min = 1,
     .max = 50,
     .rule = "slug",
     .title = {"Name", "名称"},
     .help = {"Its image is built-in/NAME.", "其镜像为 built-in/名称。"}},
    {.name = "title",
     .type = FIELD_TEXT,
     .flags = FIELD_EDIT | FIELD_SEARCH,
     .max = 100,
     .title = {"Title", "标题"}},
    {.name = "title_zh",
     .type = FIELD_TEXT,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .max = 100,
     .title = {"Title in Chinese", "中文标题"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_FILTER | FIELD_LIST | FIELD_STATUS,
     .choices = states,
     .fallback = "\"missing\"",
     .title = {"State", "状态"}},
    {.name = "bytes",
     .type = FIELD_INT,
     .flags = FIELD_LIST | FIELD_STATUS,
     .unit = "bytes",
     .title = {"To fetch", "需下载"},
     .help = {"All packages together; those in the cache are not fetched again.",
              "全部软件包的大小；缓存中已有的不再下载。"}},
    {.name = "minutes",
     .type = FIELD_REAL,
     .flags = FIELD_LIST | FIELD_STATUS,
     .unit = "minutes",
     .title = {"Minutes", "预计分钟"}},
    {.name = "image",
     .type = FIELD_TEXT,
     .flags = FIELD_LIST | FIELD_FILTER,
     .max = 200,
     .fallback = "\"\"",
     .title = {"Image", "镜像"},
     .help = {"What trainings, jobs and environments name it by.", "训练、作业和开发环境使用的镜像名。"}},
    {.name = "packages",
     .type = FIELD_TEXTS,
     .flags = FIELD_EDIT,
     .max = RUNTIME_PACKAGES,
     .item_max = RUNTIME_NAME_MAX,
     .fallback = "[]",
     .check = runtime_check_debian,
     .title = {"Debian packages", "Debian 软件包"},
     .help = {"Beside the essential ones: python3-torch", "除基本软件包之外，如 python3-torch"}},
    {.name = "python",
     .type = FIELD_TEXTS,
     .flags = FIELD_EDIT,
     .max = RUNTIME_PACKAGES,
     .item_max = RUNTIME_NAME_MAX,
     .fallback = "[]",
     .check = runtime_check_python,
     .title = {"Python packages", "Python 软件包"},
     .help = {"Wheels of the Python index, best with a version: lightgbm==4.6.0",
              "Python 索引中的 wheel，最好带版本，如 lightgbm==4.6.0"}},
    FIELD_DESCRIPTION,
    {.name = "description_zh",
     .type = FIELD_TEXT,
     .flags = FIELD_ADVANCED | FIELD_EDIT | FIELD_LONG,
     .max = 500,
     .title = {"Description in Chinese", "中文描述"}},
    {.name = "phase",
     .type = FIELD_CHOICE,
     .flags = FIELD_STATUS,
     .choices = phases,
     .title = {"Step", "步骤"}},
    {.name = "reason",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS,
     .max = 500,
     .fallback = "\"\"",
     .title = {"Reason", "原因"}},
    {.name = "reason_zh",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS,
     .max = 500,
     .fallback = "\"\"",
     .title = {"Reason in Chinese", "原因（中文）"}},
    {.name = "image_bytes", .type = FIELD_INT, .unit = "bytes", .title = {"Size of the image", "镜像大小"}},
    {.name = "version",
     .type = FIELD_REF,
     .ref = "image_version",
     .title = {"Version of the image", "镜像版本"}},
    {.name = "built_at", .type = FIELD_TIME, .title = {"Built", "构建时间"}},
    {.name = "built_in",
     .type = FIELD_BOOL,
     .flags = FIELD_FILTER,
     .fallback = "false",
     .title = {"Built in", "内置"}},
    {.name = "task", .type = FIELD_INT, .flags = FIELD_STATUS, .title = {"Background task", "后台任务"}},
    {.name = "job", .type = FIELD_INT, .flags = FIELD_STATUS | FIELD_INTERNAL, .title = {"Job", "作业"}},
    {.name = "making",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS | FIELD_INTERNAL,
     .max = 50,
     .title = {"Version in the making", "正在构建的版本"}},
    {.name = "fingerprint",
     .type = FIELD_TEXT,
     .flags = FIELD_INTERNAL,
     .max = 64,
     .title = {"Fingerprint", "指纹"}},
    {0},
};

/* --- rules --- */

static bool changeable(const struct object *o, struct err *err)
{
    if (object_int(o, "built_in"))
        return err_message(err, ERR_CONFLICT, NULL, MESSAGE_RUNTIME_BUILT_IN,
                           STR_ARG(object_text(o, "name")));
    return true;
}

static bool idle(const struct object *o, struct err *err)
{
    return !str_is(object_text(o, "state"), "building") ||
           err_message(err, ERR_CONFLICT, "state", MESSAGE_RUNTIME_BUSY, STR_ARG(object_text(o, "name")));
}

static bool has_packages(const struct object *o, struct err *err)
{
    return !str_is(object_text(o, "packages"), "[]") || !str_is(object_text(o, "python"), "[]") ||
           err_message(err, ERR_INVALID, "packages", MESSAGE_RUNTIME_EMPTY);
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    (void)op;
    return has_packages(o, err);
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    (void)op;
    return changeable(old, err) && idle(old, err) && has_packages(new_, err);
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    (void)op;
    return changeable(o, err) && idle(o, err);
}

static bool after_delete(struct op *op, struct object *o, struct err *err)
{
    (void)err;
    unlink(runtime_log_path(op->core, op->arena, o->id));
    return true;
}

/* --- tasks --- */

struct beginning {
    struct object *runtime;
    const struct task_type *type;
    struct words name;
    struct str params;
    bool building;
    int64_t project, task;
};

static bool begin_write(struct op *op, void *ctx, struct err *err)
{
    struct beginning *b = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_runtime, b->runtime->id, &now, &found, err) || !found)
        return found ? false : err_set(err, ERR_NOT_FOUND, NULL, "the runtime was deleted");
    const struct task_new t = {.type = b->type->name,
                               .project = b->project,
                               .subject_kind = kind_runtime.name,
                               .subject = now.id,
                               .name = b->name,
                               .params = b->params};
    if (!idle(&now, err) || !task_create(op, &t, &b->task, err))
        return false;
    return !b->building ||
           engine_set_status(
               op, &kind_runtime, now.id,
               ENGINE_STATUSES(status_set("state", db_textz("building")), status_set("task", db_int(b->task)),
                               status_set("reason", db_textz("")), status_set("reason_zh", db_textz("")),
                               status_set("phase", db_textz("fetching"))),
               err);
}

static bool begin(struct op *op, struct beginning *b, struct json_out *out, struct err *err)
{
    return runtime_project(op->core, op->caller, op->arena, &b->project, err) &&
           engine_write(op->core, op->caller, op->arena, begin_write, b, err) &&
           (!out || engine_answer_id(op, &kind_task, b->task, out, err));
}

static bool run_build(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct beginning b = {
        .runtime = o,
        .type = &task_runtime_build,
        .building = true,
        .name = task_name(op->arena, MESSAGE_NAME_RUNTIME_BUILD, STR_ARG(object_text(o, "name"))),
        .params = STR("{}")};
    return begin(op, &b, out, err);
}

static bool estimate(struct op *op, struct object *o, struct json_out *out, struct err *err)
{
    struct beginning b = {
        .runtime = o,
        .type = &task_runtime_estimate,
        .name = task_name(op->arena, MESSAGE_NAME_RUNTIME_ESTIMATE, STR_ARG(object_text(o, "name"))),
        .params = STR("{}")};
    return begin(op, &b, out, err);
}

static bool run_estimate(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                         int *status, struct err *err)
{
    (void)input;
    (void)status;
    return changeable(o, err) && estimate(op, o, out, err);
}

static bool run_export(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)input;
    (void)status;
    if (!object_text(o, "image").n)
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_RUNTIME_MISSING,
                           STR_ARG(object_text(o, "name")), STR_ARG(object_text(o, "name")));
    struct beginning b = {
        .runtime = o,
        .type = &task_runtime_export,
        .name = task_name(op->arena, MESSAGE_NAME_RUNTIME_EXPORT, STR_ARG(object_text(o, "name"))),
        .params = STR("{}")};
    return begin(op, &b, out, err);
}

/* --- import --- */

static const struct field import_fields[] = {
    {.name = "upload",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .max = 64,
     .title = {"Upload", "上传"},
     .help = {"A finished upload of what `ingot runtime export` wrote.",
              "已完成的上传：`ingot runtime export` 写出的文件。"}},
    {0},
};

static bool run_import(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)o;
    (void)status;
    const struct task_new t = {.type = task_runtime_import.name,
                               .subject_kind = kind_runtime.name,
                               .name = task_name(op->arena, MESSAGE_NAME_RUNTIME_IMPORT)};
    return runtime_begin_import(op, t, input[0].s, out, err);
}

/* --- giving the room back --- */

static bool clear_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx, now, version;
    bool found;
    if (!engine_load_row(op, &kind_runtime, o->id, &now, &found, err) || !found)
        return found ? false : err_set(err, ERR_NOT_FOUND, NULL, "the runtime was deleted");
    const int64_t id = object_int(&now, "version");
    if (!idle(&now, err))
        return false;
    *object_value(&now, "state") = db_textz("missing");
    *object_value(&now, "image") = *object_value(&now, "fingerprint") = db_textz("");
    *object_value(&now, "reason") = *object_value(&now, "reason_zh") = db_textz("");
    *object_value(&now, "version") = *object_value(&now, "image_bytes") = *object_value(&now, "built_at") =
        db_null();
    if (!engine_update_row(op, &now, err))
        return false;
    *o = now;
    return !id || (engine_load_row(op, &kind_image_version, id, &version, &found, err) &&
                   (!found || engine_delete_row(op, &version, err)));
}

static bool run_clear(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)input;
    (void)status;
    return engine_write(op->core, op->caller, op->arena, clear_write, o, err) &&
           engine_answer(op, o, out, err);
}

/* --- the log --- */

static bool run_log(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err)
{
    (void)status;
    return log_page(runtime_log_path(op->core, op->arena, o->id), input[0].i, out, err);
}

static const struct action actions[] = {
    {.name = "build",
     .permission = "runtime.build",
     .answer = "Task",
     .status = 202,
     .title = {"Build", "构建"},
     .run = run_build},
    {.name = "estimate",
     .permission = "runtime.build",
     .answer = "Task",
     .status = 202,
     .title = {"Estimate", "估算"},
     .run = run_estimate},
    {.name = "export",
     .permission = "runtime.build",
     .answer = "Task",
     .status = 202,
     .title = {"Export to a file", "导出为文件"},
     .run = run_export},
    {.name = "import",
     .permission = "runtime.build",
     .on_kind = true,
     .fields = import_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Import from a file", "从文件导入"},
     .run = run_import},
    {.name = "clear",
     .permission = "runtime.build",
     .danger = true,
     .title = {"Remove the image", "移除镜像"},
     .run = run_clear},
    {.name = "log",
     .permission = "runtime.build",
     .read_only = true,
     .fields = log_page_fields,
     .answer = "ScriptLog",
     .title = {"Log", "日志"},
     .run = run_log},
    {0},
};

/* What a list costs is worked out at once: before anybody decides to build it. */
static void changed(struct core *core, const struct object *o, const char *verb)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err ignored = {0};
    struct object now = *o;
    struct op op = {.core = core, .caller = &caller_system, .arena = &a, .kind = &kind_runtime};
    if (strcmp(verb, "create") == 0 && object_value(o, "bytes")->type == DB_NULL)
        estimate(&op, &now, NULL, &ignored);
}

const struct kind kind_runtime = {
    .name = "runtime",
    .plural = "runtimes",
    .table = "runtimes",
    .title = {"Runtime", "运行环境"},
    .titles = {"Runtimes", "运行环境"},
    .help = {"Images with frameworks that the platform builds itself from Debian and Python packages.",
             "平台用 Debian 和 Python 软件包自行构建的框架镜像。"},
    .menu = "build",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_ALL,
    .fields = fields,
    .actions = actions,
    .before_create = before_create,
    .before_update = before_update,
    .before_delete = before_delete,
    .after_delete = after_delete,
    .changed = changed,
};

/* The kind `tool`: what of it is on this machine, what it costs to have the rest. */
#include "base/clock.h"
#include "base/messages_runtime.h"
#include "core/environment/tool_own.h"
#include "core/fields.h"
#include "core/runtime/runtime.h"
#include "core/task/log_page.h"

static const struct choice states[] = {
    {"missing", {"Not installed", "未安装"}},
    {"fetching", {"Installing", "安装中"}},
    {"ready", {"Installed", "已安装"}},
    {"failed", {"Failed", "失败"}},
    {NULL, {NULL, NULL}},
};

static const struct field fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_SEARCH | FIELD_SORT | FIELD_FILTER | FIELD_UNIQUE,
     .max = 50,
     .title = {"Name", "名称"}},
    {.name = "title",
     .type = FIELD_TEXT,
     .flags = FIELD_SEARCH | FIELD_LIST,
     .max = 100,
     .title = {"Title", "标题"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_LIST | FIELD_VIRTUAL,
     .choices = states,
     .title = {"State", "状态"}},
    {.name = "bytes",
     .type = FIELD_INT,
     .flags = FIELD_LIST,
     .unit = "bytes",
     .title = {"To fetch", "需下载"}},
    {.name = "installed_bytes",
     .type = FIELD_INT,
     .flags = FIELD_LIST,
     .unit = "bytes",
     .title = {"On disk", "占用磁盘"}},
    {.name = "minutes",
     .type = FIELD_REAL,
     .flags = FIELD_LIST,
     .unit = "minutes",
     .title = {"Minutes", "预计分钟"}},
    {.name = "description", .type = FIELD_TEXT, .max = 500, .title = {"Description", "描述"}},
    {.name = "description_zh",
     .type = FIELD_TEXT,
     .max = 500,
     .title = {"Description in Chinese", "中文描述"}},
    {.name = "doing",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS | FIELD_INTERNAL,
     .max = 20,
     .fallback = "\"\"",
     .title = {"What is done with it", "进行中的操作"}},
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
    {.name = "task", .type = FIELD_INT, .flags = FIELD_STATUS, .title = {"Background task", "后台任务"}},
    {0},
};

bool tool_installed(struct core *core, const struct tool *t, struct arena *a)
{
    return tool_missing(core, t, a) == NULL;
}

static bool show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    (void)err;
    const struct tool *t = tool_find(object_text(o, "name"));
    struct str doing = object_text(o, "doing");
    json_key(out, "state");
    if (str_is(doing, "fetching"))
        json_string(out, doing);
    else if (t && tool_installed(op->core, t, op->arena))
        json_z(out, "ready");
    else
        json_z(out, str_is(doing, "failed") ? "failed" : "missing");
    return true;
}

/* --- the rows --- */

static bool make_one(struct db_conn *c, const struct tool *t, struct err *err)
{
    const int64_t now = clock_now();
    return conn_exec(
        c,
        "INSERT INTO tools(name, title, description, description_zh, bytes, installed_bytes, minutes, doing,"
        " reason, reason_zh, revision, created_at, updated_at)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, '', '', '', 1, ?, ?) ON CONFLICT(name) DO UPDATE SET"
        " title = excluded.title, description = excluded.description,"
        " description_zh = excluded.description_zh, bytes = excluded.bytes,"
        " installed_bytes = excluded.installed_bytes, minutes = excluded.minutes"
        " WHERE tools.description <> excluded.description OR tools.bytes <> excluded.bytes"
        " OR tools.installed_bytes <> excluded.installed_bytes OR tools.minutes <> excluded.minutes",
        db_args(db_textz(t->name), db_textz(t->title.en), db_textz(t->about.en), db_textz(t->about.zh),
                db_int(t->fetched), db_int(t->installed), db_real(t->minutes), db_int(now), db_int(now)),
        NULL, err);
}

/* Of a fetch whose task is gone (the data came from a backup) nothing is left to wait for. */
static bool make_all(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    for (const struct tool *t = tools; t->name; t++)
        if (!make_one(c, t, err))
            return false;
    return conn_exec(
        c,
        "UPDATE tools SET doing = '' WHERE doing = 'fetching' AND NOT EXISTS (SELECT 1 FROM tasks"
        " WHERE tasks.id = tools.task AND tasks.state IN ('waiting', 'running'))",
        DB_NO_ARGS, NULL, err);
}

bool tool_make_rows(struct core *core, struct err *err)
{
    return db_write(core->db, make_all, NULL, err);
}

/* --- actions --- */

struct beginning {
    const struct object *row;
    int64_t project, task;
    bool there; /* one is at work on it already: that is the answer */
};

static bool begin_write(struct op *op, void *ctx, struct err *err)
{
    struct beginning *b = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_tool, b->row->id, &now, &found, err) || !found)
        return found ? false : err_set(err, ERR_NOT_FOUND, NULL, "there is no such tool");
    b->there = str_is(object_text(&now, "doing"), "fetching");
    b->task = object_int(&now, "task");
    if (b->there)
        return true;
    const struct task_new t = {
        .type = task_tool_fetch.name,
        .project = b->project,
        .subject_kind = kind_tool.name,
        .subject = now.id,
        .name = task_name(op->arena, MESSAGE_NAME_TOOL_FETCH, STR_ARG(object_text(&now, "title"))),
        .params = STR("{}")};
    return task_create(op, &t, &b->task, err) &&
           engine_set_status(
               op, &kind_tool, now.id,
               ENGINE_STATUSES(status_set("doing", db_textz("fetching")), status_set("task", db_int(b->task)),
                               status_set("reason", db_textz("")), status_set("reason_zh", db_textz(""))),
               err);
}

static bool run_fetch(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)input;
    struct beginning b = {.row = o};
    if (!runtime_project(op->core, op->caller, op->arena, &b.project, err) ||
        !engine_write(op->core, op->caller, op->arena, begin_write, &b, err))
        return false;
    if (b.there)
        *status = 200;
    return engine_answer_id(op, &kind_task, b.task, out, err);
}

static const struct field import_fields[] = {
    {.name = "upload",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .max = 64,
     .title = {"Upload", "上传"},
     .help = {"A finished upload of what `ingot fetch NAME --archive FILE` wrote.",
              "已完成的上传：`ingot fetch 名称 --archive 文件` 写出的文件。"}},
    {0},
};

static bool run_import(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)o;
    (void)status;
    const struct task_new t = {.type = task_tool_import.name,
                               .subject_kind = kind_tool.name,
                               .name = task_name(op->arena, MESSAGE_NAME_TOOL_IMPORT)};
    return runtime_begin_import(op, t, input[0].s, out, err);
}

static bool run_log(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err)
{
    (void)status;
    const char *name = arena_strz(op->arena, object_text(o, "name"));
    return log_page(tool_log_path(op->core, op->arena, name), input[0].i, out, err);
}

static const struct action actions[] = {
    {.name = "fetch",
     .permission = "tool.fetch",
     .answer = "Task",
     .status = 202,
     .title = {"Install", "安装"},
     .run = run_fetch},
    {.name = "import",
     .permission = "tool.fetch",
     .on_kind = true,
     .fields = import_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Import from a file", "从文件导入"},
     .run = run_import},
    {.name = "log",
     .permission = "tool.fetch",
     .read_only = true,
     .fields = log_page_fields,
     .answer = "ScriptLog",
     .title = {"Log", "日志"},
     .run = run_log},
    {0},
};

const struct kind kind_tool = {
    .name = "tool",
    .plural = "tools",
    .table = "tools",
    .title = {"Tool", "工具"},
    .titles = {"Tools", "工具"},
    .help = {"Programs that run beside people's work, each installed when it is first asked for.",
             "与工作配套运行的程序，首次需要时再安装。"},
    .menu = "build",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_LIST | VERB_READ,
    .fields = fields,
    .actions = actions,
    .show = show,
};

/* The kind `demo`: its one row, and what can be done with it. */
#include "base/clock.h"
#include "base/hash.h"
#include "core/account/accounts.h"
#include "core/account/password.h"
#include "core/demo/demo_own.h"
#include "core/fields.h"
#include "core/runtime/runtime.h"
#include "core/show.h"

static const struct choice states[] = {
    {"absent", {"Not loaded", "未加载"}},      {"loading", {"Loading", "加载中"}},
    {"part", {"Partly loaded", "部分加载"}},   {"ready", {"Loaded", "已加载"}},
    {"training", {"Training", "训练中"}},      {"trained", {"Loaded, with its model", "已加载，含训练模型"}},
    {"removing", {"Being removed", "移除中"}}, {NULL, {NULL, NULL}},
};

#define REFERENCE                                                                                            \
    "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\"}},"     \
    "\"required\":[\"id\",\"name\"]"

static const struct field fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_UNIQUE | FIELD_FILTER | FIELD_SORT,
     .max = 50,
     .title = {"Name", "名称"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_LIST | FIELD_VIRTUAL,
     .choices = states,
     .title = {"State", "状态"}},
    {.name = "project",
     .type = FIELD_JSON,
     .flags = FIELD_VIRTUAL,
     .schema = "{" REFERENCE "}",
     .title = {"Project", "项目"},
     .help = {"Null while there is none", "尚无项目时为 null"}},
    {.name = "people",
     .type = FIELD_JSON,
     .flags = FIELD_VIRTUAL,
     .schema = "{\"type\":\"array\",\"items\":{" REFERENCE "}}",
     .title = {"People", "人员"}},
    {.name = "step",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS,
     .max = 50,
     .fallback = "\"\"",
     .title = {"Step", "步骤"},
     .help = {"What is done now, or what failed", "当前步骤，或失败的步骤"}},
    {.name = "task", .type = FIELD_INT, .flags = FIELD_STATUS, .title = {"Background task", "后台任务"}},
    {.name = "reason",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS | FIELD_LIST,
     .max = 500,
     .fallback = "\"\"",
     .title = {"Reason", "原因"}},
    {.name = "reason_zh",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS,
     .max = 500,
     .fallback = "\"\"",
     .title = {"Reason in Chinese", "原因（中文）"}},
    {.name = "bytes",
     .type = FIELD_INT,
     .flags = FIELD_LIST,
     .unit = "bytes",
     .title = {"To fetch", "需下载"}},
    {.name = "minutes",
     .type = FIELD_REAL,
     .flags = FIELD_LIST,
     .unit = "minutes",
     .title = {"Minutes", "预计分钟"}},
    {.name = "training_minutes",
     .type = FIELD_REAL,
     .flags = FIELD_LIST,
     .unit = "minutes",
     .title = {"Minutes of the training", "训练预计分钟"}},
    {.name = "project_id",
     .type = FIELD_INT,
     .flags = FIELD_STATUS | FIELD_INTERNAL,
     .title = {"Project", "项目"}},
    {.name = "people_ids",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS | FIELD_INTERNAL,
     .max = 200,
     .title = {"People", "人员"}},
    {.name = "doing",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS | FIELD_INTERNAL,
     .max = 20,
     .fallback = "\"\"",
     .title = {"What is done with it", "进行中的操作"}},
    {.name = "loaded",
     .type = FIELD_TEXT,
     .flags = FIELD_STATUS | FIELD_INTERNAL,
     .max = 20,
     .fallback = "\"\"",
     .title = {"The last stage that was loaded", "已加载的阶段"}},
    {.name = "token", .type = FIELD_INT, .flags = FIELD_STATUS | FIELD_INTERNAL, .title = {"Token", "令牌"}},
    {0},
};

/* What is done now, then what was done; the first that fits. */
static const struct {
    const char *doing, *loaded, *state;
} shown[] = {{"load", NULL, "loading"},  {"train", NULL, "training"}, {"remove", NULL, "removing"},
             {NULL, "train", "trained"}, {NULL, "load", "ready"},     {NULL, NULL, "part"}};

static const char *state_of(const struct object *o)
{
    struct str doing = object_text(o, "doing"), loaded = object_text(o, "loaded");
    if (!doing.n && !object_int(o, "project_id"))
        return "absent";
    size_t i = 0;
    while ((shown[i].doing && !str_is(doing, shown[i].doing)) ||
           (shown[i].loaded && !str_is(loaded, shown[i].loaded)))
        i++;
    return shown[i].state;
}

static bool show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    int64_t ids[DEMO_PEOPLE];
    const size_t n = demo_people(op->arena, o, ids);
    json_kz(out, "state", state_of(o));
    json_key(out, "project");
    if (!show_reference(op, &kind_project, object_int(o, "project_id"), out, err))
        return false;
    json_key(out, "people");
    json_array(out);
    for (size_t i = 0; i < n; i++)
        if (!show_reference(op, &kind_user, ids[i], out, err))
            return false;
    json_array_end(out);
    return true;
}

/* --- the row --- */

static bool make_row(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    const int64_t now = clock_now();
    return conn_exec(c,
                     "INSERT INTO demos(name, step, reason, reason_zh, bytes, minutes, training_minutes, "
                     "doing, loaded,"
                     " revision, created_at, updated_at) VALUES('demo', '', '', '', ?, ?, ?, '', '', 1, ?, ?)"
                     " ON CONFLICT(name) DO UPDATE SET bytes = excluded.bytes, minutes = excluded.minutes,"
                     " training_minutes = excluded.training_minutes",
                     db_args(db_int(DEMO_BYTES), db_real(DEMO_MINUTES), db_real(DEMO_TRAINING_MINUTES),
                             db_int(now), db_int(now)),
                     NULL, err) &&
           conn_exec(c,
                     "UPDATE demos SET doing = '' WHERE doing <> '' AND NOT EXISTS (SELECT 1 FROM tasks WHERE"
                     " tasks.id = demos.task AND tasks.state IN ('waiting', 'running'))",
                     DB_NO_ARGS, NULL, err);
}

bool demo_make_row(struct core *core, struct err *err)
{
    return db_write(core->db, make_row, NULL, err);
}

bool demo_load_row(struct op *op, struct object *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT id FROM demos WHERE name = 'demo'", DB_NO_ARGS, &row,
                        &found, err))
        return false;
    if (!found || !engine_load_row(op, &kind_demo, row.v[0].i, ret, &found, err))
        return found ? false : err_set(err, ERR_INTERNAL, NULL, "the row of the demo is gone");
    return true;
}

/* --- actions --- */

struct beginning {
    const char *doing;  /* of the row */
    struct str hash;    /* of the people's first password */
    struct str confirm; /* of a removal */
    int64_t task_project, task;
    bool there; /* the same is at work already */
};

static bool project_name(struct op *op, const struct object *row, struct str *ret, bool *found,
                         struct err *err)
{
    struct object project;
    *ret = STR("demo");
    *found = false;
    if (!object_int(row, "project_id"))
        return true;
    if (!engine_load_row(op, &kind_project, object_int(row, "project_id"), &project, found, err))
        return false;
    if (*found)
        *ret = object_text(&project, "name");
    return true;
}

/* The project and its people, unless they are there. */
static bool ensure(struct op *op, struct beginning *b, struct object *row, struct err *err)
{
    int64_t project, people[DEMO_PEOPLE];
    struct str name;
    bool found;
    if (object_int(row, "project_id"))
        return project_name(op, row, &name, &found, err) &&
               (found || err_message(err, ERR_CONFLICT, "state", MESSAGE_DEMO_GONE));
    if (!demo_make(op, b->hash, &project, people, err))
        return false;
    const char *ids = arena_printf(op->arena, "[%lld,%lld,%lld]", (long long)people[0], (long long)people[1],
                                   (long long)people[2]);
    return engine_set_status(
        op, &kind_demo, row->id,
        ENGINE_STATUSES(status_set("project_id", db_int(project)), status_set("people_ids", db_textz(ids))),
        err);
}

static bool may_train(const struct object *row, struct err *err)
{
    return object_text(row, "loaded").n > 0 || err_message(err, ERR_CONFLICT, "state", MESSAGE_DEMO_PART);
}

static bool may_remove(struct op *op, struct beginning *b, const struct object *row, struct err *err)
{
    struct str name;
    bool found;
    if (!object_int(row, "project_id"))
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_DEMO_ABSENT);
    return project_name(op, row, &name, &found, err) &&
           (str_eq(b->confirm, name) ||
            err_message(err, ERR_INVALID, "name", MESSAGE_DEMO_CONFIRM, STR_ARG(name)));
}

static struct words name_of(struct arena *a, const char *doing)
{
    if (strcmp(doing, "remove") == 0)
        return task_name(a, MESSAGE_NAME_DEMO_REMOVE);
    return strcmp(doing, "train") == 0 ? task_name(a, MESSAGE_NAME_DEMO_TRAIN)
                                       : task_name(a, MESSAGE_NAME_DEMO_LOAD);
}

static bool begin_write(struct op *op, void *ctx, struct err *err)
{
    struct beginning *b = ctx;
    struct object row;
    const bool load = strcmp(b->doing, "load") == 0, removal = strcmp(b->doing, "remove") == 0;
    if (!demo_load_row(op, &row, err))
        return false;
    b->there = str_is(object_text(&row, "doing"), b->doing);
    b->task = object_int(&row, "task");
    if (b->there)
        return true;
    if (object_text(&row, "doing").n)
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_DEMO_BUSY);
    if (!(removal ? may_remove(op, b, &row, err) : load ? ensure(op, b, &row, err) : may_train(&row, err)))
        return false;
    const struct task_new t = {.type = removal ? task_demo_remove.name : task_demo_load.name,
                               .project = b->task_project,
                               .subject_kind = kind_demo.name,
                               .subject = row.id,
                               .name = name_of(op->arena, b->doing),
                               .params = str_of(arena_printf(op->arena, "{\"stage\":\"%s\"}", b->doing))};
    return task_create(op, &t, &b->task, err) &&
           engine_set_status(
               op, &kind_demo, row.id,
               ENGINE_STATUSES(status_set("doing", db_textz(b->doing)), status_set("task", db_int(b->task)),
                               status_set("step", db_textz("")), status_set("reason", db_textz("")),
                               status_set("reason_zh", db_textz(""))),
               err);
}

/* All that is done in the person's name must be theirs to do. */
static bool needs(struct op *op, const char *const *permissions, struct err *err)
{
    for (; *permissions; permissions++)
        if (!caller_need(op->caller, *permissions, 0, err))
            return false;
    return true;
}

static const char *const makes[] = {"project.create", "user.create", "user.reset-password", NULL};
static const char *const removes[] = {"project.delete", "user.delete", NULL};

static bool begin(struct op *op, struct beginning *b, struct json_out *out, int *status, struct err *err)
{
    if (!needs(op, strcmp(b->doing, "remove") == 0 ? removes : makes, err) ||
        !runtime_project(op->core, op->caller, op->arena, &b->task_project, err) ||
        !engine_write(op->core, op->caller, op->arena, begin_write, b, err))
        return false;
    if (b->there)
        *status = 200;
    return engine_answer_id(op, &kind_task, b->task, out, err);
}

static bool run_load(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)o, (void)input;
    char password[PASSWORD_TEXT];
    struct beginning b = {.doing = "load"};
    password_generate(password);
    return password_hash(op->arena, str_of(password), &b.hash, err) && begin(op, &b, out, status, err);
}

/* Without its runtime it is not even begun: the sentence says how one gets it. */
static bool run_train(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)o, (void)input;
    struct beginning b = {.doing = "train"};
    return runtime_image(op->core, STR(DEMO_RUNTIME), op->arena, err) && begin(op, &b, out, status, err);
}

static bool run_remove(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)o;
    struct beginning b = {.doing = "remove", .confirm = input[0].s};
    return begin(op, &b, out, status, err);
}

static const struct field remove_fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE | FIELD_REQUIRED,
     .max = 100,
     .title = {"Name of the project", "项目名称"},
     .help = {"Of the demo's project: all that is in it goes, whoever made it",
              "示例项目的名称：其中的全部内容（无论由谁创建）都将被移除"}},
    {0},
};

static const struct action actions[] = {
    {.name = "load",
     .permission = "demo.load",
     .on_kind = true,
     .answer = "Task",
     .status = 202,
     .title = {"Load the demo project", "加载示例项目"},
     .run = run_load},
    {.name = "train",
     .permission = "demo.load",
     .on_kind = true,
     .answer = "Task",
     .status = 202,
     .title = {"Train a model on the demo's pictures", "用示例图片训练模型"},
     .run = run_train},
    {.name = "passwords",
     .permission = "demo.load",
     .on_kind = true,
     .answer = "DemoPasswords",
     .title = {"Give the demo's people new passwords", "为示例人员设置新密码"},
     .run = demo_passwords},
    {.name = "remove",
     .permission = "demo.remove",
     .on_kind = true,
     .fields = remove_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Remove the demo project", "移除示例项目"},
     .danger = true,
     .run = run_remove},
    {0},
};

const struct kind kind_demo = {
    .name = "demo",
    .plural = "demos",
    .table = "demos",
    .title = {"Demo project", "示例项目"},
    .titles = {"Demo project", "示例项目"},
    .help = {"An example of everything, from data to a service, loaded and removed with one click.",
             "从数据到服务的完整示例，一键加载，一键移除。"},
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_LIST | VERB_READ,
    .fields = fields,
    .actions = actions,
    .show = show,
};

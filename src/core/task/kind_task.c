/* The kind `task`: what people see of long work. */
#include "base/messages.h"
#include "core/kinds.h"
#include "core/show.h"
#include "core/task/task.h"
#include "core/task/tasks_own.h"
#include "store/store.h"

static const struct choice states[] = {
    {"waiting", {"Waiting", "等待中"}}, {"running", {"Running", "运行中"}},     {"done", {"Done", "已完成"}},
    {"failed", {"Failed", "失败"}},     {"cancelled", {"Cancelled", "已取消"}}, {NULL, {NULL, NULL}},
};

static const struct field fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_SEARCH | FIELD_SORT | FIELD_FILTER | FIELD_LIST,
     .max = 200,
     .title = {"Name", "名称"}},
    {.name = "name_zh", .type = FIELD_TEXT, .max = 200, .title = {"Name in Chinese", "中文名称"}},
    {.name = "type",
     .type = FIELD_TEXT,
     .flags = FIELD_FILTER | FIELD_LIST,
     .max = 50,
     .title = {"Type", "类型"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_FILTER | FIELD_LIST,
     .choices = states,
     .title = {"State", "状态"}},
    {.name = "done", .type = FIELD_INT, .flags = FIELD_LIST | FIELD_STATUS, .title = {"Done", "已处理"}},
    {.name = "total", .type = FIELD_INT, .flags = FIELD_LIST | FIELD_STATUS, .title = {"Total", "总数"}},
    {.name = "problems",
     .type = FIELD_INT,
     .flags = FIELD_LIST | FIELD_STATUS,
     .title = {"Problems", "问题数"}},
    {.name = "message", .type = FIELD_TEXT, .max = 500, .title = {"Message", "说明"}},
    {.name = "message_zh",
     .type = FIELD_TEXT,
     .max = 500,
     .title = {"Message in Chinese", "中文说明"},
     .help = {"When the message is one of the platform's own sentences.", "仅当说明是平台自己的语句时。"}},
    {.name = "subject_kind",
     .type = FIELD_TEXT,
     .flags = FIELD_FILTER,
     .max = 50,
     .title = {"Of kind", "对象类型"}},
    {.name = "subject", .type = FIELD_INT, .flags = FIELD_FILTER, .title = {"Object", "对象"}},
    {.name = "about",
     .type = FIELD_JSON,
     .flags = FIELD_VIRTUAL,
     .schema = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":{\"type\":"
               "\"string\"},\"of\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},"
               "\"name\":{\"type\":\"string\"}},\"required\":[\"id\",\"name\"]}},\"required\":[\"id\","
               "\"name\"]}",
     .title = {"Works on", "处理对象"},
     .help = {"The object, with its name and what it is part of; null when it is gone.",
              "对象及其名称和所属；已删除时为 null。"}},
    {.name = "params", .type = FIELD_JSON, .max = 1 << 20, .title = {"Parameters", "参数"}},
    {.name = "result", .type = FIELD_JSON, .max = 1 << 20, .title = {"Result", "结果"}},
    {.name = "report", .type = FIELD_TEXT, .max = 64, .title = {"Report", "报告"}},
    {.name = "output", .type = FIELD_TEXT, .max = 64, .title = {"Product", "产物"}},
    {.name = "output_name", .type = FIELD_TEXT, .max = 200, .title = {"Product's name", "产物名称"}},
    {.name = "cancel", .type = FIELD_BOOL, .fallback = "false", .title = {"Cancel wanted", "请求取消"}},
    {.name = "started_at", .type = FIELD_TIME, .title = {"Started", "开始时间"}},
    {.name = "ended_at", .type = FIELD_TIME, .flags = FIELD_LIST, .title = {"Ended", "结束时间"}},
    {0},
};

static bool show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    json_key(out, "about");
    return show_reference(op, kind_by_name(object_text(o, "subject_kind")), object_value(o, "subject")->i,
                          out, err);
}

static bool is_over(const struct object *o)
{
    struct str s = object_text(o, "state");
    return !str_is(s, "waiting") && !str_is(s, "running");
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    (void)op;
    return is_over(o) || err_message(err, ERR_CONFLICT, "state", MESSAGE_TASK_RUNNING);
}

static bool after_delete(struct op *op, struct object *o, struct err *err)
{
    static const char *const blobs[] = {"report", "output"};
    struct digest d;
    for (size_t i = 0; i < countof(blobs); i++)
        if (digest_parse(object_text(o, blobs[i]), &d) && !store_use(op->conn, o->project, &d, -1, err))
            return false;
    return true;
}

static bool cancel_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx, now;
    bool found;
    if (!engine_load_row(op, &kind_task, o->id, &now, &found, err))
        return false;
    if (!found || is_over(&now))
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_TASK_OVER);
    *object_value(&now, "cancel") = db_int(1);
    /* One that ran before the server was killed may have something to take back: it is run once more for
     * that. */
    const struct task_type *type = task_type_named(object_text(&now, "type"));
    if (str_is(object_text(&now, "state"), "waiting") && object_value(&now, "started_at")->type == DB_NULL &&
        !(type && type->undo_always))
        *object_value(&now, "state") = db_textz("cancelled");
    if (!engine_update_row(op, &now, err))
        return false;
    *o = now;
    return true;
}

static bool run_cancel(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)input;
    (void)status;
    if (!engine_write(op->core, op->caller, op->arena, cancel_write, o, err))
        return false;
    tasks_cancel(op->core->tasks, o->id);
    return engine_answer(op, o, out, err);
}

static const struct action actions[] = {
    {.name = "cancel",
     .permission = "task.cancel",
     .title = {"Cancel", "取消"},
     .danger = true,
     .run = run_cancel},
    {0},
};

const struct kind kind_task = {
    .name = "task",
    .plural = "tasks",
    .table = "tasks",
    .title = {"Background task", "后台任务"},
    .titles = {"Background tasks", "后台任务"},
    .menu = "data",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_LIST | VERB_READ | VERB_DELETE,
    .fields = fields,
    .actions = actions,
    .show = show,
    .before_delete = before_delete,
    .after_delete = after_delete,
    .extra_sql = "CREATE TABLE task_marks (task BIGINT PRIMARY KEY, position BIGINT NOT NULL);\n",
};

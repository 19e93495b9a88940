/* The kind `training_instance`: one run of a training. */
#include "base/clock.h"
#include "core/job/fields.h"
#include "core/job/sentence.h"
#include "core/training/pictures.h"
#include "core/training/summary.h"
#include "core/training/tensorboard.h"
#include "core/training/training.h"
#include "store/store.h"

#include <math.h>

static const struct choice states[] = {
    {"pending", {"Pending", "等待中"}},
    {"running", {"Running", "运行中"}},
    {"stopping", {"Stopping", "停止中"}},
    {"stopped", {"Stopped", "已停止"}},
    {"failed", {"Failed", "失败"}},
    {"completed", {"Completed", "已完成"}},
    {NULL, {NULL, NULL}},
};

#define CAUSE_SCHEMA                                                                                         \
    "{\"type\":[\"object\",\"null\"],\"properties\":{\"id\":{\"type\":\"string\"},\"sentence\":{\"type\":"   \
    "\"string\"},\"sentence_zh\":{\"type\":\"string\"},\"detail\":{\"type\":[\"string\",\"null\"]},"         \
    "\"lines\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"required\":[\"id\",\"sentence\","     \
    "\"sentence_zh\",\"lines\"]}"

#define SUMMARY_SCHEMA                                                                                       \
    "{\"type\":[\"object\",\"null\"],\"properties\":{\"metrics\":{\"type\":\"object\","                      \
    "\"additionalProperties\":{"                                                                             \
    "\"type\":\"object\",\"properties\":{\"last\":{\"type\":\"number\"},\"last_step\":{\"type\":\"number\"}" \
    ","                                                                                                      \
    "\"best\":{\"type\":\"number\"},\"best_step\":{\"type\":\"number\"},\"points\":{\"type\":\"integer\"},"  \
    "\"lower\":{\"type\":\"boolean\"}},\"required\":[\"last\",\"last_step\",\"best\",\"best_step\","         \
    "\"points\","                                                                                            \
    "\"lower\"]}},\"names\":{\"type\":\"integer\"},\"left_out\":{\"type\":\"object\","                       \
    "\"additionalProperties\":{"                                                                             \
    "\"type\":\"integer\"}}},\"required\":[\"metrics\",\"names\",\"left_out\"]}"

/* The second half is what it was started with: start.c copies it from the training, by name. */
static const struct field fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_SEARCH | FIELD_FILTER | FIELD_UNIQUE | FIELD_LIST,
     .max = 50,
     .title = {"Name", "名称"}},
    {.name = "number", .type = FIELD_INT, .flags = FIELD_SORT | FIELD_FILTER, .title = {"Number", "序号"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_SORT | FIELD_FILTER | FIELD_LIST,
     .choices = states,
     .title = {"State", "状态"}},
    JOB_FIELD_REASON(FIELD_VIRTUAL),
    {.name = "cause",
     .type = FIELD_JSON,
     .flags = FIELD_STATUS,
     .max = 1 << 16,
     .schema = CAUSE_SCHEMA,
     .title = {"Why it failed", "失败原因"}},
    {.name = "summary",
     .type = FIELD_JSON,
     .flags = FIELD_STATUS,
     .max = 1 << 16,
     .schema = SUMMARY_SCHEMA,
     .title = {"Metrics", "指标"}},
    {.name = "logged",
     .type = FIELD_JSON,
     .flags = FIELD_STATUS,
     .max = 1 << 18,
     .schema = "{\"type\":[\"object\",\"null\"],\"additionalProperties\":{\"type\":[\"number\",\"string\"]}}",
     .title = {"Logged parameters", "记录的参数"}},
    {.name = "summarised",
     .type = FIELD_INT,
     .flags = FIELD_STATUS | FIELD_INTERNAL,
     .title = {"Summarised", "已汇总"}},
    {.name = "note", .type = FIELD_TEXT, .max = 500, .title = {"Note", "说明"}},
    {.name = "job", .type = FIELD_REF, .flags = FIELD_FILTER, .ref = "job", .title = {"Job", "作业"}},
    {.name = "resumed_from",
     .type = FIELD_REF,
     .flags = FIELD_FILTER,
     .ref = "training_instance",
     .title = {"Resumed from", "续训自"}},
    {.name = "model_version",
     .type = FIELD_REF,
     .flags = FIELD_SORT | FIELD_FILTER | FIELD_LIST,
     .ref = "model_version",
     .title = {"Saved model", "保存的模型"}},
    {.name = "started_at",
     .type = FIELD_TIME,
     .flags = FIELD_SORT | FIELD_FILTER | FIELD_LIST,
     .title = {"Started", "开始时间"}},
    {.name = "ended_at",
     .type = FIELD_TIME,
     .flags = FIELD_FILTER | FIELD_LIST,
     .title = {"Ended", "结束时间"}},
    {.name = "duration",
     .type = FIELD_REAL,
     .flags = FIELD_SORT | FIELD_FILTER,
     .unit = "seconds",
     .title = {"Duration", "时长"},
     .help = {"From its start to its end; null before that.", "从开始到结束；结束前为空。"}},
    {.name = "lineage", .type = FIELD_JSON, .max = 1 << 18, .title = {"Made from", "来源"}},
    {.name = "tensorboard", .type = FIELD_REF, .ref = "job", .title = {"TensorBoard", "TensorBoard"}},

    {.name = "datasets",
     .type = FIELD_REFS,
     .flags = FIELD_SORT | FIELD_FILTER,
     .ref = "dataset_version",
     .title = {"Datasets", "数据集"}},
    {.name = "algorithm",
     .type = FIELD_REF,
     .flags = FIELD_SORT | FIELD_FILTER,
     .ref = "algorithm_version",
     .title = {"Algorithm", "算法"}},
    {.name = "function", .type = FIELD_CHOICE, .choices = training_functions, .title = {"Function", "功能"}},
    {.name = "parameters", .type = FIELD_JSON, .max = 1 << 17, .title = {"Parameters", "参数"}},
    {.name = "base_model", .type = FIELD_REF, .ref = "model_version", .title = {"Base model", "基础模型"}},
    {.name = "image",
     .type = FIELD_TEXT,
     .flags = FIELD_SORT | FIELD_FILTER,
     .max = 200,
     .title = {"Image", "镜像"}},
    {.name = "spec", .type = FIELD_REF, .ref = "spec", .title = {"Spec", "规格"}},
    {.name = "command", .type = FIELD_TEXT, .flags = FIELD_LONG, .max = 3000, .title = {"Command", "命令"}},
    {.name = "env", .type = FIELD_JSON, .max = 1 << 17, .title = {"Environment variables", "环境变量"}},
    {.name = "nodes", .type = FIELD_INT, .title = {"Nodes", "节点数"}},
    {.name = "launcher",
     .type = FIELD_CHOICE,
     .choices = training_launchers,
     .title = {"The command runs", "命令运行于"}},
    {.name = "save_to", .type = FIELD_REF, .ref = "model_set", .title = {"Save the model to", "模型保存到"}},
    {0},
};

static bool is_over(const struct object *o)
{
    struct str s = object_text(o, "state");
    return str_is(s, "completed") || str_is(s, "failed") || str_is(s, "stopped");
}

/* --- deleting --- */

static bool none(struct op *op, const char *sql, int64_t id, const char *says, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, sql, db_args(db_int(id)), &row, &found, err))
        return false;
    return !found || err_set(err, ERR_CONFLICT, NULL, "%s", says);
}

/* Those that went on from it go on without. */
static bool forget_former(struct op *op, const struct object *o, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena, "SELECT id FROM training_instances WHERE resumed_from = ?",
                    db_args(db_int(o->id)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object later;
        bool found;
        if (!engine_load_row(op, &kind_training_instance, rows.row[i].v[0].i, &later, &found, err))
            return false;
        *object_value(&later, "resumed_from") = db_null();
        if (found && !engine_update_row(op, &later, err))
            return false;
    }
    return true;
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    if (!is_over(o))
        return err_set(err, ERR_CONFLICT, "state", "the instance is " STR_FMT ": stop it first",
                       STR_ARG(object_text(o, "state")));
    return none(op,
                "SELECT 1 FROM tasks WHERE subject_kind = 'training_instance' AND subject = ?"
                " AND state IN ('waiting', 'running') LIMIT 1",
                o->id, "its model is being saved: wait or cancel the task", err) &&
           none(op,
                "SELECT 1 FROM training_instances WHERE resumed_from = ?"
                " AND state IN ('pending', 'running', 'stopping') LIMIT 1",
                o->id, "an instance that goes on from it is not over yet: stop it first", err) &&
           forget_former(op, o, err);
}

static bool delete_job(struct op *op, int64_t id, struct err *err)
{
    struct object job;
    bool found;
    if (!id)
        return true;
    if (!engine_load_row(op, &kind_job, id, &job, &found, err))
        return false;
    if (!found)
        return true;
    const struct kind *before = op->kind;
    op->kind = &kind_job;
    bool ok = engine_delete_row(op, &job, err) && kind_job.after_delete(op, &job, err);
    op->kind = before;
    return ok;
}

/* Its files go in the background. */
static bool after_delete(struct op *op, struct object *o, struct err *err)
{
    return delete_job(op, object_int(o, "job"), err) && tensorboard_drop(op, o, err) &&
           training_metrics_delete(op->conn, o->id, err) &&
           store_folder_use(op->conn, training_path(op->core, op->arena, o, ""), 0, -1, err) &&
           conn_exec(op->conn, "INSERT INTO training_purges (instance, created_at) VALUES (?, ?)",
                     db_args(db_int(o->id), db_int(o->created_at)), NULL, err);
}

/* --- showing --- */

/* The job knows best what it waits for. */
static bool show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct object job;
    struct err gone = {0};
    int64_t id = object_int(o, "job");
    bool has = id && engine_get(op->core, &caller_system, &kind_job, 0, id, op->arena, &job, &gone);
    if (id && !has && gone.code != ERR_NOT_FOUND) {
        *err = gone;
        return false;
    }
    struct str note = object_text(o, "note");
    json_kstr(out, "reason", has ? object_text(&job, "reason") : note);
    if (has)
        json_kstr(out, "reason_zh", object_text(&job, "reason_zh"));
    else
        json_kz(out, "reason_zh", note.p ? sentence_zh(op->arena, arena_strz(op->arena, note)) : NULL);
    return true;
}

/* --- actions --- */

static bool stop_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx, now;
    bool found;
    if (!engine_load_row(op, &kind_training_instance, o->id, &now, &found, err))
        return false;
    if (!found || is_over(&now))
        return err_set(err, ERR_CONFLICT, "state", "the instance is over already");
    const char *reason = arena_printf(op->arena, "stopped by %s", op->caller->name);
    int64_t job = object_int(&now, "job");
    if (job)
        return job_stop(op, job, reason, err) &&
               engine_load_row(op, &kind_training_instance, o->id, o, &found, err);
    *object_value(&now, "state") = db_textz("stopped");
    *object_value(&now, "note") = db_textz(reason);
    *object_value(&now, "ended_at") = db_int(clock_now());
    if (!engine_update_row(op, &now, err))
        return false;
    *o = now;
    return true;
}

static bool run_stop(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)input;
    (void)status;
    if (!engine_write(op->core, op->caller, op->arena, stop_write, o, err))
        return false;
    jobs_wake(op->core->jobs);
    return engine_answer(op, o, out, err);
}

static bool run_resume(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)status;
    struct object made = {0};
    if (!is_over(o))
        return err_set(err, ERR_CONFLICT, "state",
                       "the instance is " STR_FMT ": only one that is over can be resumed",
                       STR_ARG(object_text(o, "state")));
    /* It goes on with the values it had, but for those that are given now. */
    struct str values, given = input[0].type == DB_TEXT ? input[0].s : STR_NULL;
    if (!training_join(op->arena, object_text(o, "parameters"), given, &values, err) ||
        !training_start(op, o->parent, o->id, values, &made, err))
        return false;
    return engine_answer(op, &made, out, err);
}

static bool run_metrics(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)status;
    const struct metrics_query q = {.points = input[0].i,
                                    .name = input[1].type == DB_TEXT ? input[1].s : STR_NULL,
                                    .from = input[2].type == DB_REAL ? input[2].r : -INFINITY,
                                    .to = input[3].type == DB_REAL ? input[3].r : INFINITY};
    if (q.from > q.to)
        return err_set(err, ERR_INVALID, "from", "from: must not be above to");
    return training_metrics_read(op->core, o, op->arena, NULL, err) &&
           training_metrics_write(op->core, o->id, &q, op->arena, out, err);
}

#define STEP_MOST (INT64_C(1) << 53) /* whole numbers beyond are none of a real's */

static const struct field metrics_fields[] = {
    {.name = "points",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .max = 1000000,
     .fallback = "0",
     .title = {"Points", "点数"},
     .help = {"At most so many of each name, peaks stay; 0: all",
              "每个名称最多返回的点数，保留峰值；0 表示全部"}},
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 200,
     .title = {"Name", "名称"},
     .help = {"Of this name only", "只返回该名称"}},
    {.name = "from",
     .type = FIELD_REAL,
     .flags = FIELD_CREATE,
     .min = -STEP_MOST,
     .max = STEP_MOST,
     .title = {"From step", "起始步"},
     .help = {"Of this step and later ones", "该步及之后"}},
    {.name = "to",
     .type = FIELD_REAL,
     .flags = FIELD_CREATE,
     .min = -STEP_MOST,
     .max = STEP_MOST,
     .title = {"To step", "结束步"},
     .help = {"Of this step and earlier ones", "该步及之前"}},
    {0},
};

static bool run_pictures(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                         int *status, struct err *err)
{
    (void)status;
    struct str after = input[1].type == DB_TEXT ? input[1].s : STR_NULL;
    return pictures_write(op->core, o, after, input[0].i, op->arena, out, err);
}

static const struct field pictures_fields[] = {
    {.name = "limit",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 1,
     .max = PICTURES_MAX,
     .fallback = "20",
     .title = {"Pictures", "图片数"}},
    {.name = "after",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 260,
     .title = {"After", "之后"},
     .help = {"`next` of the former answer", "上一次应答的 next"}},
    {0},
};

static bool run_lineage(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)input;
    (void)status;
    return training_lineage_write(op, o, out, err);
}

static const struct action actions[] = {
    {.name = "stop",
     .permission = "training.stop",
     .title = {"Stop", "停止"},
     .danger = true,
     .run = run_stop},
    {.name = "resume",
     .permission = "training.start",
     .fields = training_start_fields,
     .answer = "TrainingInstance",
     .status = 201,
     .title = {"Resume", "续训"},
     .run = run_resume},
    {.name = "metrics",
     .permission = "training.read",
     .read_only = true,
     .fields = metrics_fields,
     .answer = "TrainingMetrics",
     .title = {"Metrics", "指标"},
     .run = run_metrics},
    {.name = "pictures",
     .permission = "training.read",
     .read_only = true,
     .fields = pictures_fields,
     .answer = "TrainingPictures",
     .title = {"Pictures", "图片"},
     .run = run_pictures},
    {.name = "lineage",
     .permission = "training.read",
     .read_only = true,
     .answer = "TrainingLineage",
     .title = {"Lineage", "来源"},
     .run = run_lineage},
    {.name = "tensorboard",
     .permission = "training.read",
     .answer = "ToolAddress",
     .title = {"TensorBoard", "TensorBoard"},
     .run = tensorboard_open},
    {0},
};

const struct kind kind_training_instance = {
    .name = "training_instance",
    .plural = "instances",
    .table = "training_instances",
    .title = {"Training run", "训练实例"},
    .titles = {"Training runs", "训练实例"},
    .scope = SCOPE_CHILD,
    .parent = "training",
    .verbs = VERB_LIST | VERB_READ | VERB_DELETE,
    .permission_as = "training",
    .fields = fields,
    .sides = training_sides,
    .actions = actions,
    .before_delete = before_delete,
    .after_delete = after_delete,
    .show = show,
    .extra_sql =
        "CREATE TABLE training_purges (instance BIGINT PRIMARY KEY, created_at BIGINT NOT NULL);\n"
        "CREATE TABLE training_marks (instance BIGINT PRIMARY KEY, attempt BIGINT NOT NULL,"
        " position BIGINT NOT NULL, step {text});\n"
        "CREATE TABLE training_metrics (instance BIGINT NOT NULL, name {text} NOT NULL, data {text} NOT NULL,"
        " PRIMARY KEY (instance, name));\n",
};

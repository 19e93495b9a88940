#include "base/clock.h"
#include "base/messages_evaluate.h"
#include "core/data/sample.h"
#include "core/evaluate/evaluate.h"
#include "core/folder/folder.h"
#include "core/job/fields.h"
#include "metric/resample.h"
#include "model/manifest.h"
#include "store/store.h"

static const struct choice states[] = {
    {"pending", {"Pending", "等待中"}},
    {"running", {"Running", "运行中"}},
    {"stopping", {"Stopping", "停止中"}},
    {"stopped", {"Stopped", "已停止"}},
    {"failed", {"Failed", "失败"}},
    {"completed", {"Completed", "已完成"}},
    {NULL, {NULL, NULL}},
};

static const struct choice parts[] = {
    {"all", {"All samples", "全部样本"}},
    {"test", {"The model's test part", "模型的测试部分"}},
    {"splits", {"Splits of the dataset", "数据集的划分"}},
    {NULL, {NULL, NULL}},
};

static const struct field fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_EDIT | FIELD_SEARCH | FIELD_SORT | FIELD_FILTER | FIELD_LIST,
     .min = 1,
     .max = 50,
     .rule = "name",
     .title = {"Name", "名称"},
     .help = {"Without one it is named after what is evaluated.", "不填则按评估对象命名。"}},
    FIELD_DESCRIPTION,
    {.name = "model_version",
     .type = FIELD_REF,
     .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST,
     .ref = "model_version",
     .title = {"Model", "模型"},
     .help = {"One of model, service version and layer is evaluated.",
              "模型、服务版本、标注层三者选一进行评估。"}},
    {.name = "service_version",
     .type = FIELD_REF,
     .flags = FIELD_CREATE | FIELD_FILTER,
     .ref = "service_version",
     .title = {"Service version", "服务版本"}},
    {.name = "layer",
     .type = FIELD_REF,
     .flags = FIELD_CREATE | FIELD_FILTER,
     .ref = "layer",
     .title = {"Annotation layer", "标注层"}},
    {.name = "dataset_version",
     .type = FIELD_REF,
     .flags = FIELD_REQUIRED | FIELD_CREATE | FIELD_FILTER | FIELD_LIST,
     .ref = "dataset_version",
     .title = {"Labelled data", "标注数据"},
     .help = {"A labelled dataset version.", "已标注的数据集版本。"}},
    {.name = "part",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST,
     .choices = parts,
     .fallback = "\"all\"",
     .section = SECTION_HOW,
     .title = {"Samples", "样本范围"}},
    {.name = "splits",
     .type = FIELD_TEXTS,
     .flags = FIELD_CREATE,
     .max = 3,
     .item_max = 10,
     .fallback = "[]",
     .section = SECTION_HOW,
     .title = {"Splits", "划分"},
     .help = {"Of train, val and test.", "train、val、test 中的若干项。"}},
    {.name = "score",
     .type = FIELD_REAL,
     .flags = FIELD_ADVANCED | FIELD_CREATE,
     .min = 0,
     .max = 1,
     .section = SECTION_HOW,
     .title = {"Minimum score", "最低分数"},
     .help = {"Predictions below it do not count. By default the model's own, for shapes the best.",
              "结果计入统计的最低分数，默认用模型自身的，图形用最佳的。"}},
    {.name = "draws",
     .type = FIELD_INT,
     .flags = FIELD_ADVANCED | FIELD_CREATE,
     .min = 0,
     .max = 2000,
     .fallback = "200",
     .section = SECTION_HOW,
     .title = {"Bootstrap draws", "抽样次数"},
     .help = {"For confidence intervals; 0 computes none.", "用于置信区间；0 表示不计算。"}},
    JOB_FIELD_STATE(states, NULL),
    JOB_FIELD_REASON(FIELD_VIRTUAL),
    {.name = "note", .type = FIELD_TEXT, .max = 500, .flags = FIELD_INTERNAL, .title = {"Note", "说明"}},
    {.name = "note_zh", .type = FIELD_TEXT, .max = 500, .flags = FIELD_INTERNAL, .title = {"Note", "说明"}},
    {.name = "done", .type = FIELD_INT, .flags = FIELD_STATUS, .title = {"Done", "已完成样本"}},
    {.name = "total", .type = FIELD_INT, .flags = FIELD_STATUS, .title = {"Of", "样本总数"}},
    {.name = "figures",
     .type = FIELD_JSON,
     .flags = FIELD_LIST,
     .max = 1 << 14,
     .schema =
         "{\"type\":[\"object\",\"null\"],\"additionalProperties\":{\"type\":\"object\",\"properties\":{"
         "\"value\":{\"type\":[\"number\",\"null\"]},\"low\":{\"type\":[\"number\",\"null\"]},"
         "\"high\":{\"type\":[\"number\",\"null\"]}}}}",
     .title = {"Metrics", "指标"}},
    {.name = "latency",
     .type = FIELD_JSON,
     .max = 1 << 10,
     .schema =
         "{\"type\":[\"object\",\"null\"],\"properties\":{\"p50\":{\"type\":\"number\"},\"p95\":{\"type\":"
         "\"number\"},\"samples\":{\"type\":\"integer\"},\"at_a_time\":{\"type\":\"integer\"},"
         "\"processor\":{\"type\":[\"string\",\"null\"]},\"node\":{\"type\":[\"string\",\"null\"]},"
         "\"cpus\":{\"type\":\"number\"}},\"required\":[\"p50\",\"p95\",\"samples\",\"at_a_time\"]}",
     .title = {"Time per sample", "单样本耗时"},
     .help = {"Milliseconds that the model took, measured where it was asked.",
              "模型处理一个样本的毫秒数，在评估运行的机器上测得。"}},
    {.name = "samples", .type = FIELD_INT, .title = {"Evaluated samples", "参与评估的样本数"}},
    {.name = "automatic",
     .type = FIELD_BOOL,
     .flags = FIELD_FILTER,
     .fallback = "false",
     .title = {"Automatic", "自动评估"}},
    {.name = "job", .type = FIELD_REF, .flags = FIELD_FILTER, .ref = "job", .title = {"Job", "作业"}},
    {.name = "task", .type = FIELD_REF, .ref = "task", .title = {"Background task", "后台任务"}},
    JOB_FIELD_STARTED,
    JOB_FIELD_ENDED,
    {.name = "report", .type = FIELD_TEXT, .flags = FIELD_INTERNAL, .max = 64, .title = {"Report", "报告"}},
    {.name = "details", .type = FIELD_TEXT, .flags = FIELD_INTERNAL, .max = 64, .title = {"Details", "明细"}},
    {0},
};

const char *evaluation_path(const struct core *core, struct arena *a, const struct object *o,
                            const char *part)
{
    return arena_printf(a, "%s/evaluations/%lld-%lld%s%s", core->data, (long long)o->id,
                        (long long)o->created_at, *part ? "/" : "", part);
}

bool evaluation_is_over(const struct object *o)
{
    struct str s = object_text(o, "state");
    return str_is(s, "completed") || str_is(s, "failed") || str_is(s, "stopped");
}

/* --- making --- */

static bool check_splits(struct op *op, const struct object *o, struct err *err)
{
    struct str text = object_text(o, "splits");
    yyjson_val *list = json_parse(op->arena, text.n ? text : STR("[]"), err), *v;
    size_t i, max;
    if (!list)
        return false;
    bool some = yyjson_arr_size(list) > 0, wanted = str_is(object_text(o, "part"), "splits");
    if (some != wanted)
        return err_message(err, ERR_INVALID, "splits", MESSAGE_EVALUATION_SPLITS);
    yyjson_arr_foreach(list, i, max, v)
    {
        struct str s = json_str(v);
        if (!str_is(s, "train") && !str_is(s, "val") && !str_is(s, "test"))
            return err_message(err, ERR_INVALID, "splits", MESSAGE_EVALUATION_SPLITS);
    }
    return true;
}

static bool check_subject(struct op *op, const struct object *o, struct err *err)
{
    static const char *const subjects[] = {"model_version", "service_version", "layer"};
    int n = 0;
    for (size_t i = 0; i < countof(subjects); i++)
        n += object_int(o, subjects[i]) != 0;
    if (n != 1)
        return err_message(err, ERR_INVALID, "model_version", MESSAGE_EVALUATION_SUBJECT);
    if (str_is(object_text(o, "part"), "test") && object_int(o, "layer"))
        return err_message(err, ERR_INVALID, "part", MESSAGE_EVALUATION_NO_TEST);
    return check_splits(op, o, err);
}

static bool check_layer(struct op *op, const struct object *o, struct err *err)
{
    struct object layer;
    int64_t id = object_int(o, "layer");
    if (!id)
        return true;
    if (!engine_get(op->core, &caller_system, kind_by_name(STR("layer")), 0, id, op->arena, &layer, err))
        return false;
    return object_int(&layer, "dataset_version") == object_int(o, "dataset_version") ||
           err_message(err, ERR_INVALID, "layer", MESSAGE_EVALUATION_LAYER);
}

/* The model and the dataset fit: same annotation type, something labelled. */
static bool check_fit(struct op *op, const struct object *o, struct err *err)
{
    struct object version;
    struct sample_set set;
    struct sample_counts counts;
    struct model_manifest m;
    int64_t model;
    if (!engine_get(op->core, op->caller, &kind_dataset_version, 0, object_int(o, "dataset_version"),
                    op->arena, &version, err) ||
        !sample_set_of(op, &version, &set, err) || !sample_counts(op->core->db, version.id, &counts, err) ||
        !evaluation_model(op, o, &model, err))
        return false;
    if (counts.samples - counts.states[SAMPLE_UNANNOTATED] - counts.states[SAMPLE_MACHINE] <= 0)
        return err_message(err, ERR_INVALID, "dataset_version", MESSAGE_EVALUATION_UNLABELLED);
    if (!model)
        return true;
    if (!evaluation_manifest(op->core, model, op->arena, &m, err))
        return false;
    if (m.task != (int)set.type)
        return err_message(err, ERR_INVALID, "dataset_version", MESSAGE_EVALUATION_TYPE,
                           model_task_name(m.task), annotation_types[set.type].name);
    struct map *files = NULL;
    if (str_is(object_text(o, "part"), "test") && !evaluation_split(op->core, model, "test", &files, err))
        return false;
    map_free(files);
    return true;
}

bool evaluation_check(struct op *op, const struct evaluation_new *n, struct err *err)
{
    struct object o = evaluation_object(op->arena, n);
    return check_fit(op, &o, err);
}

static bool prepare(struct op *op, const struct object *old, struct object *o, struct err *err)
{
    return old || (check_subject(op, o, err) && check_layer(op, o, err) && check_fit(op, o, err));
}

/* "fruit v3"; STR_NULL when it is gone. */
static bool name_of(struct op *op, const char *kind, int64_t id, struct str *ret, struct err *err)
{
    const struct kind *k = kind_by_name(str_of(kind));
    struct object o, parent;
    bool found, has = false;
    *ret = STR_NULL;
    if (!engine_load_row(op, k, id, &o, &found, err))
        return false;
    if (!found)
        return true;
    if (k->parent && !engine_load_row(op, kind_by_name(str_of(k->parent)), o.parent, &parent, &has, err))
        return false;
    struct str name = object_text(&o, "name"), of = has ? object_text(&parent, "name") : STR_NULL;
    *ret = has ? str_of(arena_printf(op->arena, STR_FMT " " STR_FMT, STR_ARG(of), STR_ARG(name))) : name;
    return true;
}

/* At most so many characters, without a space at the end. */
static struct str shortened(struct str s, size_t most)
{
    size_t n = 0;
    for (size_t count = 0; n < s.n && count < most; count++)
        utf8_next(s, &n);
    while (n && s.p[n - 1] == ' ')
        n--;
    return (struct str){s.p, n};
}

bool evaluation_name(struct op *op, struct object *o, struct err *err)
{
    static const char *const subjects[] = {"model_version", "service_version", "layer"};
    struct str what = STR_NULL, truth;
    for (size_t i = 0; i < countof(subjects); i++)
        if (object_int(o, subjects[i]) && !name_of(op, subjects[i], object_int(o, subjects[i]), &what, err))
            return false;
    if (!name_of(op, "dataset_version", object_int(o, "dataset_version"), &truth, err))
        return false;
    struct str whole = str_of(arena_printf(op->arena, STR_FMT " on " STR_FMT, STR_ARG(what), STR_ARG(truth)));
    *object_value(o, "name") = db_text(shortened(whole, 50));
    return true;
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    *object_value(o, "state") = db_textz("pending");
    return object_text(o, "name").n || evaluation_name(op, o, err);
}

static bool after_create(struct op *op, struct object *o, struct err *err)
{
    return evaluation_begin(op, o, err);
}

static void changed(struct core *core, const struct object *o, const char *verb)
{
    (void)o;
    (void)verb;
    jobs_wake(core->jobs);
}

/* --- deleting --- */

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    (void)op;
    return evaluation_is_over(o) || err_message(err, ERR_CONFLICT, "state", MESSAGE_EVALUATION_RUNS);
}

static bool after_delete(struct op *op, struct object *o, struct err *err)
{
    static const char *const blobs[] = {"report", "details"};
    struct digest d;
    for (size_t i = 0; i < countof(blobs); i++)
        if (digest_parse(object_text(o, blobs[i]), &d) && !store_use(op->conn, o->project, &d, -1, err))
            return false;
    return evaluation_drop_job(op, object_int(o, "job"), err) &&
           conn_exec(op->conn, "INSERT INTO evaluation_purges (evaluation, created_at) VALUES (?, ?)",
                     db_args(db_int(o->id), db_int(o->created_at)), NULL, err);
}

/* --- showing --- */

/* Its own note says it best once it is over; before that the job knows what it waits for. */
static bool show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct object job;
    struct err gone = {0};
    struct str note = object_text(o, "note");
    int64_t id = note.n ? 0 : object_int(o, "job");
    bool has = id && engine_get(op->core, &caller_system, &kind_job, 0, id, op->arena, &job, &gone);
    if (id && !has && gone.code != ERR_NOT_FOUND) {
        *err = gone;
        return false;
    }
    bool tells = has && !str_is(object_text(o, "state"), "completed");
    json_kstr(out, "reason", tells ? object_text(&job, "reason") : note.n ? note : STR_NULL);
    struct str zh = object_text(o, "note_zh");
    json_kstr(out, "reason_zh", tells ? object_text(&job, "reason_zh") : note.n && zh.n ? zh : STR_NULL);
    return true;
}

const struct kind kind_evaluation = {
    .name = "evaluation",
    .plural = "evaluations",
    .table = "evaluations",
    .title = {"Evaluation", "评估"},
    .titles = {"Evaluations", "评估"},
    .help = {"How good a model is on labelled data.", "模型在已标注数据上的效果。"},
    .menu = "models",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .fields = fields,
    .actions = evaluation_actions,
    .prepare = prepare,
    .before_create = before_create,
    .after_create = after_create,
    .before_delete = before_delete,
    .after_delete = after_delete,
    .show = show,
    .changed = changed,
    .extra_sql =
        "CREATE TABLE evaluation_purges (evaluation BIGINT PRIMARY KEY, created_at BIGINT NOT NULL);\n",
};

/* Datasets and their versions (D1, D2, D18). */
#include "base/messages.h"
#include "core/data/layer.h"
#include "core/data/publish_review.h"
#include "core/data/records.h"
#include "core/data/room.h"
#include "core/data/sample_own.h"
#include "core/data/version.h"
#include "core/fields.h"
#include "core/refs.h"
#include "core/task/task.h"

static const struct choice data_types[] = {{"image", {"Images", "图像"}},
                                           {"text", {"Text", "文本"}},
                                           {"audio", {"Audio", "音频"}},
                                           {NULL, {NULL, NULL}}};

/* The names of annotation_types in codec/annotation.h; creating a dataset refuses one that is not there. */
static const struct choice annotation_choices[] = {
    {"image-class", {"Image classification", "图像单标签分类"}},
    {"image-classes", {"Image classification, several labels", "图像多标签分类"}},
    {"detection", {"Object detection", "目标检测"}},
    {"rotated-detection", {"Rotated boxes", "旋转框检测"}},
    {"segmentation", {"Segmentation", "图像分割"}},
    {"keypoints", {"Keypoints", "关键点"}},
    {"ocr", {"OCR", "文字识别"}},
    {"text-class", {"Text classification", "文本分类"}},
    {"text-spans", {"Text spans", "文本实体"}},
    {"audio-class", {"Audio classification", "音频分类"}},
    {"transcription", {"Transcription", "语音转写"}},
    {NULL, {NULL, NULL}},
};

static const struct field dataset_fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    {.name = "data_type",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST,
     .choices = data_types,
     .title = {"Data", "数据类型"},
     .help = {"Absent: what the annotation type is for.", "留空则由标注类型决定。"}},
    {.name = "annotation_type",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST,
     .choices = annotation_choices,
     .fallback = "\"detection\"",
     .title = {"Annotation", "标注类型"}},
    {.name = "label_set",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .ref = "label_set",
     .title = {"Label set", "标签组"}},
    FIELD_PUBLIC,
    {.name = "versions", .type = FIELD_INT, .flags = FIELD_VIRTUAL, .title = {"Versions", "版本数"}},
    {.name = "samples",
     .type = FIELD_INT,
     .flags = FIELD_VIRTUAL | FIELD_LIST,
     .title = {"Samples", "样本数"},
     .help = {"Of the newest version.", "最新版本的样本数。"}},
    {.name = "annotated",
     .type = FIELD_INT,
     .flags = FIELD_VIRTUAL | FIELD_LIST,
     .title = {"Annotated", "已标注"},
     .help = {"Of the newest version.", "最新版本中已标注的样本数。"}},
    {0},
};

/* How many versions it has, and how far the newest is. */
static bool show_dataset(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(op->core->db, op->arena,
                      "SELECT samples, annotated, (SELECT COUNT(*) FROM dataset_versions WHERE dataset = ?)"
                      " FROM dataset_versions WHERE dataset = ? ORDER BY number DESC LIMIT 1",
                      db_args(db_int(o->id), db_int(o->id)), &row, &found, err))
        return false;
    json_kint(out, "versions", found ? row.v[2].i : 0);
    json_kint(out, "samples", found ? row.v[0].i : 0);
    json_kint(out, "annotated", found ? row.v[1].i : 0);
    return true;
}

static bool dataset_before_create(struct op *op, struct object *o, struct err *err)
{
    (void)op;
    enum annotation_type type;
    struct str name = object_text(o, "annotation_type"), data = object_text(o, "data_type");
    if (!annotation_type_asked("annotation_type", name, &type, err))
        return false;
    const char *wanted = annotation_data_names[annotation_types[type].data];
    if (!data.n)
        *object_value(o, "data_type") = db_textz(wanted);
    return !data.n || str_is(data, wanted) ||
           err_set(err, ERR_INVALID, "annotation_type",
                   "annotation_type: \"" STR_FMT "\" is for data of the type %s, not " STR_FMT, STR_ARG(name),
                   wanted, STR_ARG(data));
}

/* A version that nothing was put into holds up nothing: one is made with most datasets. Whatever else refers
 * to it does. */
static bool drop_empty(struct op *op, int64_t version, struct err *err)
{
    struct object v;
    struct str refs;
    bool found;
    if (!engine_load_row(op, &kind_dataset_version, version, &v, &found, err))
        return false;
    if (!found)
        return true;
    if (!kind_dataset_version.before_delete(op, &v, err) || !refs_find(op, &v, &refs, err))
        return false;
    return refs.p || (engine_delete_row(op, &v, err) && kind_dataset_version.after_delete(op, &v, err));
}

static bool dataset_before_delete(struct op *op, struct object *o, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(
            op->conn, op->arena,
            "SELECT id FROM dataset_versions WHERE dataset = ? AND state = 'draft' AND samples = 0 AND"
            " cleaned = 0 AND NOT EXISTS (SELECT 1 FROM samples WHERE version = dataset_versions.id)",
            db_args(db_int(o->id)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (!drop_empty(op, rows.row[i].v[0].i, err))
            return false;
    return true;
}

const struct kind kind_dataset = {
    .name = "dataset",
    .plural = "datasets",
    .table = "datasets",
    .title = {"Dataset", "数据集"},
    .titles = {"Datasets", "数据集"},
    .menu = "data",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .public_too = true,
    .fields = dataset_fields,
    .before_create = dataset_before_create,
    .before_delete = dataset_before_delete,
    .show = show_dataset,
};

/* --- versions --- */

static const struct choice states[] = {
    {"draft", {"Draft", "草稿"}},
    {"reviewing", {"In review", "审核中"}},
    {"publishing", {"Being published", "发布中"}},
    {"published", {"Published", "已发布"}},
    {NULL, {NULL, NULL}},
};

static const struct field version_fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_SEARCH | FIELD_FILTER | FIELD_UNIQUE | FIELD_LIST,
     .max = 50,
     .title = {"Version", "版本"}},
    {.name = "number", .type = FIELD_INT, .flags = FIELD_SORT | FIELD_FILTER, .title = {"Number", "版本号"}},
    FIELD_DESCRIPTION,
    {.name = "from",
     .type = FIELD_REF,
     .flags = FIELD_CREATE,
     .ref = "dataset_version",
     .title = {"Start from version", "基于版本"},
     .help = {"Its samples are taken over without copying bytes.", "沿用其样本，不复制数据。"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_FILTER | FIELD_LIST,
     .choices = states,
     .fallback = "\"draft\"",
     .title = {"State", "状态"}},
    {.name = "samples",
     .type = FIELD_INT,
     .flags = FIELD_LIST | FIELD_STATUS,
     .fallback = "0",
     .title = {"Samples", "样本数"}},
    {.name = "annotated",
     .type = FIELD_INT,
     .flags = FIELD_LIST | FIELD_STATUS,
     .fallback = "0",
     .title = {"Annotated", "已标注"}},
    {.name = "cleaned",
     .type = FIELD_INT,
     .flags = FIELD_LIST | FIELD_STATUS,
     .fallback = "0",
     .title = {"Cleaned", "已清洗"}},
    {.name = "bytes",
     .type = FIELD_INT,
     .flags = FIELD_LIST | FIELD_STATUS,
     .fallback = "0",
     .unit = "bytes",
     .title = {"Size", "大小"}},
    {.name = "records",
     .type = FIELD_JSON,
     .max = 1 << 20,
     .title = {"Record files", "记录文件"},
     .help = {"Made by write-records; read from /records/NAME.",
              "由 write-records 生成，可从 /records/NAME 读取。"}},
    {.name = "digest", .type = FIELD_TEXT, .flags = FIELD_FILTER, .max = 64, .title = {"Digest", "摘要"}},
    {.name = "review",
     .type = FIELD_JSON,
     .flags = FIELD_VIRTUAL,
     .schema = "{\"$ref\":\"#/components/schemas/VersionReview\"}",
     .title = {"Review", "发布审核"},
     .help = {"Of publishing it: the last one, or null.", "最近一次发布审核，没有则为 null。"}},
    {0},
};

static bool next_number(struct op *op, const struct object *o, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT COALESCE(MAX(number), 0) + 1 FROM dataset_versions WHERE dataset = ?",
                        db_args(db_int(o->parent)), &row, &found, err))
        return false;
    *ret = row.v[0].i;
    return true;
}

static bool version_before_create(struct op *op, struct object *o, struct err *err)
{
    int64_t number;
    struct object from;
    bool found;
    if (!next_number(op, o, &number, err))
        return false;
    *object_value(o, "number") = db_int(number);
    *object_value(o, "name") = db_textz(arena_printf(op->arena, "v%lld", (long long)number));
    if (object_value(o, "from")->type == DB_NULL)
        return true;
    if (!engine_load_row(op, &kind_dataset_version, object_int(o, "from"), &from, &found, err))
        return false;
    if (!found || from.parent != o->parent)
        return err_set(err, ERR_INVALID, "from", "from: must be a version of the same dataset");
    return true;
}

/* The samples follow by a task: there may be a million. */
static bool version_after_create(struct op *op, struct object *o, struct err *err)
{
    int64_t task;
    if (object_value(o, "from")->type == DB_NULL)
        return true;
    const struct words name = task_name(op->arena, MESSAGE_NAME_COPY, STR_ARG(object_text(o, "name")));
    const char *params = arena_printf(op->arena, "{\"from\":%lld}", (long long)object_int(o, "from"));
    return task_create(op,
                       &(struct task_new){.type = "copy-version",
                                          .project = o->project,
                                          .subject_kind = "dataset_version",
                                          .subject = o->id,
                                          .name = name,
                                          .params = str_of(params)},
                       &task, err);
}

static bool version_before_delete(struct op *op, struct object *o, struct err *err)
{
    return version_is_idle(op, o->id, err) && layer_drop_all(op, o->id, err);
}

/* Who has samples open hears that they cannot be changed any more. */
static void version_changed(struct core *core, const struct object *o, const char *verb)
{
    if (strcmp(verb, "delete") == 0)
        rooms_close(core->rooms, o->id, false, "deleted");
    else if (strcmp(verb, "update") == 0 && !str_is(object_text(o, "state"), "draft"))
        rooms_close(core->rooms, o->id, true, "published");
}

/* The samples go in the background (core/collectors.c): the version itself is gone at once. */
static bool version_after_delete(struct op *op, struct object *o, struct err *err)
{
    struct digest d;
    if (!records_drop(op, o, err) || !publish_review_drop(op, o->id, err) ||
        !conn_exec(op->conn, "DELETE FROM version_reviews WHERE version = ?", db_args(db_int(o->id)), NULL,
                   err))
        return false;
    if (digest_parse(object_text(o, "digest"), &d) && !store_use(op->conn, o->project, &d, -1, err))
        return false;
    return conn_exec(op->conn, "INSERT INTO version_purges (version, project) VALUES (?, ?)",
                     db_args(db_int(o->id), db_int(o->project)), NULL, err);
}

const struct kind kind_dataset_version = {
    .name = "dataset_version",
    .plural = "versions",
    .table = "dataset_versions",
    .title = {"Version", "版本"},
    .titles = {"Versions", "版本"},
    .scope = SCOPE_CHILD,
    .parent = "dataset",
    .verbs = VERB_ALL,
    .fields = version_fields,
    .actions = version_actions,
    .before_create = version_before_create,
    .after_create = version_after_create,
    .before_delete = version_before_delete,
    .after_delete = version_after_delete,
    .show = publish_review_show,
    .reads_too = publish_review_reads,
    .changed = version_changed,
    .extra_sql = sample_sql,
};

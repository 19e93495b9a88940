/* Actions of dataset versions: statistics, clean; and the table of all. */
#include "base/messages.h"
#include "core/data/compare.h"
#include "core/data/export.h"
#include "core/data/import.h"
#include "core/data/labelling.h"
#include "core/data/preprocess.h"
#include "core/data/publish.h"
#include "core/data/publish_review.h"
#include "core/data/records.h"
#include "core/data/sample_own.h"
#include "core/data/sizes.h"
#include "core/data/splits.h"
#include "core/data/version.h"

/* --- statistics --- */

static bool run_statistics(struct op *op, struct object *o, const struct db_value *input,
                           struct json_out *out, int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct sample_counts n;
    struct sample_label_count *labels;
    size_t count;
    if (!sample_counts(op->core->db, o->id, &n, err) ||
        !sample_label_counts(op->core->db, op->arena, o->id, &labels, &count, err))
        return false;
    json_object(out);
    json_kint(out, "samples", n.samples);
    json_kint(out, "bytes", n.bytes);
    json_key(out, "states");
    json_object(out);
    for (int i = 0; i < SAMPLE_STATE_COUNT; i++)
        json_kint(out, sample_state_names[i], n.states[i]);
    json_object_end(out);
    json_key(out, "labels");
    json_array(out);
    for (size_t i = 0; i < count; i++) {
        json_object(out);
        json_kstr(out, "label", labels[i].label);
        json_kint(out, "samples", labels[i].samples);
        json_kint(out, "shapes", labels[i].shapes);
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}

/* --- clean --- */

struct cleaning {
    const struct object *version;
    const int64_t *ids;
    size_t n;
    bool cleaned;
    int64_t changed;
};

static bool clean_write(struct op *op, void *ctx, struct err *err)
{
    struct cleaning *c = ctx;
    struct object now;
    struct sample_set set;
    bool found;
    if (!engine_load_row(op, c->version->kind, c->version->id, &now, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    return sample_set_of(op, &now, &set, err) && sample_set_open(&set, err) &&
           sample_clean(op, &set, c->ids, c->n, c->cleaned, &c->changed, err);
}

static bool run_clean(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)status;
    yyjson_val *list = json_parse(op->arena, input[0].s, err), *v;
    size_t i, max;
    if (!list)
        return false;
    struct cleaning c = {.version = o, .n = yyjson_arr_size(list), .cleaned = input[1].i != 0};
    if (!yyjson_is_arr(list) || c.n == 0 || c.n > 1000)
        return err_set(err, ERR_INVALID, "ids", "ids: a list of 1 to 1000 ids of samples");
    int64_t *ids = arena_array(op->arena, int64_t, c.n);
    yyjson_arr_foreach(list, i, max, v)
    {
        if (!yyjson_is_int(v))
            return err_set(err, ERR_INVALID, "ids", "ids: each must be a whole number");
        ids[i] = yyjson_get_sint(v);
    }
    c.ids = ids;
    if (!engine_write(op->core, op->caller, op->arena, clean_write, &c, err))
        return false;
    json_object(out);
    json_kint(out, "changed", c.changed);
    json_object_end(out);
    return true;
}

/* --- the table --- */

static const struct field clean_fields[] = {
    {.name = "ids",
     .type = FIELD_JSON,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .max = 1 << 16,
     .title = {"Samples", "样本"}},
    {.name = "cleaned",
     .type = FIELD_BOOL,
     .flags = FIELD_CREATE,
     .fallback = "true",
     .title = {"Cleaned", "清洗"},
     .help = {"true moves them out of the set, false back into it.", "true 移出数据集，false 移回。"}},
    {0},
};

const struct action version_actions[] = {
    {.name = "statistics",
     .permission = "dataset_version.read",
     .read_only = true,
     .answer = "DatasetStatistics",
     .title = {"Statistics", "统计"},
     .run = run_statistics},
    {.name = "sizes",
     .permission = "dataset_version.read",
     .read_only = true,
     .answer = "DatasetSizes",
     .title = {"Sizes", "尺寸"},
     .run = sizes_run},
    {.name = "splits",
     .permission = "dataset_version.read",
     .read_only = true,
     .answer = "DatasetSplits",
     .title = {"Splits", "划分"},
     .run = splits_run},
    {.name = "compare",
     .permission = "dataset_version.read",
     .read_only = true,
     .fields = compare_fields,
     .answer = "DatasetChanges",
     .title = {"Compare", "比较"},
     .run = compare_run},
    {.name = "changes",
     .permission = "dataset_version.read",
     .fields = changes_fields,
     .answer = "Task",
     .status = 202,
     .title = {"List all changes", "列出全部变化"},
     .run = changes_run},
    {.name = "import",
     .permission = "dataset_version.update",
     .fields = import_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Import", "导入"},
     .run = import_run},
    {.name = "export",
     .permission = "dataset_version.read",
     .fields = export_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Export", "导出"},
     .run = export_run},
    {.name = "training-data",
     .permission = "dataset_version.read",
     .fields = training_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Generate training data", "生成训练数据"},
     .run = training_run},
    {.name = "preprocess",
     .permission = "dataset_version.create",
     .fields = preprocess_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Preprocess", "预处理"},
     .run = preprocess_run},
    {.name = "measure",
     .permission = "dataset_version.update",
     .answer = "Task",
     .status = 202,
     .title = {"Measure sharpness and likeness", "计算清晰度与相似度"},
     .run = measure_run},
    {.name = "sharpness",
     .permission = "dataset_version.read",
     .read_only = true,
     .answer = "DatasetSharpness",
     .title = {"Sharpness", "清晰度"},
     .run = sharpness_run},
    {.name = "duplicates",
     .permission = "dataset_version.read",
     .read_only = true,
     .fields = duplicates_fields,
     .answer = "DatasetDuplicates",
     .title = {"Duplicates", "相似样本"},
     .run = duplicates_run},
    {.name = "write-records",
     .permission = "dataset_version.update",
     .fields = records_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Write record files", "生成记录文件"},
     .run = records_run},
    {.name = "clean",
     .permission = "dataset_version.update",
     .fields = clean_fields,
     .answer = "DatasetCleaned",
     .title = {"Clean", "清洗"},
     .run = run_clean},
    {.name = "publish",
     .permission = "dataset_version.update",
     .status = 202,
     .title = {"Publish", "发布"},
     .danger = true,
     .run = publish_run},
    {.name = "request-review",
     .permission = "dataset_version.update",
     .fields = publish_ask_fields,
     .title = {"Ask for review", "申请发布审核"},
     .run = publish_ask_run},
    {.name = "decide-publish",
     .permission = "review.update",
     .fields = publish_decide_fields,
     .title = {"Decide on publishing", "审核发布"},
     .run = publish_decide_run},
    {.name = "withdraw-review",
     .permission = "dataset_version.update",
     .title = {"Withdraw the request", "撤回审核申请"},
     .run = publish_withdraw_run},
    {.name = "labelling",
     .permission = "dataset_version.read",
     .read_only = true,
     .answer = "DatasetLabelling",
     .title = {"Labelling", "标注情况"},
     .run = labelling_run},
    {0},
};

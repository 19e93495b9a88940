/* The four kinds of folders, by two tables of fields. */
#include "core/fields.h"
#include "core/folder/folder.h"

#include <stdio.h>

static const struct choice scenarios[] = {
    {"image-classification", {"Image classification", "图像分类"}},
    {"detection", {"Object detection", "目标检测"}},
    {"segmentation", {"Segmentation", "图像分割"}},
    {"keypoints", {"Keypoints", "关键点检测"}},
    {"ocr", {"OCR", "文字识别"}},
    {"text", {"Text", "文本"}},
    {"audio", {"Audio", "语音"}},
    {"other", {"Other", "其他"}},
    {NULL, {NULL, NULL}},
};

static const struct field set_fields[] = {
    FIELD_NAME(FIELD_CREATE | FIELD_UNIQUE),
    {.name = "scenario",
     .type = FIELD_CHOICE,
     .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST,
     .choices = scenarios,
     .fallback = "\"other\"",
     .title = {"Application scenario", "应用场景"}},
    FIELD_DESCRIPTION,
    FIELD_PUBLIC,
    {0},
};

#define VERSION_FIELDS(self)                                                                                 \
    {                                                                                                        \
        {.name = "name",                                                                                     \
         .type = FIELD_TEXT,                                                                                 \
         .flags = FIELD_SEARCH | FIELD_FILTER | FIELD_UNIQUE | FIELD_LIST,                                   \
         .max = 50,                                                                                          \
         .title = {"Version", "版本"}},                                                                      \
            {.name = "number",                                                                               \
             .type = FIELD_INT,                                                                              \
             .flags = FIELD_SORT | FIELD_FILTER,                                                             \
             .title = {"Number", "版本号"}},                                                                 \
            {.name = "description",                                                                          \
             .type = FIELD_TEXT,                                                                             \
             .flags = FIELD_EDIT | FIELD_SEARCH | FIELD_LONG | FIELD_LIST,                                   \
             .max = 500,                                                                                     \
             .title = {"Description", "描述"}},                                                              \
            {.name = "from",                                                                                 \
             .type = FIELD_REF,                                                                              \
             .flags = FIELD_CREATE,                                                                          \
             .ref = self,                                                                                    \
             .title = {"Start from version", "基于版本"},                                                    \
             .help = {"Its files are taken over without copying bytes.", "沿用其文件，不复制数据。"}},       \
            {.name = "published",                                                                            \
             .type = FIELD_BOOL,                                                                             \
             .flags = FIELD_FILTER | FIELD_LIST,                                                             \
             .fallback = "false",                                                                            \
             .title = {"Published", "已发布"}},                                                              \
            {.name = "files",                                                                                \
             .type = FIELD_INT,                                                                              \
             .flags = FIELD_LIST,                                                                            \
             .fallback = "0",                                                                                \
             .title = {"Files", "文件数"}},                                                                  \
            {.name = "bytes",                                                                                \
             .type = FIELD_INT,                                                                              \
             .flags = FIELD_LIST,                                                                            \
             .fallback = "0",                                                                                \
             .unit = "bytes",                                                                                \
             .title = {"Size", "大小"}},                                                                     \
            {.name = "digest",                                                                               \
             .type = FIELD_TEXT,                                                                             \
             .flags = FIELD_FILTER,                                                                          \
             .max = 64,                                                                                      \
             .title = {"Digest", "摘要"}},                                                                   \
            {.name = "lineage", .type = FIELD_JSON, .max = 65536, .title = {"Made from", "来源"}},           \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }

static const struct field algorithm_version_fields[] = VERSION_FIELDS("algorithm_version");
static const struct field model_version_fields[] = VERSION_FIELDS("model_version");

bool folder_is_version(const struct kind *k)
{
    return k == &kind_algorithm_version || k == &kind_model_version;
}

/* The next number of the set: one more than the largest, also of those that were deleted meanwhile in this
 * write. */
static bool next_number(struct op *op, const struct object *o, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    const char *sql = arena_printf(op->arena, "SELECT COALESCE(MAX(number), 0) + 1 FROM %s WHERE %s = ?",
                                   op->kind->table, op->kind->parent);
    if (!conn_query_one(op->conn, op->arena, sql, db_args(db_int(o->parent)), &row, &found, err))
        return false;
    *ret = row.v[0].i;
    return true;
}

static bool hold_in_write(struct op *op, const struct object *o, const struct object *from, struct err *err)
{
    struct digest d;
    if (!digest_parse(object_text(from, "digest"), &d))
        return true;
    if (from->project != o->project)
        return err_set(err, ERR_INVALID, "from",
                       "the version belongs to another project; copy its set first");
    return manifest_count(op->conn, o->project, &d, 1, err);
}

static bool start_from(struct op *op, struct object *o, struct err *err)
{
    static const char *const taken[] = {"digest", "files", "bytes"};
    struct object from;
    bool found;
    if (!engine_load_row(op, op->kind, object_int(o, "from"), &from, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_INVALID, "from", "there is no version with the id %lld",
                       (long long)object_int(o, "from"));
    for (size_t i = 0; i < countof(taken); i++)
        *object_value(o, taken[i]) = *object_value(&from, taken[i]);
    return hold_in_write(op, o, &from, err);
}

static bool version_before_create(struct op *op, struct object *o, struct err *err)
{
    int64_t number;
    if (!next_number(op, o, &number, err))
        return false;
    *object_value(o, "number") = db_int(number);
    *object_value(o, "name") = db_textz(arena_printf(op->arena, "v%lld", (long long)number));
    return object_value(o, "from")->type == DB_NULL || start_from(op, o, err);
}

static bool version_after_delete(struct op *op, struct object *o, struct err *err)
{
    struct digest d;
    return !digest_parse(object_text(o, "digest"), &d) || manifest_count(op->conn, o->project, &d, -1, err);
}

/* After the commit: what no other version has no longer counts. */
static void version_changed(struct core *core, const struct object *o, const char *verb)
{
    struct digest d;
    if (strcmp(verb, "delete") == 0 && digest_parse(object_text(o, "digest"), &d))
        manifest_drop(core->store, o->project, &d);
}

#define SET_KIND(var, n, p, t, m, own, en, zh, ens, zhs)                                                     \
    const struct kind var = {.name = n,                                                                      \
                             .plural = p,                                                                    \
                             .table = t,                                                                     \
                             .title = {en, zh},                                                              \
                             .titles = {ens, zhs},                                                           \
                             .menu = m,                                                                      \
                             .scope = SCOPE_PROJECT,                                                         \
                             .verbs = VERB_ALL,                                                              \
                             .public_too = true,                                                             \
                             .delete_own = own,                                                              \
                             .fields = set_fields}

SET_KIND(kind_algorithm_set, "algorithm_set", "algorithm-sets", "algorithm_sets", "build", true, "Algorithm",
         "算法", "Algorithms", "算法集");
SET_KIND(kind_model_set, "model_set", "model-sets", "model_sets", "models", false, "Model", "模型", "Models",
         "模型集");

#define VERSION_KIND(var, n, t, of, acts, f)                                                                 \
    const struct kind var = {.name = n,                                                                      \
                             .plural = "versions",                                                           \
                             .table = t,                                                                     \
                             .title = {"Version", "版本"},                                                   \
                             .titles = {"Versions", "版本"},                                                 \
                             .scope = SCOPE_CHILD,                                                           \
                             .parent = of,                                                                   \
                             .verbs = VERB_ALL,                                                              \
                             .fields = f,                                                                    \
                             .actions = acts,                                                                \
                             .before_create = version_before_create,                                         \
                             .after_delete = version_after_delete,                                           \
                             .changed = version_changed}

VERSION_KIND(kind_algorithm_version, "algorithm_version", "algorithm_versions", "algorithm_set",
             folder_algorithm_actions, algorithm_version_fields);
VERSION_KIND(kind_model_version, "model_version", "model_versions", "model_set", folder_model_actions,
             model_version_fields);

#include "core/data/label_set_actions.h"

#include "base/messages.h"
#include "core/data/label_example.h"
#include "core/data/label_rename.h"
#include "core/data/label_rules.h"
#include "core/data/relabel.h"
#include "core/sql.h"

#define LABELS_MAX_BYTES 262144 /* as the kind's field */

static bool rules_of(struct op *op, const struct object *set, struct label_rules *ret, struct err *err)
{
    return label_rules_read(op->arena, object_text(set, "labels"), object_text(set, "renames"), ret, err);
}

/* --- whose datasets --- */

static bool projects_with(struct op *op, int64_t set, struct db_rows *ret, struct err *err)
{
    const char *sql = "SELECT DISTINCT project FROM datasets WHERE label_set = ?";
    struct db_args args = db_args(db_int(set));
    return op->conn ? conn_query(op->conn, op->arena, sql, args, ret, err)
                    : db_query(op->core->db, op->arena, sql, args, ret, err);
}

/* A public set has datasets of other projects, too: those that the caller may change follow. */
static bool write_projects(struct op *op, int64_t set, struct str *ret, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    struct db_rows rows;
    if (!projects_with(op, set, &rows, err))
        return false;
    json_begin(&o, &text);
    json_array(&o);
    for (size_t i = 0; i < rows.n; i++)
        if (caller_may(op->caller, "dataset_version.update", rows.row[i].v[0].i))
            json_int(&o, rows.row[i].v[0].i);
    json_array_end(&o);
    *ret = arena_str(op->arena, buf_view(&text));
    return true;
}

/* --- renaming and merging: the new list and the start of the task are one write --- */

struct renaming {
    const struct object *set;
    const struct db_value *input; /* from, to */
    bool (*change)(struct arena *a, yyjson_val *labels, const struct db_value *input,
                   struct label_renamed *ret, struct err *err); /* NULL: the names stay as they are */
    int64_t task;
};

static bool change_set(struct op *op, const struct renaming *r, struct object *set, struct err *err)
{
    struct label_rules rules;
    struct label_renamed now;
    struct str renames = object_text(set, "renames");
    yyjson_val *former = json_parse(op->arena, renames.n ? renames : STR("[]"), err);
    if (!former || !rules_of(op, set, &rules, err) ||
        !r->change(op->arena, rules.labels, r->input, &now, err))
        return false;
    if (now.labels.n > LABELS_MAX_BYTES)
        return err_message(err, ERR_INVALID, "to", MESSAGE_LABELS_TOO_LARGE, LABELS_MAX_BYTES / 1024);
    *object_value(set, "labels") = db_text(now.labels);
    *object_value(set, "renames") = db_text(label_remember(op->arena, former, &now));
    return engine_update_row(op, set, err) && label_examples_rename(op, set->id, now.names, now.count, err);
}

static bool rename_write(struct op *op, void *ctx, struct err *err)
{
    struct renaming *r = ctx;
    struct object set;
    struct str projects;
    bool found;
    if (!engine_load_row(op, &kind_label_set, r->set->id, &set, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the label set was deleted meanwhile");
    return (!r->change || change_set(op, r, &set, err)) && write_projects(op, set.id, &projects, err) &&
           relabel_start(op, &set, projects, &r->task, err);
}

static bool run_renaming(struct op *op, struct renaming *r, struct json_out *out, struct err *err)
{
    return caller_need(op->caller, "dataset_version.update", r->set->project, err) &&
           engine_write(op->core, op->caller, op->arena, rename_write, r, err) &&
           engine_answer_id(op, &kind_task, r->task, out, err);
}

static bool change_rename(struct arena *a, yyjson_val *labels, const struct db_value *input,
                          struct label_renamed *ret, struct err *err)
{
    return label_rename(a, labels, input[0].s, input[1].s, ret, err);
}

static bool change_merge(struct arena *a, yyjson_val *labels, const struct db_value *input,
                         struct label_renamed *ret, struct err *err)
{
    yyjson_val *from = json_parse(a, input[0].s, err);
    return from && label_merge(a, labels, from, input[1].s, ret, err);
}

static bool run_rename(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)status;
    return run_renaming(op, &(struct renaming){o, input, change_rename, 0}, out, err);
}

static bool run_merge(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)status;
    return run_renaming(op, &(struct renaming){o, input, change_merge, 0}, out, err);
}

static bool run_relabel(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)status;
    return run_renaming(op, &(struct renaming){o, input, NULL, 0}, out, err);
}

bool label_set_before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    struct label_rules before, after;
    bool runs;
    if (str_eq(object_text(old, "labels"), object_text(new_, "labels")))
        return true;
    if (!rules_of(op, old, &before, err) || !rules_of(op, new_, &after, err))
        return false;
    if (before.former_count == after.former_count)
        return true;
    if (!relabel_runs(op, old->id, &runs, err))
        return false;
    for (size_t i = 0; runs && i < before.former_count; i++)
        if (label_rules_find(after.labels, before.former[i].from))
            return err_message(err, ERR_CONFLICT, "labels", MESSAGE_LABEL_RENAMING,
                               STR_ARG(before.former[i].from));
    return true;
}

/* --- how much that would change --- */

struct uses {
    int64_t versions, samples, shapes;
};

static void write_uses(struct json_out *out, const char *key, const struct uses *u)
{
    json_key(out, key);
    json_object(out);
    json_kint(out, "versions", u->versions);
    json_kint(out, "samples", u->samples);
    json_kint(out, "shapes", u->shapes);
    json_object_end(out);
}

/* By state and project: versions, samples, shapes that bear one of the names. */
static bool count_uses(struct op *op, const struct object *set, yyjson_val *labels, yyjson_val *asked,
                       struct db_rows *ret, struct err *err)
{
    auto_sql struct sql sql;
    size_t i, n;
    yyjson_val *v;
    const char *before = "";
    sql_init(&sql);
    sql_add(&sql, "SELECT v.state, v.project, COUNT(DISTINCT l.version), CAST(SUM(l.samples) AS BIGINT),"
                  " CAST(SUM(l.shapes) AS BIGINT) FROM datasets d JOIN dataset_versions v ON v.dataset = d.id"
                  " JOIN version_labels l ON l.version = v.id WHERE d.label_set = ");
    sql_arg(&sql, db_int(set->id));
    sql_add(&sql, " AND l.samples > 0 AND l.label IN (");
    yyjson_arr_foreach(asked, i, n, v)
    {
        struct str names[2];
        size_t count = label_names(op->arena, labels, json_str(v), names);
        for (size_t k = 0; k < count; k++) {
            sql_add(&sql, before);
            sql_arg(&sql, db_text(names[k]));
            before = ", ";
        }
    }
    if (!*before)
        sql_add(&sql, "NULL");
    sql_add(&sql, ") GROUP BY v.state, v.project");
    return db_query(op->core->db, op->arena, sql.text.p, sql_args(&sql), ret, err);
}

static bool count_layers(struct op *op, int64_t set, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(op->core->db, op->arena,
                      "SELECT COUNT(*) FROM layers y JOIN dataset_versions v ON v.id = y.dataset_version"
                      " JOIN datasets d ON d.id = v.dataset WHERE d.label_set = ? AND v.state = 'draft'",
                      db_args(db_int(set)), &row, &found, err))
        return false;
    *ret = row.v[0].i;
    return true;
}

static bool names_labels(yyjson_val *list)
{
    size_t i, n;
    yyjson_val *v;
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) < 1 || yyjson_arr_size(list) > LABEL_MERGE_MAX)
        return false;
    yyjson_arr_foreach(list, i, n, v)
    {
        if (!json_str(v).n)
            return false;
    }
    return true;
}

static bool run_usage(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)status;
    struct uses drafts = {0}, published = {0};
    struct label_rules rules;
    struct db_rows rows;
    int64_t elsewhere = 0, layers;
    yyjson_val *asked = json_parse(op->arena, input[0].s, err);
    if (!asked)
        return false;
    if (!names_labels(asked))
        return err_message(err, ERR_INVALID, "labels", MESSAGE_LABEL_USAGE_COUNT, LABEL_MERGE_MAX);
    if (!rules_of(op, o, &rules, err) || !count_uses(op, o, rules.labels, asked, &rows, err) ||
        !count_layers(op, o->id, &layers, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        bool open = str_is(v[0].s, "draft"), may = caller_may(op->caller, "dataset_version.update", v[1].i);
        struct uses *to = open ? &drafts : &published;
        if (!may && v[1].i != o->project) {
            elsewhere += v[2].i;
            continue;
        }
        *to = (struct uses){to->versions + v[2].i, to->samples + v[3].i, to->shapes + v[4].i};
    }
    json_object(out);
    write_uses(out, "drafts", &drafts);
    write_uses(out, "published", &published);
    json_kint(out, "elsewhere", elsewhere);
    json_kint(out, "layers", layers);
    json_object_end(out);
    return true;
}

/* --- the table --- */

static const struct field rename_fields[] = {
    {.name = "from",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .min = 1,
     .max = 101,
     .title = {"Label", "标签"},
     .help = {"Its name, or PARENT/NAME.", "标签名，或“上级/名称”。"}},
    {.name = "to",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .min = 1,
     .max = 50,
     .rule = "name",
     .title = {"New name", "新名称"}},
    {0},
};

static const struct field merge_fields[] = {
    {.name = "from",
     .type = FIELD_JSON,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .max = 1 << 16,
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
     .title = {"Labels", "标签"},
     .help = {"Names of those that are there no more afterwards.", "合并后不再存在的标签名。"}},
    {.name = "to",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .min = 1,
     .max = 101,
     .title = {"Into", "并入"},
     .help = {"The label that they become.", "并入的标签。"}},
    {0},
};

static const struct field usage_fields[] = {
    {.name = "labels",
     .type = FIELD_JSON,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .max = 1 << 16,
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
     .title = {"Labels", "标签"},
     .help = {"A list of names.", "标签名的列表。"}},
    {0},
};

const struct action label_set_actions[] = {
    {.name = "rename-label",
     .permission = "label_set.update",
     .fields = rename_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Rename a label", "重命名标签"},
     .run = run_rename},
    {.name = "merge-labels",
     .permission = "label_set.update",
     .fields = merge_fields,
     .answer = "Task",
     .status = 202,
     .title = {"Merge labels", "合并标签"},
     .run = run_merge},
    {.name = "relabel",
     .permission = "label_set.update",
     .answer = "Task",
     .status = 202,
     .title = {"Apply new names again", "再次应用新名称"},
     .run = run_relabel},
    {.name = "usage",
     .permission = "label_set.read",
     .read_only = true,
     .fields = usage_fields,
     .answer = "LabelUsage",
     .title = {"Usage", "使用情况"},
     .run = run_usage},
    {0},
};

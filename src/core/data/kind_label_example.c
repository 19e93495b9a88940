#include "base/messages.h"
#include "core/data/label_example.h"
#include "core/data/label_rules.h"
#include "core/data/sample_access.h"
#include "core/fields.h"
#include "core/kinds.h"
#include "media/media.h"
#include "store/upload.h"

/* --- where the picture comes from --- */

static bool from_sample(struct op *op, const struct object *o, struct digest *ret, struct err *err)
{
    int64_t version = object_int(o, "version"), id = object_int(o, "sample");
    struct object found_version;
    struct sample s;
    struct db_row row;
    bool found;
    if (!db_query_one(op->core->db, op->arena, "SELECT dataset FROM dataset_versions WHERE id = ?",
                      db_args(db_int(version)), &row, &found, err) ||
        !sample_version(op->core, op->caller, found ? row.v[0].i : 0, version, id, SAMPLE_SEE, op->arena,
                        &found_version, err) ||
        !sample_get(op->core->db, NULL, op->arena, version, id, &s, err))
        return false;
    *ret = s.blob;
    return true;
}

static bool from_upload(struct op *op, const struct object *o, struct digest *ret, struct err *err)
{
    struct upload u;
    if (!upload_take(op->core->store, object_text(o, "upload"), op->caller->user, o->project, "upload",
                     op->arena, &u, err))
        return false;
    if (u.length > LABEL_EXAMPLE_BYTES)
        return err_message(err, ERR_TOO_LARGE, "upload", MESSAGE_EXAMPLE_LARGE, LABEL_EXAMPLE_BYTES >> 20);
    *ret = u.blob;
    return true;
}

/* Before the write: decoding takes its time. */
static bool prepare(struct op *op, const struct object *old, struct object *o, struct err *err)
{
    struct digest source, picture;
    char hex[SHA256_HEX + 1];
    auto_buf struct buf small = {0};
    bool sample = object_int(o, "sample") != 0, upload = object_text(o, "upload").n != 0;
    if (old)
        return true;
    if (sample == upload || sample != (object_int(o, "version") != 0))
        return err_message(err, ERR_INVALID, "sample", MESSAGE_EXAMPLE_SOURCE);
    if (!(sample ? from_sample : from_upload)(op, o, &source, err))
        return false;
    auto_fd int fd = blob_open(op->core->store, &source, NULL, err);
    if (fd < 0)
        return false;
    if (!media_thumbnail(op->core->media, fd, LABEL_EXAMPLE_SIDE, &small, err))
        return err->code == ERR_INVALID
                   ? err_because(err, ERR_INVALID, sample ? "sample" : "upload", err, MESSAGE_EXAMPLE_PICTURE)
                   : false;
    if (!blob_put(op->core->store, buf_view(&small), &picture, err))
        return false;
    digest_hex(&picture, hex);
    *object_value(o, "picture") = db_textz(arena_strz(op->arena, str_of(hex)));
    *object_value(o, "upload") = (struct db_value){0};
    return true;
}

/* --- in the write --- */

bool label_example_picture(const struct object *example, struct digest *ret, struct err *err)
{
    return digest_parse(object_text(example, "picture"), ret) ||
           err_set(err, ERR_NOT_FOUND, NULL, "the example has no picture");
}

static bool use(struct op *op, const struct object *o, int64_t count, struct err *err)
{
    struct digest d;
    return label_example_picture(o, &d, err) && store_use(op->conn, o->project, &d, count, err);
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    struct object set;
    struct db_row row;
    struct label_rules rules;
    struct str label = object_text(o, "label");
    bool found;
    if (!engine_load_row(op, &kind_label_set, o->parent, &set, &found, err) || !found ||
        !label_rules_read(op->arena, object_text(&set, "labels"), STR_NULL, &rules, err) ||
        !conn_query_one(op->conn, op->arena,
                        "SELECT COUNT(*) FROM label_examples WHERE label_set = ? AND label = ?",
                        db_args(db_int(o->parent), db_text(label)), &row, &found, err))
        return false;
    if (!label_rules_find(rules.labels, label))
        return err_message(err, ERR_INVALID, "label", MESSAGE_LABEL_UNKNOWN, "label", STR_ARG(label));
    if (row.v[0].i >= LABEL_EXAMPLES_MOST)
        return err_message(err, ERR_CONFLICT, "label", MESSAGE_EXAMPLES_MANY, STR_ARG(label),
                           LABEL_EXAMPLES_MOST);
    return use(op, o, 1, err);
}

static bool after_delete(struct op *op, struct object *o, struct err *err)
{
    return use(op, o, -1, err);
}

/* --- with the set --- */

static bool all_of(struct op *op, int64_t set, struct db_rows *ret, struct err *err)
{
    return conn_query(op->conn, op->arena, "SELECT id, label FROM label_examples WHERE label_set = ?",
                      db_args(db_int(set)), ret, err);
}

bool label_examples_rename(struct op *op, int64_t set, const struct relabel *names, size_t n, struct err *err)
{
    struct db_rows rows;
    if (!all_of(op, set, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object o;
        bool found;
        struct str now = relabel_name(names, n, rows.row[i].v[1].s);
        if (str_eq(now, rows.row[i].v[1].s))
            continue;
        if (!engine_load_row(op, &kind_label_example, rows.row[i].v[0].i, &o, &found, err))
            return false;
        *object_value(&o, "label") = db_text(now);
        if (!engine_update_row(op, &o, err))
            return false;
    }
    return true;
}

bool label_examples_keep(struct op *op, int64_t set, struct str labels, struct err *err)
{
    struct db_rows rows;
    struct label_rules rules = {0};
    if (!all_of(op, set, &rows, err) ||
        (labels.p && !label_rules_read(op->arena, labels, STR_NULL, &rules, err)))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object o;
        bool found;
        if (label_rules_find(rules.labels, rows.row[i].v[1].s))
            continue;
        if (!engine_load_row(op, &kind_label_example, rows.row[i].v[0].i, &o, &found, err) ||
            !engine_delete_row(op, &o, err) || !after_delete(op, &o, err))
            return false;
    }
    return true;
}

bool label_examples_write(struct db *db, struct arena *a, int64_t set, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!db_query(db, a,
                  "SELECT id, label, caption, wrong FROM label_examples WHERE label_set = ? ORDER BY id",
                  db_args(db_int(set)), &rows, err))
        return false;
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        json_object(out);
        json_kint(out, "id", v[0].i);
        json_kstr(out, "label", v[1].s);
        json_kstr(out, "caption", v[2].type == DB_TEXT ? v[2].s : STR(""));
        json_kbool(out, "wrong", v[3].i != 0);
        json_object_end(out);
    }
    json_array_end(out);
    return true;
}

/* --- the kind --- */

static const struct field fields[] = {
    {.name = "label",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_CREATE | FIELD_FILTER | FIELD_LIST | FIELD_SEARCH,
     .min = 1,
     .max = 101,
     .title = {"Label", "标签"},
     .help = {"Its name, or PARENT/NAME.", "标签名，或“上级/名称”。"}},
    {.name = "caption",
     .type = FIELD_TEXT,
     .flags = FIELD_EDIT | FIELD_LIST,
     .max = 500,
     .fallback = "\"\"",
     .title = {"Caption", "说明"}},
    {.name = "wrong",
     .type = FIELD_BOOL,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .fallback = "false",
     .title = {"Shows what is wrong", "错误示例"}},
    {.name = "version",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 1,
     .max = INT64_MAX,
     .title = {"Dataset version", "数据集版本"},
     .help = {"Id of the version that the sample is of.", "样本所在版本的编号。"}},
    {.name = "sample",
     .type = FIELD_INT,
     .flags = FIELD_CREATE,
     .min = 1,
     .max = INT64_MAX,
     .title = {"Sample", "样本"},
     .help = {"Its picture is copied, in the size of a thumbnail.", "复制其缩略图。"}},
    {.name = "upload",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 100,
     .title = {"Upload", "上传"},
     .help = {"Instead of a sample: a picture that was uploaded.", "代替样本：已上传的图片。"}},
    {.name = "picture", .type = FIELD_TEXT, .flags = FIELD_INTERNAL, .title = {"Picture", "图片"}},
    {0},
};

const struct kind kind_label_example = {
    .name = "label_example",
    .plural = "examples",
    .table = "label_examples",
    .title = {"Example of a label", "标签示例"},
    .titles = {"Examples of labels", "标签示例"},
    .help = {"Small pictures that show how a label is meant", "说明标签含义的小图片"},
    .scope = SCOPE_CHILD,
    .parent = "label_set",
    .verbs = VERB_ALL,
    .fields = fields,
    .prepare = prepare,
    .before_create = before_create,
    .after_delete = after_delete,
};

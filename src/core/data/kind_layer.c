#include "base/clock.h"
#include "base/json.h"
#include "base/messages.h"
#include "core/controller.h"
#include "core/data/document.h"
#include "core/data/layer.h"
#include "core/data/room.h"
#include "core/fields.h"
#include "core/kinds.h"
#include "core/pending.h"

#define ACCEPT_MAX 10000 /* samples at once */
#define STEP       50    /* rows of a layer that are removed together */

/* --- samples of a layer --- */

bool layer_put(struct op *op, int64_t layer, int64_t sample, struct str annotation, struct err *err)
{
    struct db_row row;
    bool found;
    int64_t at = documents_stamp(op->core->documents);
    if (!conn_query_one(
            op->conn, op->arena,
            "INSERT INTO layer_samples (layer, sample, revision, annotation, updated_at, updated_by)"
            " VALUES (?, ?, 1, ?, ?, ?) ON CONFLICT (layer, sample) DO UPDATE SET"
            " revision = layer_samples.revision + 1, annotation = excluded.annotation,"
            " updated_at = excluded.updated_at, updated_by = excluded.updated_by RETURNING revision",
            db_args(db_int(layer), db_int(sample), db_text(annotation), db_int(at), db_int(op->caller->user)),
            &row, &found, err))
        return false;
    pending_note(op->pending, &(struct room_note){.sample = sample, .layer = layer, .revision = row.v[0].i});
    return row.v[0].i > 1 ||
           engine_set_status(op, &kind_layer, layer, ENGINE_STATUSES(status_add("samples", 1)), err);
}

bool layer_take(struct op *op, const struct sample_set *set, int64_t layer, int64_t sample, bool *ret_changed,
                struct err *err)
{
    struct db_row row;
    struct sample after;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT annotation FROM layer_samples WHERE layer = ? AND sample = ?",
                        db_args(db_int(layer), db_int(sample)), &row, ret_changed, err))
        return false;
    const struct sample_edit e = {.id = sample, .annotation = row.v[0].s, .state = -1, .person = true};
    return !*ret_changed || sample_change(op, set, &e, &after, err);
}

bool layer_get(struct db *db, struct arena *a, int64_t version, int64_t layer, struct sample *s,
               struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(db, a,
                      "SELECT l.revision, l.annotation, l.updated_at, l.updated_by FROM layers y"
                      " LEFT JOIN layer_samples l ON l.layer = y.id AND l.sample = ?"
                      " WHERE y.id = ? AND y.dataset_version = ?",
                      db_args(db_int(s->id), db_int(layer), db_int(version)), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "layer", "there is no layer %lld over this version",
                       (long long)layer);
    bool empty = row.v[0].type == DB_NULL;
    s->revision = empty ? 0 : row.v[0].i;
    s->annotation = empty ? STR("{}") : row.v[1].s;
    s->updated_at = empty ? 0 : row.v[2].i;
    s->updated_by = empty ? 0 : row.v[3].i;
    return true;
}

/* --- making and removing --- */

bool layer_create(struct op *op, const struct object *version, const struct layer_fields *f, int64_t *ret,
                  struct err *err)
{
    struct object o = engine_object(op->arena, &kind_layer);
    o.project = version->project;
    o.created_by = op->caller->user;
    *object_value(&o, "name") = db_text(f->name);
    *object_value(&o, "dataset_version") = db_int(version->id);
    *object_value(&o, "made_by_kind") = db_textz(f->made_by_kind);
    *object_value(&o, "made_by") = db_int(f->made_by);
    *object_value(&o, "state") = db_textz(f->ready ? "ready" : "writing");
    *object_value(&o, "samples") = db_int(0);
    if (!engine_insert_row(op, &o, err))
        return false;
    *ret = o.id;
    return true;
}

static bool layer_after_delete(struct op *op, struct object *o, struct err *err)
{
    return conn_exec(op->conn, "INSERT INTO layer_purges (layer) VALUES (?)", db_args(db_int(o->id)), NULL,
                     err);
}

bool layer_drop_all(struct op *op, int64_t version, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena, "SELECT id FROM layers WHERE dataset_version = ?",
                    db_args(db_int(version)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object o;
        bool found;
        if (!engine_load_row(op, &kind_layer, rows.row[i].v[0].i, &o, &found, err) || !found ||
            !engine_delete_row(op, &o, err) || !layer_after_delete(op, &o, err))
            return false;
    }
    return true;
}

/* A person's own, unless a script says what made it. */
static bool layer_before_create(struct op *op, struct object *o, struct err *err)
{
    struct object version;
    bool found;
    if (!engine_load_row(op, &kind_dataset_version, object_int(o, "dataset_version"), &version, &found, err))
        return false;
    if (!found || version.project != o->project)
        return err_set(err, ERR_INVALID, "dataset_version",
                       "dataset_version: must be a version of the same project");
    if (object_value(o, "made_by_kind")->type != DB_NULL)
        return true;
    *object_value(o, "made_by_kind") = db_textz("user");
    *object_value(o, "made_by") = db_int(op->caller->user);
    return true;
}

struct purging {
    int64_t layer;
    bool left;
};

static bool purge_write(struct op *op, void *ctx, struct err *err)
{
    struct purging *p = ctx;
    int64_t n;
    do {
        if (!conn_exec(op->conn,
                       "DELETE FROM sample_operations WHERE layer = ? AND sample IN (SELECT sample FROM"
                       " layer_samples WHERE layer = ? ORDER BY sample LIMIT ?)",
                       db_args(db_int(p->layer), db_int(p->layer), db_int(STEP)), NULL, err) ||
            !conn_exec(op->conn,
                       "DELETE FROM layer_samples WHERE layer = ? AND sample IN (SELECT sample FROM"
                       " layer_samples WHERE layer = ? ORDER BY sample LIMIT ?)",
                       db_args(db_int(p->layer), db_int(p->layer), db_int(STEP)), &n, err))
            return false;
    } while (n && conn_goes_on(op->conn));
    p->left = n > 0;
    return true;
}

static bool remove_layer(struct core *core, const struct db_value *v, struct arena *a, struct err *err)
{
    (void)a;
    struct purging p = {v[0].i, true};
    while (p.left) {
        auto_arena struct arena step;
        arena_init(&step);
        if (controller_ending(core))
            return err_set(err, ERR_UNAVAILABLE, NULL, "the server stops");
        if (!engine_write(core, &caller_system, &step, purge_write, &p, err))
            return false;
    }
    return true;
}

static bool collect_layers(struct core *core, struct err *err)
{
    return purge_rows(core, &(struct purge){"layer_purges", "layer", "", remove_layer}, err);
}

const struct controller controller_collect_layers = {
    .name = "collect-layers",
    .title = {"Removes the samples of deleted annotation layers", "清除已删除标注层的样本"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .woken_by = {{"layer", "delete"}, {"dataset_version", "delete"}},
    .tick = collect_layers,
};

/* --- actions --- */

struct accepting {
    const struct object *layer;
    const int64_t *ids;
    size_t n, done; /* done: of ids, by the writes before */
    size_t now;     /* and by this one */
    int64_t changed, changed_now;
};

static bool accept_write(struct op *op, void *ctx, struct err *err)
{
    struct accepting *k = ctx;
    struct object version;
    struct sample_set set;
    bool found, changed;
    k->now = k->done;
    k->changed_now = 0;
    if (!engine_load_row(op, &kind_dataset_version, object_int(k->layer, "dataset_version"), &version, &found,
                         err))
        return false;
    if (!found)
        return err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED);
    if (!sample_set_of(op, &version, &set, err))
        return false;
    if (set.published || set.publishing)
        return err_message(err, ERR_CONFLICT, "state", MESSAGE_LAYER_PUBLISHED);
    do {
        if (!layer_take(op, &set, k->layer->id, k->ids[k->now], &changed, err))
            return false;
        k->now++;
        k->changed_now += changed;
    } while (k->now < k->n && conn_goes_on(op->conn));
    return true;
}

/* The samples of the body, or all that the layer says something about. */
static bool accept_ids(struct op *op, const struct object *o, const struct db_value *input,
                       struct accepting *ret, struct err *err)
{
    struct db_rows rows;
    size_t i, max;
    yyjson_val *list = input->type == DB_NULL ? NULL : json_parse(op->arena, input->s, err), *v;
    if (list && !yyjson_is_arr(list))
        return err_set(err, ERR_INVALID, "samples", "samples: must be a list of ids");
    if (!list && !db_query(op->core->db, op->arena,
                           "SELECT sample FROM layer_samples WHERE layer = ? ORDER BY sample LIMIT ?",
                           db_args(db_int(o->id), db_int(ACCEPT_MAX + 1)), &rows, err))
        return false;
    size_t n = list ? yyjson_arr_size(list) : rows.n;
    if (n > ACCEPT_MAX)
        return err_message(err, ERR_INVALID, "samples", MESSAGE_LAYER_LARGE, ACCEPT_MAX);
    int64_t *ids = arena_array(op->arena, int64_t, n + 1);
    for (i = 0; !list && i < n; i++)
        ids[i] = rows.row[i].v[0].i;
    yyjson_arr_foreach(list, i, max, v)
    {
        ids[i] = yyjson_get_sint(v);
    }
    ret->ids = ids;
    ret->n = n;
    return true;
}

static bool run_accept(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)status;
    struct accepting k = {.layer = o};
    if (!accept_ids(op, o, &input[0], &k, err))
        return false;
    while (k.done < k.n) {
        if (!engine_write(op->core, op->caller, op->arena, accept_write, &k, err))
            return false;
        k.done = k.now;
        k.changed += k.changed_now;
    }
    json_object(out);
    json_kint(out, "changed", k.changed);
    json_object_end(out);
    return true;
}

static bool discard_write(struct op *op, void *ctx, struct err *err)
{
    const struct object *layer = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_layer, layer->id, &now, &found, err))
        return false;
    return !found || (engine_delete_row(op, &now, err) && layer_after_delete(op, &now, err));
}

static bool run_discard(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                        int *status, struct err *err)
{
    (void)input;
    (void)out;
    (void)status;
    return engine_write(op->core, op->caller, op->arena, discard_write, o, err);
}

static const struct field accept_fields[] = {
    {.name = "samples",
     .type = FIELD_JSON,
     .flags = FIELD_CREATE,
     .max = 1 << 18,
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}",
     .title = {"Samples", "样本"},
     .help = {"Ids; without them all of the layer.", "样本编号；不填则为该层全部样本。"}},
    {0},
};

static const struct action actions[] = {
    {.name = "accept",
     .permission = "layer.accept",
     .fields = accept_fields,
     .answer = "DatasetCleaned",
     .title = {"Accept", "采纳"},
     .run = run_accept},
    {.name = "discard",
     .permission = "layer.accept",
     .status = 204,
     .title = {"Discard", "丢弃"},
     .danger = true,
     .run = run_discard},
    {0},
};

/* --- the kind --- */

static const struct choice states[] = {
    {"writing", {"Being written", "写入中"}},
    {"ready", {"Ready", "就绪"}},
    {"failed", {"Failed", "失败"}},
    {NULL, {NULL, NULL}},
};

static const struct field fields[] = {
    FIELD_NAME(FIELD_EDIT),
    {.name = "dataset_version",
     .type = FIELD_REF,
     .flags = FIELD_REQUIRED | FIELD_CREATE | FIELD_FILTER | FIELD_LIST,
     .ref = "dataset_version",
     .title = {"Version", "版本"}},
    {.name = "made_by_kind",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE | FIELD_FILTER | FIELD_LIST,
     .max = 40,
     .title = {"Made by", "来源"},
     .help = {"The kind of what made it: user, label_task, model_version.",
              "产生它的对象类型：user、label_task、model_version。"}},
    {.name = "made_by",
     .type = FIELD_INT,
     .flags = FIELD_CREATE | FIELD_FILTER,
     .max = INT64_MAX,
     .title = {"Id of what made it", "来源编号"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .choices = states,
     .fallback = "\"ready\"",
     .title = {"State", "状态"}},
    {.name = "samples",
     .type = FIELD_INT,
     .flags = FIELD_LIST | FIELD_STATUS,
     .fallback = "0",
     .title = {"Samples", "样本数"}},
    {0},
};

const struct kind kind_layer = {
    .name = "layer",
    .plural = "layers",
    .table = "layers",
    .title = {"Annotation layer", "标注层"},
    .titles = {"Annotation layers", "标注层"},
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .fields = fields,
    .actions = actions,
    .before_create = layer_before_create,
    .after_delete = layer_after_delete,
};

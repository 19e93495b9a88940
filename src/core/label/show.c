/* Assignments as JSON. */
#include "core/data/operate.h"
#include "core/data/sample_show.h"
#include "core/label/label_own.h"

struct person {
    int64_t id;
    struct str name;
};

static void write_person(struct json_out *out, const char *key, struct person p)
{
    json_key(out, key);
    json_object(out);
    json_kint(out, "id", p.id);
    json_kstr(out, "name", p.name);
    json_object_end(out);
}

static void write_time(struct json_out *out, const char *key, int64_t at)
{
    char text[CLOCK_TEXT_MAX];
    json_kz(out, key, at ? clock_format(at, text) : NULL);
}

static struct str name_of(const struct db_value *v)
{
    return v->type == DB_TEXT ? v->s : STR_NULL;
}

/* Why reviewers sent the sample back, the newest first. */
static bool write_rejections(struct op *op, const struct assignment *a, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    if (!label_query(op,
                     "SELECT d.by_user, u.name, d.at, d.reason, d.shapes FROM label_decisions d"
                     " LEFT JOIN users u ON u.id = d.by_user WHERE d.task = ? AND d.sample = ?"
                     " AND d.accepted = 0 ORDER BY d.id DESC LIMIT 20",
                     db_args(db_int(a->task), db_int(a->sample)), &rows, err))
        return false;
    json_key(out, "rejections");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        json_object(out);
        write_person(out, "by", (struct person){v[0].i, name_of(&v[1])});
        write_time(out, "at", v[2].i);
        json_kstr(out, "reason", name_of(&v[3]));
        json_key(out, "shapes");
        json_raw(out, v[4].s);
        json_object_end(out);
    }
    json_array_end(out);
    return true;
}

static bool type_of(struct op *op, int64_t version, enum annotation_type *ret, struct err *err)
{
    struct db_row row;
    bool found;
    return label_query_one(
               op,
               "SELECT d.annotation_type FROM dataset_versions v JOIN datasets d ON d.id = v.dataset"
               " WHERE v.id = ?",
               db_args(db_int(version)), &row, &found, err) &&
           ((found && annotation_type_of(row.v[0].s, ret)) ||
            err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_VERSION_DELETED));
}

/* The annotation as it was when the sample was given out first; null when that is not known any more. */
static bool write_before(struct op *op, int64_t version, const struct sample *s, int64_t base,
                         struct json_out *out, struct err *err)
{
    struct operation_place place;
    struct sample_past past = {.annotation = s->annotation};
    enum annotation_type type;
    struct err why = {0};
    if (base && base < s->revision &&
        (!type_of(op, version, &type, err) ||
         !operate_place(op->core->db, op->arena, version, s->id, 0, &place, err)))
        return false;
    if (base && base < s->revision &&
        !operation_log_state(op->core->db, op->arena, &place, type, s, base, &past, &why)) {
        if (why.code != ERR_NOT_FOUND) {
            *err = why;
            return false;
        }
        past.annotation = STR("null");
    }
    json_key(out, "before");
    json_raw(out, past.annotation);
    return true;
}

/* For reviewers: who made it, from what, and the layers of its seats and of work that came too late. */
static bool write_for_review(struct op *op, const struct assignment *a, const struct sample *s,
                             struct json_out *out, struct err *err)
{
    struct db_rows rows;
    struct person first = {0};
    int64_t base = s->revision;
    if (!label_query(op,
                     "SELECT a.worker, u.name, a.layer, a.base, a.holds FROM label_assignments a"
                     " LEFT JOIN users u ON u.id = a.worker WHERE a.task = ? AND a.sample = ? AND a.stage = 0"
                     " AND (a.holds = 1 OR a.layer <> 0) ORDER BY a.holds DESC, a.seat",
                     db_args(db_int(a->task), db_int(a->sample)), &rows, err))
        return false;
    json_key(out, "for_review");
    json_object(out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        if (i == 0)
            first = (struct person){v[0].i, name_of(&v[1])};
        if (v[4].i && v[3].i < base)
            base = v[3].i;
    }
    write_person(out, "annotator", first);
    if (!write_before(op, a->version, s, base, out, err))
        return false;
    json_key(out, "layers");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        if (!v[2].i)
            continue;
        json_object(out);
        json_kint(out, "layer", v[2].i);
        write_person(out, "user", (struct person){v[0].i, name_of(&v[1])});
        json_kbool(out, "late", !v[4].i);
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}

static bool user_name(struct op *op, int64_t user, struct str *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!label_query_one(op, "SELECT name FROM users WHERE id = ?", db_args(db_int(user)), &row, &found, err))
        return false;
    *ret = found ? row.v[0].s : STR_NULL;
    return true;
}

struct place {
    struct person task;
    int64_t dataset, version;
};

static bool place_of(struct op *op, const struct object *task, struct place *ret, struct err *err)
{
    struct db_row row;
    bool found;
    int64_t version = object_int(task, "version");
    if (!label_query_one(op, "SELECT dataset FROM dataset_versions WHERE id = ?", db_args(db_int(version)),
                         &row, &found, err))
        return false;
    *ret = (struct place){{task->id, object_text(task, "name")}, found ? row.v[0].i : 0, version};
    return true;
}

/* Whoever labels on a layer sees what they said there, as if it were the sample's. */
static bool own_layer(struct op *op, const struct assignment *a, struct sample *s, struct err *err)
{
    struct db_row row;
    bool found;
    if (!a->layer || a->stage != STAGE_LABEL)
        return true;
    if (!label_query_one(op, "SELECT annotation FROM layer_samples WHERE layer = ? AND sample = ?",
                         db_args(db_int(a->layer), db_int(a->sample)), &row, &found, err))
        return false;
    s->annotation = found ? row.v[0].s : STR("{}");
    return true;
}

static bool write_one(struct op *op, const struct place *p, int64_t id, struct json_out *out, struct err *err)
{
    struct assignment a;
    struct sample s;
    struct str name;
    if (!assignment_load(op, p->task.id, id, &a, err) || !user_name(op, a.worker, &name, err) ||
        !sample_get(op->core->db, op->conn, op->arena, p->version, a.sample, &s, err) ||
        !own_layer(op, &a, &s, err))
        return false;
    json_object(out);
    json_kint(out, "id", a.id);
    write_person(out, "task", p->task);
    json_kz(out, "stage", stage_names[a.stage]);
    json_kint(out, "seat", a.seat);
    json_kz(out, "state", assignment_states[a.state]);
    write_time(out, "until", a.leased ? a.until : 0);
    json_kint(out, "dataset", p->dataset);
    json_kint(out, "version", p->version);
    json_key(out, "layer");
    a.layer ? json_int(out, a.layer) : json_null(out);
    json_key(out, "sample");
    sample_show(out, &s);
    write_person(out, "user", (struct person){a.worker, name});
    if (!write_rejections(op, &a, out, err) ||
        (a.stage == STAGE_REVIEW && !write_for_review(op, &a, &s, out, err)))
        return false;
    json_object_end(out);
    return true;
}

bool assignment_write(struct op *op, const struct object *task, int64_t id, struct json_out *out,
                      struct err *err)
{
    struct place p;
    return place_of(op, task, &p, err) && write_one(op, &p, id, out, err);
}

bool assignments_write(struct op *op, const struct object *task, const int64_t *ids, size_t n, int64_t left,
                       struct json_out *out, struct err *err)
{
    struct place p;
    if (!place_of(op, task, &p, err))
        return false;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < n; i++)
        if (!write_one(op, &p, ids[i], out, err))
            return false;
    json_array_end(out);
    json_kint(out, "left", left);
    json_object_end(out);
    return true;
}

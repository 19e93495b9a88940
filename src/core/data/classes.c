#include "core/data/classes.h"

#include "base/json.h"
#include "codec/label.h"

struct class_item {
    struct str name, definition; /* definition: JSON */
    bool more;                   /* than its name is known */
};

void classes_note(struct classes *c, struct arena *a, const struct codec_label *l)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    if (c->n == CLASSES_MAX)
        return;
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 64;
        c->item = arena_grow(a, c->item, c->cap * sizeof *c->item, cap * sizeof *c->item);
        c->cap = cap;
    }
    json_begin(&o, &text);
    label_write(&o, l);
    c->item[c->n++] = (struct class_item){.name = arena_str(a, l->name),
                                          .definition = arena_str(a, buf_view(&text)),
                                          .more = l->parent.n || l->keypoint_count};
}

void classes_forget(struct classes *c, struct str name)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->item[i].name, name)) {
            memmove(&c->item[i], &c->item[i + 1], (c->n - i - 1) * sizeof *c->item);
            c->n--;
            return;
        }
}

bool classes_put(struct op *op, int64_t version, const struct classes *c, struct err *err)
{
    struct db_row row;
    bool found;
    if (c->n == 0)
        return true;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT COALESCE(MAX(position), 0) FROM version_classes WHERE version = ?",
                        db_args(db_int(version)), &row, &found, err))
        return false;
    int64_t position = row.v[0].i;
    for (size_t i = 0; i < c->n; i++) {
        const struct class_item *x = &c->item[i];
        const char *sql =
            x->more ? "INSERT INTO version_classes (version, position, name, definition) VALUES (?, ?, ?, ?)"
                      " ON CONFLICT (version, name) DO UPDATE SET definition = excluded.definition"
                    : "INSERT INTO version_classes (version, position, name, definition) VALUES (?, ?, ?, ?)"
                      " ON CONFLICT (version, name) DO NOTHING";
        position++;
        if (!conn_exec(op->conn, sql,
                       db_args(db_int(version), db_int(position), db_text(x->name), db_text(x->definition)),
                       NULL, err))
            return false;
    }
    return true;
}

bool classes_copy(struct op *op, int64_t from, int64_t to, struct err *err)
{
    return conn_exec(op->conn,
                     "INSERT INTO version_classes (version, position, name, definition)"
                     " SELECT ?, position, name, definition FROM version_classes WHERE version = ?"
                     " ON CONFLICT (version, name) DO NOTHING",
                     db_args(db_int(to), db_int(from)), NULL, err);
}

/* Under its new name; one of that name is there already: then it is enough. */
static bool rename_class(struct op *op, int64_t version, struct str old, const struct codec_label *now,
                         struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    struct db_row row;
    bool there = false;
    json_begin(&o, &text);
    label_write(&o, now);
    if (!str_eq(old, now->name) &&
        !conn_query_one(op->conn, op->arena, "SELECT 1 FROM version_classes WHERE version = ? AND name = ?",
                        db_args(db_int(version), db_text(now->name)), &row, &there, err))
        return false;
    if (there)
        return conn_exec(op->conn, "DELETE FROM version_classes WHERE version = ? AND name = ?",
                         db_args(db_int(version), db_text(old)), NULL, err);
    return conn_exec(
        op->conn, "UPDATE version_classes SET name = ?, definition = ? WHERE version = ? AND name = ?",
        db_args(db_text(now->name), db_text(buf_view(&text)), db_int(version), db_text(old)), NULL, err);
}

bool classes_rename(struct op *op, int64_t version, const struct relabel *list, size_t n, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena,
                    "SELECT name, definition FROM version_classes WHERE version = ? ORDER BY position",
                    db_args(db_int(version)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct codec_label label, now;
        if (!label_read(op->arena, json_parse(op->arena, rows.row[i].v[1].s, err), &label))
            continue;
        now = label;
        now.name = relabel_name(list, n, label.name);
        if (label.parent.n)
            now.parent = relabel_name(list, n, label.parent);
        bool same = str_eq(now.name, label.name) && str_eq(now.parent, label.parent);
        if (!same && !rename_class(op, version, rows.row[i].v[0].s, &now, err))
            return false;
    }
    return true;
}

/* --- the list of an export --- */

struct list {
    struct arena *arena;
    struct codec_label *item;
    size_t n, cap;
};

static void add(struct list *l, const struct codec_label *label)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        l->item = arena_grow(l->arena, l->item, l->cap * sizeof *l->item, cap * sizeof *l->item);
        l->cap = cap;
    }
    l->item[l->n++] = *label;
}

static void add_level(struct list *l, yyjson_val *labels, struct str parent)
{
    yyjson_val *v;
    size_t i, max;
    yyjson_arr_foreach(labels, i, max, v)
    {
        struct codec_label label;
        yyjson_val *children = yyjson_obj_get(v, "children");
        if (!label_read(l->arena, v, &label))
            continue;
        label.parent = parent;
        if (yyjson_arr_size(children))
            add_level(l, children, label.name);
        else
            add(l, &label);
    }
}

static bool add_label_set(struct list *l, struct db *db, int64_t version, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(db, l->arena,
                      "SELECT s.labels FROM dataset_versions v JOIN datasets d ON d.id = v.dataset"
                      " JOIN label_sets s ON s.id = d.label_set WHERE v.id = ?",
                      db_args(db_int(version)), &row, &found, err))
        return false;
    yyjson_val *labels = found && row.v[0].s.n ? json_parse(l->arena, row.v[0].s, err) : NULL;
    add_level(l, labels, STR_NULL);
    return true;
}

/* What the label set does not say about a class is taken from the files that named it. */
static void complete(struct codec_label *known, const struct codec_label *named)
{
    if (!known->parent.n)
        known->parent = named->parent;
    if (!known->attributes.n)
        known->attributes = named->attributes;
    if (known->keypoint_count)
        return;
    known->keypoints = named->keypoints;
    known->keypoint_count = named->keypoint_count;
    known->edges = named->edges;
    known->edge_count = named->edge_count;
}

static bool add_named(struct list *l, struct db *db, int64_t version, struct err *err)
{
    struct db_rows rows;
    size_t of_set = l->n;
    if (!db_query(db, l->arena, "SELECT definition FROM version_classes WHERE version = ? ORDER BY position",
                  db_args(db_int(version)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct codec_label label;
        size_t k = 0;
        if (!label_read(l->arena, json_parse(l->arena, rows.row[i].v[0].s, err), &label))
            continue;
        while (k < of_set && !str_eq(l->item[k].name, label.name))
            k++;
        if (k < of_set)
            complete(&l->item[k], &label);
        else
            add(l, &label);
    }
    return true;
}

bool classes_of(struct db *db, struct arena *a, int64_t version, struct codec_label **ret, size_t *ret_n,
                struct err *err)
{
    struct list l = {.arena = a};
    if (!add_label_set(&l, db, version, err) || !add_named(&l, db, version, err))
        return false;
    *ret = l.item;
    *ret_n = l.n;
    return true;
}

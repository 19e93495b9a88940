#include "core/made_from.h"

#include "core/controllers.h"
#include "core/row.h"

#define PAGE 100

/* Keys of `lineage` whose value is a version ({"kind", "version": {"id"}}), or a list of them. column: kinds
 * that have this field refer by it, and need no row. */
static const struct {
    const char *key, *as, *column;
} versions[] = {
    {"data", "data", NULL},         {"code", "code", "algorithm"},
    {"algorithms", "code", NULL},   {"base_model", "base_model", "base_model"},
    {"models", "base_model", NULL},
};

struct making {
    struct db_conn *c;
    const struct object *o;
    struct arena *arena;
};

static bool has_field(const struct kind *k, const char *name)
{
    size_t ignored;
    return kind_field(k, str_of(name), &ignored) != NULL;
}

static bool add(const struct making *m, const char *as, struct str kind, int64_t id, struct err *err)
{
    if (!id || !kind_by_name(kind))
        return true;
    return conn_exec(
        m->c,
        "INSERT INTO made_from (kind, id, relation, from_kind, from_id) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        db_args(db_textz(m->o->kind->name), db_int(m->o->id), db_textz(as), db_text(kind), db_int(id)), NULL,
        err);
}

static bool add_version(const struct making *m, const char *as, yyjson_val *v, struct err *err)
{
    return add(m, as, json_str(yyjson_obj_get(v, "kind")),
               yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(v, "version"), "id")), err);
}

static bool add_versions(const struct making *m, const char *as, yyjson_val *v, struct err *err)
{
    yyjson_val *one;
    size_t i, max;
    if (!yyjson_is_arr(v))
        return add_version(m, as, v, err);
    yyjson_arr_foreach(v, i, max, one) if (!add_version(m, as, one, err)) return false;
    return true;
}

/* Several images may have the same digest: that with the name, or else the newest. */
static bool add_image(const struct making *m, yyjson_val *doc, struct err *err)
{
    struct str digest = json_str(yyjson_obj_get(doc, "image_digest")),
               name = json_str(yyjson_obj_get(doc, "image"));
    struct db_row row;
    bool found;
    if (!digest.n)
        return true;
    return conn_query_one(
               m->c, m->arena,
               "SELECT v.id FROM image_versions v JOIN images i ON i.id = v.image"
               " WHERE v.digest = 'sha256:' || ? ORDER BY CASE WHEN ? LIKE '%' || i.name || ':' || v.name"
               " THEN 0 ELSE 1 END, v.id DESC LIMIT 1",
               db_args(db_text(digest), db_text(name.p ? name : STR(""))), &row, &found, err) &&
           (!found || add(m, "image", STR("image_version"), row.v[0].i, err));
}

bool made_from_write(struct db_conn *c, const struct object *o, struct arena *a, struct err *err)
{
    const struct making m = {c, o, a};
    struct err broken = {0};
    struct str text = has_field(o->kind, "lineage") ? object_text(o, "lineage") : STR_NULL;
    yyjson_val *doc = text.n ? json_parse(a, text, &broken) : NULL;
    if (!doc)
        return true;
    for (size_t i = 0; i < countof(versions); i++)
        if (!(versions[i].column && has_field(o->kind, versions[i].column)) &&
            !add_versions(&m, versions[i].as, yyjson_obj_get(doc, versions[i].key), err))
            return false;
    return add(&m, "kept", STR("environment"),
               yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(doc, "environment"), "id")), err) &&
           add_image(&m, doc, err);
}

bool made_from_drop(struct db_conn *c, const struct object *o, struct err *err)
{
    return !has_field(o->kind, "lineage") ||
           conn_exec(c, "DELETE FROM made_from WHERE kind = ? AND id = ?",
                     db_args(db_textz(o->kind->name), db_int(o->id)), NULL, err);
}

/* --- of objects from before --- */

/* Those that a program made that knows nothing of these rows: after each start all that came since the last
 * look. */
struct looking {
    const struct kind *kind;
    bool more;
};

static bool look_page(struct db_conn *c, void *ctx, struct err *err)
{
    struct looking *l = ctx;
    auto_arena struct arena a;
    auto_sql struct sql s;
    struct db_rows rows;
    arena_init(&a);
    sql_init(&s);
    row_select(&s, l->kind);
    sql_add(&s, "\"lineage\" IS NOT NULL AND \"id\" > COALESCE((SELECT m.last FROM made_from_marks m"
                " WHERE m.kind = ");
    sql_arg(&s, db_textz(l->kind->name));
    sql_add(&s, "), 0) ORDER BY \"id\" LIMIT ");
    sql_arg(&s, db_int(PAGE));
    if (!conn_query(c, &a, s.text.p, sql_args(&s), &rows, err))
        return false;
    int64_t last = 0;
    for (size_t i = 0; i < rows.n; i++) {
        struct object o = row_read(&a, l->kind, &rows.row[i]);
        if (!made_from_write(c, &o, &a, err))
            return false;
        last = o.id;
    }
    l->more = rows.n == PAGE;
    return rows.n == 0 || conn_exec(c,
                                    "INSERT INTO made_from_marks (kind, last) VALUES (?, ?)"
                                    " ON CONFLICT (kind) DO UPDATE SET last = excluded.last",
                                    db_args(db_textz(l->kind->name), db_int(last)), NULL, err);
}

static bool look_at_all(struct core *core, struct err *err)
{
    for (size_t i = 0; i < kind_count; i++) {
        struct looking l = {.kind = kinds[i], .more = has_field(kinds[i], "lineage")};
        while (l.more && !controller_ending(core))
            if (!db_write(core->db, look_page, &l, err))
                return false;
    }
    return true;
}

const struct controller controller_link_lineage = {
    .name = "link-lineage",
    .title = {"Finds what objects of an older version were made from", "补全旧版本对象的来源关系"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 1,
    .every_s = 86400,
    .retry_s = 60,
    .tick = look_at_all,
};

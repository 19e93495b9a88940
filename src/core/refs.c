#include "core/refs.h"

#include "base/json.h"
#include "core/row.h"

#include <inttypes.h>

#define EXAMPLES 5

struct search {
    struct op *op;
    const struct object *target;
    struct json_out out;
    struct err *err;
};

/* Rows of a kind that refer to the target by one column. */
struct use {
    const struct kind *kind;
    const char *where;
    struct db_value arg;
};

/* What it is called, so that one finds it: a version by what it is one of, "fruit/v3". An expression of SQL.
 */
static const char *full_name(struct search *s, const struct kind *k)
{
    const struct field *name = kind_name_field(k), *above_name;
    const struct kind *above = k->scope == SCOPE_CHILD ? kind_by_name(str_of(k->parent)) : NULL;
    if (!name)
        return "NULL";
    if (!above || above == s->target->kind || !(above_name = kind_name_field(above)))
        return arena_printf(s->op->arena, "\"%s\"", name->name);
    return arena_printf(s->op->arena,
                        "coalesce((SELECT p.\"%s\" FROM \"%s\" p WHERE p.\"id\" = \"%s\".\"%s\") || '/', '')"
                        " || \"%s\"",
                        above_name->name, above->table, k->table, k->parent, name->name);
}

static bool write_examples(struct search *s, const struct use *u)
{
    auto_buf struct buf sql = {0};
    buf_printf(&sql, "SELECT \"id\",%s FROM \"%s\" WHERE %s ORDER BY \"id\" LIMIT %d", full_name(s, u->kind),
               u->kind->table, u->where, EXAMPLES);
    struct db_rows rows;
    if (!conn_query(s->op->conn, s->op->arena, sql.p, db_args(u->arg), &rows, s->err))
        return false;
    json_key(&s->out, "examples");
    json_array(&s->out);
    for (size_t i = 0; i < rows.n; i++) {
        json_object(&s->out);
        json_kint(&s->out, "id", rows.row[i].v[0].i);
        json_kstr(&s->out, "name", rows.row[i].v[1].type == DB_TEXT ? rows.row[i].v[1].s : STR_NULL);
        json_object_end(&s->out);
    }
    json_array_end(&s->out);
    return true;
}

static bool write_use(struct search *s, const struct use *u)
{
    const struct kind *k = u->kind;
    auto_buf struct buf sql = {0};
    buf_printf(&sql, "SELECT count(*) FROM \"%s\" WHERE %s", k->table, u->where);
    struct db_row row;
    bool found;
    if (!conn_query_one(s->op->conn, s->op->arena, sql.p, db_args(u->arg), &row, &found, s->err))
        return false;
    if (!found || row.v[0].i == 0)
        return true;
    json_object(&s->out);
    json_kz(&s->out, "kind", k->name);
    json_kint(&s->out, "count", row.v[0].i);
    if (!write_examples(s, u))
        return false;
    json_object_end(&s->out);
    return true;
}

static bool search_column(struct search *s, const struct kind *k, const char *column)
{
    const struct use u = {k, arena_printf(s->op->arena, "\"%s\"=?", column), db_int(s->target->id)};
    return write_use(s, &u);
}

/* A list is stored as "[3,17]": between commas when its brackets are commas too. */
static bool search_list(struct search *s, const struct kind *k, const char *column)
{
    const struct use u = {
        k, arena_printf(s->op->arena, "replace(replace(\"%s\",'[',','),']',',') LIKE ?", column),
        db_textz(arena_printf(s->op->arena, "%%,%" PRId64 ",%%", s->target->id))};
    return write_use(s, &u);
}

static bool search_kind(struct search *s, const struct kind *k)
{
    const struct kind *target = s->target->kind;
    if (k->scope == SCOPE_CHILD && strcmp(k->parent, target->name) == 0 && !search_column(s, k, k->parent))
        return false;
    if (k->scope == SCOPE_PROJECT && kind_is_project(target) && !search_column(s, k, "project"))
        return false;
    for (const struct field *f = k->fields; f->name; f++) {
        if (!f->ref || f->flags & FIELD_VIRTUAL || strcmp(f->ref, target->name) != 0)
            continue;
        if (f->type == FIELD_REFS ? !search_list(s, k, f->name) : !search_column(s, k, f->name))
            return false;
    }
    return true;
}

bool refs_find(struct op *op, const struct object *o, struct str *ret, struct err *err)
{
    auto_buf struct buf b = {0};
    struct search s = {.op = op, .target = o, .err = err};
    json_begin(&s.out, &b);
    json_array(&s.out);
    for (size_t i = 0; i < kind_count; i++)
        if (!kinds[i]->audit_reads_only && !search_kind(&s, kinds[i]))
            return false;
    json_array_end(&s.out);
    *ret = str_is(buf_view(&b), "[]") ? STR_NULL : arena_str(op->arena, buf_view(&b));
    return true;
}

/* It, or what it is a version of. */
static bool is_public(struct op *op, const struct object *to)
{
    const struct kind *k = to->kind, *above = k->parent ? kind_by_name(str_of(k->parent)) : NULL;
    const struct row_key key = {.id = to->parent};
    struct object parent;
    struct err ignored = {0};
    bool found;
    if (k->public_too && object_int(to, "public"))
        return true;
    return above && above->public_too &&
           row_load(op->core->db, op->conn, op->arena, above, &key, &parent, &found, &ignored) && found &&
           object_int(&parent, "public");
}

static bool usable(struct op *op, const struct object *from, const struct object *to)
{
    const struct kind *k = to->kind;
    const struct caller *c = op->caller;
    if (c->grants && c->grants == caller_system.grants)
        return true;
    if (k->scope == SCOPE_OWN)
        return to->created_by == c->user;
    if (kind_is_project(k))
        return caller_in_project(c, to->id);
    if (!kind_has_project(k))
        return true;
    return is_public(op, to) || (to->project == from->project && caller_in_project(c, to->project));
}

bool refs_check(struct op *op, const struct object *o, const struct field *f, int64_t id, struct err *err)
{
    const struct kind *k = kind_by_name(str_of(f->ref));
    struct object to;
    bool found = false;
    const struct row_key key = {.id = id};
    if (k && !row_load(op->core->db, op->conn, op->arena, k, &key, &to, &found, err))
        return false;
    if (!found || !usable(op, o, &to))
        return err_set(err, ERR_INVALID, f->name, "%s: there is no %s %" PRId64, f->name,
                       k ? k->title.en : f->ref, id);
    return true;
}

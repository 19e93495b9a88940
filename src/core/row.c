#include "core/row.h"

#include "base/clock.h"

const char *row_scope_column(const struct kind *k)
{
    switch (k->scope) {
    case SCOPE_PROJECT:
        return "project";
    case SCOPE_CHILD:
        return k->parent;
    case SCOPE_OWN:
        return "created_by";
    case SCOPE_PLATFORM:
        break;
    }
    return NULL;
}

static void next_column(struct sql *s, const char *name)
{
    buf_char(&s->text, ',');
    sql_name(s, name);
}

void row_columns(struct sql *s, const struct kind *k)
{
    sql_add(s, "SELECT \"id\",\"revision\",\"created_at\",\"updated_at\",\"created_by\"");
    if (kind_has_project(k))
        sql_add(s, ",\"project\"");
    if (k->scope == SCOPE_CHILD)
        next_column(s, k->parent);
    for (const struct field *f = k->fields; f->name; f++)
        if (!(f->flags & FIELD_VIRTUAL))
            next_column(s, f->name);
}

void row_select(struct sql *s, const struct kind *k)
{
    row_columns(s, k);
    sql_add(s, " FROM ");
    sql_name(s, k->table);
    sql_add(s, " WHERE ");
}

/* Where an object belongs besides its own columns. */
static void place(struct object *o)
{
    const struct kind *k = o->kind;
    if (kind_is_project(k))
        o->project = o->id;
    else if (k->scope == SCOPE_CHILD && strcmp(k->parent, "project") == 0)
        o->project = o->parent;
}

struct object row_read(struct arena *a, const struct kind *k, const struct db_row *row)
{
    const struct db_value *v = row->v;
    struct object o = {
        .kind = k,
        .id = v[0].i,
        .revision = v[1].i,
        .created_at = v[2].i,
        .updated_at = v[3].i,
        .created_by = v[4].i,
        .values = arena_array(a, struct db_value, kind_field_count(k) + 1),
    };
    size_t at = 5;
    if (kind_has_project(k))
        o.project = v[at++].i;
    if (k->scope == SCOPE_CHILD)
        o.parent = v[at++].i;
    for (size_t i = 0; k->fields[i].name; i++)
        if (!(k->fields[i].flags & FIELD_VIRTUAL))
            o.values[i] = v[at++];
    place(&o);
    return o;
}

bool row_load(struct db *db, struct db_conn *conn, struct arena *a, const struct kind *k,
              const struct row_key *key, struct object *ret, bool *found, struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    row_select(&s, k);
    sql_add(&s, "\"id\"=");
    sql_arg(&s, db_int(key->id));
    if (key->extra) {
        buf_printf(&s.text, " AND (%s)", key->extra);
        if (strchr(key->extra, '?'))
            s.args[s.n++] = key->extra_arg;
    }
    struct db_row row;
    bool ok = conn ? conn_query_one(conn, a, s.text.p, sql_args(&s), &row, found, err)
                   : db_query_one(db, a, s.text.p, sql_args(&s), &row, found, err);
    if (ok && *found)
        *ret = row_read(a, k, &row);
    return ok;
}

static void column(struct sql *s, const char *name, struct db_value v)
{
    next_column(s, name);
    s->args[s->n++] = v;
}

static struct db_value id_or_null(int64_t id)
{
    return id ? db_int(id) : db_null();
}

bool row_insert(struct db_conn *c, struct object *o, struct err *err)
{
    const struct kind *k = o->kind;
    auto_sql struct sql s;
    sql_init(&s);
    int64_t now = clock_now(), id;
    sql_add(&s, "INSERT INTO ");
    sql_name(&s, k->table);
    sql_add(&s, " (\"revision\"");
    s.args[s.n++] = db_int(1);
    column(&s, "created_at", db_int(now));
    column(&s, "updated_at", db_int(now));
    column(&s, "created_by", id_or_null(o->created_by));
    if (kind_has_project(k))
        column(&s, "project", id_or_null(o->project));
    if (k->scope == SCOPE_CHILD)
        column(&s, k->parent, id_or_null(o->parent));
    for (size_t i = 0; k->fields[i].name; i++)
        if (!(k->fields[i].flags & FIELD_VIRTUAL))
            column(&s, k->fields[i].name, o->values[i]);
    sql_add(&s, ") VALUES (?");
    for (size_t i = 1; i < s.n; i++)
        sql_add(&s, ",?");
    sql_add(&s, ")");
    if (!conn_insert(c, s.text.p, sql_args(&s), &id, err))
        return false;
    o->id = id;
    o->revision = 1;
    o->created_at = o->updated_at = now;
    place(o);
    return true;
}

bool row_update(struct db_conn *c, struct object *o, struct err *err)
{
    const struct kind *k = o->kind;
    auto_sql struct sql s;
    sql_init(&s);
    int64_t now = clock_now(), changed = 0;
    buf_printf(&s.text, "UPDATE \"%s\" SET \"revision\"=", k->table);
    sql_arg(&s, db_int(o->revision + 1));
    sql_add(&s, ",\"updated_at\"=");
    sql_arg(&s, db_int(now));
    for (size_t i = 0; k->fields[i].name; i++) {
        if (k->fields[i].flags & FIELD_VIRTUAL)
            continue;
        next_column(&s, k->fields[i].name);
        buf_char(&s.text, '=');
        sql_arg(&s, o->values[i]);
    }
    sql_add(&s, " WHERE \"id\"=");
    sql_arg(&s, db_int(o->id));
    sql_add(&s, " AND \"revision\"=");
    sql_arg(&s, db_int(o->revision));
    if (!conn_exec(c, s.text.p, sql_args(&s), &changed, err))
        return false;
    if (changed != 1)
        return err_set(err, ERR_STALE, NULL, "the object was changed by someone else meanwhile");
    o->revision++;
    o->updated_at = now;
    return true;
}

bool row_status(struct db_conn *c, struct arena *a, const struct kind *k, int64_t id,
                struct engine_statuses fields, struct object *ret, bool *found, struct err *err)
{
    struct db_row row;
    auto_sql struct sql s;
    sql_init(&s);
    buf_printf(&s.text, "UPDATE \"%s\" SET ", k->table);
    for (size_t i = 0; i < fields.n; i++) {
        const struct engine_status *f = &fields.items[i];
        buf_printf(&s.text, f->add ? "%s\"%s\"=COALESCE(\"%s\",0)+" : "%s\"%s\"=", i ? "," : "", f->field,
                   f->field);
        sql_arg(&s, f->value);
    }
    sql_add(&s, " WHERE \"id\"=");
    sql_arg(&s, db_int(id));
    sql_add(&s, " RETURNING \"id\"");
    if (kind_has_project(k))
        next_column(&s, "project");
    if (k->scope == SCOPE_CHILD)
        next_column(&s, k->parent);
    if (!conn_query_one(c, a, s.text.p, sql_args(&s), &row, found, err))
        return false;
    if (!*found)
        return true;
    size_t at = 1;
    *ret = (struct object){.kind = k, .id = id};
    if (kind_has_project(k))
        ret->project = row.v[at++].i;
    if (k->scope == SCOPE_CHILD)
        ret->parent = row.v[at++].i;
    place(ret);
    return true;
}

bool row_delete(struct db_conn *c, const struct object *o, struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    buf_printf(&s.text, "DELETE FROM \"%s\" WHERE \"id\"=", o->kind->table);
    sql_arg(&s, db_int(o->id));
    return conn_exec(c, s.text.p, sql_args(&s), NULL, err);
}

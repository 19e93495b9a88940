#include "core/schema.h"

#include "core/row.h"

#include <stdio.h>

static const char *column_type(const struct field *f)
{
    switch (f->type) {
    case FIELD_INT:
    case FIELD_BOOL:
    case FIELD_TIME:
    case FIELD_REF:
        return "BIGINT";
    case FIELD_REAL:
        return "DOUBLE PRECISION";
    default:
        return "{text}";
    }
}

static bool has(const char *const *columns, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i], name) == 0)
            return true;
    return false;
}

static void write_table(const struct kind *k, struct buf *out)
{
    buf_printf(
        out,
        "CREATE TABLE \"%s\" (\"id\" {id}, \"revision\" BIGINT NOT NULL, \"created_at\" BIGINT NOT NULL, "
        "\"updated_at\" BIGINT NOT NULL, \"created_by\" BIGINT",
        k->table);
    if (kind_has_project(k))
        buf_z(out, ", \"project\" BIGINT NOT NULL");
    if (k->scope == SCOPE_CHILD)
        buf_printf(out, ", \"%s\" BIGINT NOT NULL", k->parent);
    for (const struct field *f = k->fields; f->name; f++)
        if (!(f->flags & FIELD_VIRTUAL))
            buf_printf(out, ", \"%s\" %s", f->name, column_type(f));
    buf_z(out, ");\n");
}

static void write_index(const struct kind *k, const char *name, const char *type, const char *first,
                        const char *second, bool id, struct buf *out)
{
    buf_printf(out, "CREATE %s IF NOT EXISTS \"%s_%s\" ON \"%s\" (", type, k->table, name, k->table);
    if (first)
        buf_printf(out, "\"%s\"%s", first, second || id ? ", " : "");
    if (second)
        buf_printf(out, "\"%s\"%s", second, id ? ", " : "");
    buf_printf(out, "%s);\n", id ? "\"id\"" : "");
}

/* What lists of one place need: each order, and what one made oneself. */
static void write_list_indexes(const struct kind *k, const char *scope, const char *prefix, struct buf *out)
{
    char name[96];
    bool unique_too = strcmp(prefix, "") != 0; /* values are unique elsewhere: here they are only in order */
    if (scope) {
        snprintf(name, sizeof name, "%sscope", prefix);
        write_index(k, name, "INDEX", scope, NULL, true, out);
    }
    if (!k->audit_reads_only) {
        snprintf(name, sizeof name, "%supdated_at", prefix);
        write_index(k, name, "INDEX", scope, "updated_at", true, out);
        snprintf(name, sizeof name, "%screated_by", prefix);
        if (k->scope != SCOPE_OWN)
            write_index(k, name, "INDEX", scope, "created_by", true, out);
    }
    for (const struct field *f = k->fields; f->name; f++) {
        snprintf(name, sizeof name, "%s%s_sort", prefix, f->name);
        if (f->flags & (FIELD_SORT | FIELD_SEARCH) && !(f->flags & (FIELD_VIRTUAL | FIELD_LONG)) &&
            (unique_too || !(f->flags & FIELD_UNIQUE)))
            write_index(k, name, "INDEX", scope, f->name, true, out);
    }
}

static void write_indexes(const struct kind *k, struct buf *out)
{
    char name[KIND_COLLECTION_MAX];
    write_list_indexes(k, row_scope_column(k), "", out);
    if (kind_collection(k, name))
        write_list_indexes(k, "project", "project_", out);
    for (const struct field *f = k->fields; f->name; f++) {
        if (f->flags & FIELD_VIRTUAL)
            continue;
        snprintf(name, sizeof name, "%s_unique", f->name);
        if (f->flags & FIELD_UNIQUE)
            write_index(k, name, "UNIQUE INDEX", row_scope_column(k), f->name, false, out);
        snprintf(name, sizeof name, "%s_ref", f->name);
        if (f->type == FIELD_REF && !k->audit_reads_only)
            write_index(k, name, "INDEX", f->name, NULL, false, out);
    }
}

void schema_write(const struct kind *k, const char *const *columns, size_t n, struct buf *out)
{
    if (n == 0)
        write_table(k, out);
    for (const struct field *f = k->fields; n && f->name; f++)
        if (!(f->flags & FIELD_VIRTUAL) && !has(columns, n, f->name))
            buf_printf(out, "ALTER TABLE \"%s\" ADD COLUMN \"%s\" %s;\n", k->table, f->name, column_type(f));
    write_indexes(k, out);
    if (n == 0 && k->extra_sql)
        buf_printf(out, "%s\n", k->extra_sql);
}

bool schema_update(struct db *db, struct arena *a, struct err *err)
{
    auto_buf struct buf script = {0};
    for (size_t i = 0; i < kind_count; i++) {
        const char **columns;
        size_t n;
        if (!db_columns(db, a, kinds[i]->table, &columns, &n, err))
            return false;
        schema_write(kinds[i], columns, n, &script);
    }
    return db_script(db, script.p, err) && db_migrate(db, migrations, migration_count, err);
}

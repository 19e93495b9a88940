#include "core/names.h"

#include "core/sql.h"

/* Ids per query; the number of `?` is rounded up to it so that few different statements are prepared. */
#define BATCH 64

void names_init(struct names *n, struct arena *a, size_t most)
{
    n->arena = a;
    n->size = 8;
    while (n->size < most * 2)
        n->size *= 2;
    n->slots = arena_array(a, struct name_entry, n->size);
}

static struct name_entry *slot(const struct names *n, const struct kind *k, int64_t id)
{
    uint64_t h = ((uint64_t)id + (uintptr_t)k) * 0x9e3779b97f4a7c15u;
    for (size_t i = (size_t)(h >> 32);; i++) {
        struct name_entry *e = &n->slots[i & (n->size - 1)];
        if (!e->kind || (e->kind == k && e->id == id))
            return e;
    }
}

void names_want(struct names *n, const struct kind *k, int64_t id)
{
    if (!k || id == 0)
        return;
    struct name_entry *e = slot(n, k, id);
    e->kind = k;
    e->id = id;
}

static bool read_batch(struct names *n, struct db *db, const struct kind *k, const int64_t *ids, size_t count,
                       struct err *err)
{
    auto_sql struct sql s;
    sql_init(&s);
    const struct kind *above = k->parent ? kind_by_name(str_of(k->parent)) : NULL;
    buf_printf(&s.text, "SELECT k.\"id\",k.\"%s\"", k->fields[0].name);
    if (above && kind_name_field(above))
        buf_printf(&s.text, ",p.\"id\",p.\"%s\" FROM \"%s\" k JOIN \"%s\" p ON p.\"id\"=k.\"%s\"",
                   above->fields[0].name, k->table, above->table, k->parent);
    else
        buf_printf(&s.text, ",NULL,NULL FROM \"%s\" k", k->table);
    sql_add(&s, " WHERE k.\"id\" IN (");
    size_t padded = count <= 1 ? 1 : count <= 8 ? 8 : BATCH;
    for (size_t i = 0; i < padded; i++) {
        sql_add(&s, i ? "," : "");
        sql_arg(&s, db_int(ids[i < count ? i : count - 1]));
    }
    sql_add(&s, ")");
    struct db_rows rows;
    if (!db_query(db, n->arena, s.text.p, sql_args(&s), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        struct name_entry *e = slot(n, k, v[0].i);
        e->name = v[1].type == DB_TEXT ? v[1].s : STR_NULL;
        e->of = v[2].type == DB_INT ? v[2].i : 0;
        e->of_name = v[3].type == DB_TEXT ? v[3].s : STR_NULL;
    }
    return true;
}

static bool read_kind(struct names *n, struct db *db, const struct kind *k, struct err *err)
{
    int64_t ids[BATCH];
    size_t count = 0;
    for (size_t i = 0; i < n->size; i++) {
        if (n->slots[i].kind != k)
            continue;
        ids[count++] = n->slots[i].id;
        if (count == BATCH) {
            if (!read_batch(n, db, k, ids, count, err))
                return false;
            count = 0;
        }
    }
    return count == 0 || read_batch(n, db, k, ids, count, err);
}

bool names_load(struct names *n, struct db *db, struct err *err)
{
    for (size_t i = 0; i < kind_count; i++)
        if (kind_name_field(kinds[i]) && !read_kind(n, db, kinds[i], err))
            return false;
    return true;
}

const struct name_entry *names_get(const struct names *n, const struct kind *k, int64_t id)
{
    return slot(n, k, id);
}

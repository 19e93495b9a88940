#include "core/names.h"

#include "core/sql.h"

struct name_entry {
    const struct kind *kind;
    int64_t id;
    struct str name;
};

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
    buf_printf(&s.text, "SELECT \"id\",\"%s\" FROM \"%s\" WHERE \"id\" IN (", k->fields[0].name, k->table);
    size_t padded = count <= 1 ? 1 : count <= 8 ? 8 : BATCH;
    for (size_t i = 0; i < padded; i++) {
        sql_add(&s, i ? "," : "");
        sql_arg(&s, db_int(ids[i < count ? i : count - 1]));
    }
    sql_add(&s, ")");
    struct db_rows rows;
    if (!db_query(db, n->arena, s.text.p, sql_args(&s), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (rows.row[i].v[1].type == DB_TEXT)
            slot(n, k, rows.row[i].v[0].i)->name = rows.row[i].v[1].s;
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

struct str names_get(const struct names *n, const struct kind *k, int64_t id)
{
    return slot(n, k, id)->name;
}

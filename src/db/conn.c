/* Statements inside a read or a write: the conn_ functions over an driver's run. */
#include "db/driver.h"

#include "base/clock.h"
#include "db/tables.h"

#include <math.h>

/* PART_NS: what a write may take while others wait for it; two of them and a commit are to be gone through
 * before a person notices. TURN_NS: while none waits; longer ones would save few syncs. */
#define PART_NS UINT64_C(3000000)
#define TURN_NS UINT64_C(40000000)

struct db_value db_text_or_null(const char *z)
{
    return z ? db_text(str_of(z)) : db_null();
}

/* What one driver would take and the other not is refused for both. */
static bool check_args(struct db_args args, struct err *err)
{
    for (size_t i = 0; i < args.n; i++) {
        const struct db_value *v = &args.v[i];
        if (v->type == DB_REAL && !isfinite(v->r))
            return err_set(err, ERR_INVALID, NULL, "a number is not finite");
        if (v->type != DB_TEXT)
            continue;
        if (v->s.n && memchr(v->s.p, 0, v->s.n))
            return err_set(err, ERR_INVALID, NULL, "a text contains a NUL byte");
        if (!utf8_valid(v->s))
            return err_set(err, ERR_INVALID, NULL, "a text is not valid UTF-8");
    }
    return true;
}

static bool refuse_reentry(struct err *err)
{
    return err_set(err, ERR_INTERNAL, NULL, "a connection was used while it delivers rows");
}

static _Thread_local struct db_tables *noting;

void db_note_reads(struct db_tables *to)
{
    noting = to;
}

static void note_reads(const struct run *r)
{
    if (noting && r->reads)
        tables_join(noting, r->reads);
    else if (noting)
        tables_add(noting, TABLES_ALL);
}

bool conn_run(struct db_conn *c, struct run *r, struct err *err)
{
    struct err local = {0};
    r->stopped = false;
    r->reads = NULL;
    if (c->busy)
        return refuse_reentry(err);
    if (c->spoiled) {
        if (err)
            *err = c->spoiled_by;
        return false;
    }
    c->busy = true;
    bool ok = check_args(r->args, &local) && c->driver->run(c, r, &local);
    c->busy = false;
    note_reads(r);
    if (ok && r->stopped)
        ok = local.code == ERR_NONE;
    else if (!ok && c->writes) {
        c->spoiled = true;
        c->spoiled_by = local;
    }
    if (!ok && err)
        *err = local;
    return ok;
}

struct collect {
    struct arena *a;
    struct db_rows rows;
    size_t cap, columns, max;
    const struct run *run;
};

static void copy_row(struct arena *a, const struct db_row *from, size_t columns, struct db_row *to)
{
    struct db_value *v = arena_copy(a, from->v, columns * sizeof *v);
    for (size_t i = 0; i < columns; i++)
        if (v[i].type == DB_TEXT || v[i].type == DB_BYTES)
            v[i].s = arena_str(a, v[i].s);
    to->v = v;
}

static bool collect_row(void *ctx, const struct db_row *row, struct err *err)
{
    (void)err;
    struct collect *k = ctx;
    if (k->rows.n == k->cap) {
        size_t cap = k->cap ? k->cap * 2 : 4;
        k->rows.row =
            arena_grow(k->a, k->rows.row, k->cap * sizeof(struct db_row), cap * sizeof(struct db_row));
        k->cap = cap;
    }
    copy_row(k->a, row, k->run->columns, &k->rows.row[k->rows.n++]);
    return k->max == 0 || k->rows.n < k->max;
}

/* All rows, or the first max. */
static bool collect(struct db_conn *c, struct arena *a, const char *sql, struct db_args args, size_t max,
                    struct db_rows *ret, struct err *err)
{
    struct run r = {.sql = sql, .args = args, .each = collect_row};
    struct collect k = {.a = a, .max = max, .run = &r};
    r.ctx = &k;
    if (!conn_run(c, &r, err))
        return false;
    k.rows.columns = r.columns;
    *ret = k.rows;
    return true;
}

bool conn_query(struct db_conn *c, struct arena *a, const char *sql, struct db_args args, struct db_rows *ret,
                struct err *err)
{
    return collect(c, a, sql, args, 0, ret, err);
}

bool conn_query_one(struct db_conn *c, struct arena *a, const char *sql, struct db_args args,
                    struct db_row *ret, bool *found, struct err *err)
{
    struct db_rows rows;
    if (!collect(c, a, sql, args, 1, &rows, err))
        return false;
    *found = rows.n > 0;
    if (rows.n)
        *ret = rows.row[0];
    return true;
}

bool conn_each(struct db_conn *c, const char *sql, struct db_args args, db_each_fn each, void *ctx,
               struct err *err)
{
    struct run r = {.sql = sql, .args = args, .each = each, .ctx = ctx, .stream = true};
    return conn_run(c, &r, err);
}

bool conn_exec(struct db_conn *c, const char *sql, struct db_args args, int64_t *changed, struct err *err)
{
    struct run r = {.sql = sql, .args = args};
    if (!conn_run(c, &r, err))
        return false;
    if (changed)
        *changed = r.changed;
    return true;
}

static bool insert_returning(struct db_conn *c, const char *sql, struct db_args args, int64_t *ret_id,
                             bool *inserted, struct err *err)
{
    auto_arena struct arena a = {0};
    struct db_row row = {0};
    if (!conn_query_one(c, &a, arena_printf(&a, "%s RETURNING \"id\"", sql), args, &row, inserted, err))
        return false;
    if (*inserted && row.v)
        *ret_id = row.v[0].i;
    return true;
}

bool conn_insert(struct db_conn *c, const char *sql, struct db_args args, int64_t *ret_id, struct err *err)
{
    struct run r = {.sql = sql, .args = args};
    bool inserted;
    if (!c->driver->tells_id) {
        if (!insert_returning(c, sql, args, ret_id, &inserted, err))
            return false;
    } else {
        if (!conn_run(c, &r, err))
            return false;
        inserted = r.changed > 0;
        *ret_id = r.id;
    }
    return inserted ||
           err_set(err, ERR_EXISTS, NULL, "no row was inserted: there is one with the same values");
}

bool conn_goes_on(const struct db_conn *c)
{
    uint64_t took = clock_mono() - c->begun;
    return took < PART_NS || (took < TURN_NS && !c->shared && !atomic_load(c->people));
}

char *conn_quote(struct arena *a, const char *name)
{
    char *to = arena_alloc(a, 2 * strlen(name) + 3), *at = to;
    *at++ = '"';
    for (; *name; name++) {
        if (*name == '"')
            *at++ = '"';
        *at++ = *name;
    }
    *at++ = '"';
    *at = 0;
    return to;
}

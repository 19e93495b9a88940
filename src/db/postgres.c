/* PostgreSQL through libpq. */
#include "db/driver.h"

#include "db/postgres_conn.h"

#include <stdio.h>

static struct postgres *of(const struct db_conn *c)
{
    return container_of(c, struct postgres, base);
}

/* The arguments as libpq wants them: numbers as text, bytes as they are. */
struct params {
    const char **values;
    int *lengths, *formats;
};

static struct params params_of(struct arena *a, struct db_args args)
{
    struct params p = {
        .values = arena_array(a, const char *, args.n + 1),
        .lengths = arena_array(a, int, args.n + 1),
        .formats = arena_array(a, int, args.n + 1),
    };
    for (size_t i = 0; i < args.n; i++) {
        const struct db_value *v = &args.v[i];
        if (v->type == DB_INT)
            p.values[i] = arena_printf(a, "%lld", (long long)v->i);
        else if (v->type == DB_REAL)
            p.values[i] = arena_printf(a, "%.17g", v->r);
        else if (v->type == DB_TEXT)
            p.values[i] = arena_strz(a, v->s);
        else if (v->type == DB_BYTES)
            p.values[i] = v->s.p ? v->s.p : "";
        p.lengths[i] = (int)v->s.n;
        p.formats[i] = v->type == DB_BYTES;
    }
    return p;
}

/* Of a digit that the server wrote: 0-9 and a-f differ in bit 6. */
static unsigned hex_value(char digit)
{
    return ((unsigned)digit & 15) + 9 * ((unsigned)digit >> 6 & 1);
}

/* "\x0a0b" in place of the bytes; the result's memory is ours until it is cleared. Curves are megabytes of
 * it. */
static struct db_value bytes_of(char *text, size_t n)
{
    size_t bytes = n >= 2 ? (n - 2) / 2 : 0;
    const char *digit = text + 2;
    for (size_t i = 0; i < bytes; i++, digit += 2)
        text[i] = (char)(hex_value(digit[0]) << 4 | hex_value(digit[1]));
    return db_bytes(((struct str){text, bytes}));
}

static struct db_value number_of(struct str s)
{
    struct db_value v = db_int(0);
    if (str_to_i64(s, &v.i)) /* sum() of integers is numeric */
        return v;
    return db_real(strtod(s.p, NULL));
}

static struct db_value value_of(PGresult *res, int row, int column)
{
    if (PQgetisnull(res, row, column))
        return db_null();
    char *text = PQgetvalue(res, row, column);
    struct str s = {text, (size_t)PQgetlength(res, row, column)};
    switch (PQftype(res, column)) {
    case PG_BOOL:
        return db_int(text[0] == 't');
    case PG_INT2:
    case PG_INT4:
    case PG_INT8:
    case PG_NUMERIC:
        return number_of(s);
    case PG_FLOAT4:
    case PG_FLOAT8:
        return db_real(strtod(text, NULL));
    case PG_BYTEA:
        return bytes_of(text, s.n);
    default:
        return db_text(s);
    }
}

/* Delivers the rows of a result; false when the receiver wants no more. */
static bool deliver(PGresult *res, struct run *r, struct err *err)
{
    struct db_value v[DB_COLUMNS_MAX];
    r->columns = (size_t)PQnfields(res);
    for (int row = 0; r->each && row < PQntuples(res); row++) {
        for (size_t i = 0; i < r->columns; i++)
            v[i] = value_of(res, row, (int)i);
        if (!r->each(r->ctx, &(struct db_row){v}, err))
            return false;
    }
    return true;
}

static void cancel(struct postgres *p)
{
    char why[256];
    PGcancel *k = PQgetCancel(p->pg);
    if (k)
        PQcancel(k, why, sizeof why);
    PQfreeCancel(k);
}

static bool too_many_columns(const PGresult *res)
{
    return PQnfields(res) > DB_COLUMNS_MAX;
}

/* Takes the results as they come. In single-row mode each row is one; the last tells how it ended. */
static bool receive(struct postgres *p, struct run *r, bool in_tx, struct err *err)
{
    bool ok = true;
    for (PGresult *res; (res = postgres_result(p)); PQclear(res)) {
        ExecStatusType status = PQresultStatus(res);
        if (r->stopped || !ok)
            continue; /* the failure of what was cancelled is none */
        if (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
            if (too_many_columns(res))
                ok = err_set(err, ERR_INTERNAL, NULL, "more than %d columns: %s", DB_COLUMNS_MAX, r->sql);
            else
                r->stopped = !deliver(res, r, err);
            r->changed = strtoll(PQcmdTuples(res), NULL, 10);
            /* Inside a transaction it would be cancelled too: there the rest is taken and dropped. */
            if (r->stopped && status == PGRES_SINGLE_TUPLE && !in_tx)
                cancel(p);
        } else {
            ok = postgres_fail(p, res, err);
            if (p->base.retry)
                postgres_forget(p, r);
        }
    }
    if (ok && PQstatus(p->pg) != CONNECTION_OK)
        ok = postgres_fail(p, NULL, err);
    return ok;
}

static bool run(struct db_conn *c, struct run *r, struct err *err)
{
    struct postgres *p = of(c);
    const char *name = postgres_prepare(p, r, err);
    if (!name)
        return false;
    auto_arena struct arena a = {0};
    struct params in = params_of(&a, r->args);
    bool in_tx = postgres_state(c) == CONN_IN_TX;
    if (!PQsendQueryPrepared(p->pg, name, (int)r->args.n, in.values, in.lengths, in.formats, 0))
        return postgres_fail(p, NULL, err);
    if (r->stream)
        PQsetSingleRowMode(p->pg);
    return receive(p, r, in_tx, err);
}

static bool script(struct db_conn *c, const char *sql, struct err *err)
{
    return postgres_simple(of(c), sql, err);
}

/* All writers take turns by this lock (the writer, hold.c, restoring), so each sees what all before it did;
 * the number has no meaning. */
#define WRITE_LOCK "SELECT pg_advisory_xact_lock(7305804402336330361)"
/* Of the platform's schema: a database may have several. The number has no meaning either. */
#define HOLD_LOCK "pg_try_advisory_lock(1768843124, current_schema()::regnamespace::oid::int4)"

/* In the same message, and after the lock: a server that took the hold before this transaction is seen. */
static bool begin_held(struct postgres *p, struct err *err)
{
    char sql[256];
    int rows = 0;
    snprintf(sql, sizeof sql, "BEGIN; " WRITE_LOCK "; SELECT 1 FROM db_holder WHERE generation = %lld",
             (long long)p->base.generation);
    if (!postgres_simple_rows(p, sql, &rows, err))
        return false;
    if (rows == 1)
        return true;
    postgres_simple(p, "ROLLBACK", NULL);
    return err_set(err, ERR_UNAVAILABLE, "database", "another server has taken over the database");
}

static bool begin(struct db_conn *c, bool write, struct err *err)
{
    of(c)->marked = false;
    if (write && c->generation)
        return begin_held(of(c), err);
    return postgres_simple(
        of(c), write ? "BEGIN; " WRITE_LOCK : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
}

static int socket_of(const struct db_conn *c)
{
    return PQsocket(of(c)->pg);
}

static void take_input(struct db_conn *c)
{
    PQconsumeInput(of(c)->pg);
}

/* COMMIT of a transaction that failed answers ROLLBACK, without an error. */
static bool commit(struct db_conn *c, struct err *err)
{
    struct postgres *p = of(c);
    if (PQtransactionStatus(p->pg) == PQTRANS_INERROR) {
        postgres_simple(p, "ROLLBACK", NULL);
        return err_set(err, ERR_INTERNAL, NULL, "the transaction had failed before its commit");
    }
    return postgres_simple(p, "COMMIT", err);
}

static void rollback(struct db_conn *c)
{
    bool retry = c->retry;
    if (postgres_state(c) == CONN_IN_TX)
        postgres_simple(of(c), "ROLLBACK", NULL);
    c->retry = retry;
}

static bool mark(struct db_conn *c, struct err *err)
{
    struct postgres *p = of(c);
    bool ok =
        postgres_simple(p, p->marked ? "RELEASE SAVEPOINT mark; SAVEPOINT mark" : "SAVEPOINT mark", err);
    p->marked = ok;
    return ok;
}

static bool undo(struct db_conn *c, struct err *err)
{
    return postgres_simple(of(c), "ROLLBACK TO SAVEPOINT mark", err);
}

/* Foreign keys are dropped while the tables are filled, and made again from this temporary list. */
static const char keep_keys[] =
    "CREATE TEMPORARY TABLE kept_key ON COMMIT DROP AS"
    " SELECT c.conrelid::regclass::text AS of_table, quote_ident(c.conname) AS name,"
    "        pg_get_constraintdef(c.oid) AS def"
    " FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid"
    " WHERE c.contype = 'f' AND t.relnamespace = current_schema()::regnamespace";

static bool alter_keys(struct db_conn *c, struct arena *a, bool add, struct err *err)
{
    struct db_rows keys;
    if (!conn_query(c, a, "SELECT of_table, name, def FROM kept_key", DB_NO_ARGS, &keys, err))
        return false;
    for (size_t i = 0; i < keys.n; i++) {
        const struct db_value *v = keys.row[i].v;
        const char *sql =
            add ? arena_printf(a, "ALTER TABLE %s ADD CONSTRAINT %s %s", v[0].s.p, v[1].s.p, v[2].s.p)
                : arena_printf(a, "ALTER TABLE %s DROP CONSTRAINT %s", v[0].s.p, v[1].s.p);
        if (!script(c, sql, err))
            return false;
    }
    return true;
}

static bool load_begin(struct db_conn *c, struct arena *a, const char *const *tables, size_t n,
                       struct err *err)
{
    if (!script(c, keep_keys, err) || !alter_keys(c, a, false, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!script(c, arena_printf(a, "DELETE FROM %s", conn_quote(a, tables[i])), err))
            return false;
    return true;
}

static bool load_end(struct db_conn *c, struct arena *a, struct err *err)
{
    return alter_keys(c, a, true, err);
}

static const char identity_sql[] =
    "SELECT pg_get_serial_sequence(quote_ident(c.relname), a.attname)"
    " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
    " WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ? AND a.attidentity <> ''";

static bool sequence_get(struct db_conn *c, const char *table, int64_t *ret, struct err *err)
{
    auto_arena struct arena a = {0};
    struct db_row row;
    bool found;
    *ret = 0;
    if (!conn_query_one(c, &a, identity_sql, db_args(db_textz(table)), &row, &found, err))
        return false;
    if (!found)
        return true;
    const char *sql =
        arena_printf(&a, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM %s", row.v[0].s.p);
    if (!conn_query_one(c, &a, sql, DB_NO_ARGS, &row, &found, err))
        return false;
    *ret = row.v[0].i;
    return true;
}

static bool sequence_set(struct db_conn *c, const char *table, int64_t last, struct err *err)
{
    auto_arena struct arena a = {0};
    struct db_row row;
    bool found;
    if (!conn_query_one(c, &a, identity_sql, db_args(db_textz(table)), &row, &found, err))
        return false;
    return !found || conn_exec(c, "SELECT setval(?::regclass, ?)", db_args(db_text(row.v[0].s), db_int(last)),
                               NULL, err);
}

const struct driver postgres_driver = {
    .open = postgres_open,
    .close = postgres_close,
    .state = postgres_state,
    .run = run,
    .script = script,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .mark = mark,
    .undo = undo,
    .hold_sql = "SELECT " HOLD_LOCK,
    .socket = socket_of,
    .take_input = take_input,
    .id = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    .text = "TEXT COLLATE \"C\"",
    .bytes = "BYTEA",
    .tables_sql = "SELECT table_name::text FROM information_schema.tables"
                  " WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
                  " ORDER BY table_name::text COLLATE \"C\"",
    .columns_sql = "SELECT column_name::text FROM information_schema.columns"
                   " WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position",
    .load_begin = load_begin,
    .load_end = load_end,
    .sequence_get = sequence_get,
    .sequence_set = sequence_set,
};

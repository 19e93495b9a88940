/* SQLite: one file in WAL mode, durable at each commit. */
#include "db/driver.h"

#include "base/fs.h"
#include "db/stmt.h"
#include "db/tables.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>

struct sqlite {
    struct db_conn base;
    sqlite3 *db;
    struct stmt_cache *statements;
    struct statement *preparing; /* whose tables are noted; NULL: none is prepared */
    bool marked;
};

struct statement {
    sqlite3_stmt *handle;
    struct db_tables reads, writes;
};

static struct sqlite *of(const struct db_conn *c)
{
    return container_of(c, struct sqlite, base);
}

/* "UNIQUE constraint failed: table.a, table.b" -> "b"; "... index 'name'" -> "name". */
static const char *named_last(const char *message, char ret[64])
{
    struct str s = str_of(message), rest, next;
    for (str_cut(s, ':', &rest); str_cut(rest, ',', &next), next.p; rest = next)
        ;
    s = str_trim(rest);
    if (str_starts(s, "index '"))
        s = (struct str){s.p + 7, s.n - 8};
    struct str column;
    str_cut(s, '.', &column);
    snprintf(ret, 64, STR_FMT, STR_ARG(column.p ? column : s));
    return ret;
}

static bool fail(struct sqlite *s, int rc, struct err *err)
{
    const char *text = sqlite3_errmsg(s->db);
    char field[64];
    switch (rc) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
        named_last(text, field);
        return err_set(err, ERR_EXISTS, field, "the value of %s is taken", field);
    case SQLITE_CONSTRAINT_FOREIGNKEY:
        return err_set(err, ERR_CONFLICT, NULL, "it refers to something absent, or something refers to it");
    case SQLITE_CONSTRAINT_NOTNULL:
        named_last(text, field);
        return err_set(err, ERR_INVALID, field, "%s must have a value", field);
    case SQLITE_CONSTRAINT_CHECK:
        return err_set(err, ERR_INVALID, NULL, "a value breaks the rule %s", named_last(text, field));
    }
    switch (rc & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL:
        return err_set(err, ERR_UNAVAILABLE, NULL, "the database cannot do it now: %s (%d)", text, rc);
    default:
        return err_set(err, ERR_INTERNAL, NULL, "the database failed: %s (%d)", text, rc);
    }
}

static bool script(struct db_conn *c, const char *sql, struct err *err)
{
    struct sqlite *s = of(c);
    tables_add(&c->wrote, TABLES_ALL);
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    return fail(s, sqlite3_extended_errcode(s->db), err);
}

static void drop_statement(void *owner, void *handle)
{
    (void)owner;
    struct statement *st = handle;
    sqlite3_finalize(st->handle);
    free(st);
}

/* Called by SQLite for each table and function of a statement that it prepares, also for what foreign keys
 * and triggers do by themselves. Everything is allowed. */
static int note_table(void *ctx, int action, const char *table, const char *column, const char *database,
                      const char *trigger)
{
    (void)column, (void)database, (void)trigger;
    struct statement *st = ((struct sqlite *)ctx)->preparing;
    if (!st)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        break;
    case SQLITE_READ:
        if (table) /* else a query in brackets, whose own tables are told */
            tables_add(&st->reads, tables_number(table));
        break;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        tables_add(&st->writes, tables_number(table));
        break;
    default: /* tables made and dropped, pragmas */
        tables_add(&st->writes, TABLES_ALL);
    }
    return SQLITE_OK;
}

static void configure_once(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* its counters are one lock for all threads */
    /* What can be undone is noted in memory so long. It goes to a file in one piece, of which SQLite writes
     * no more than this: with more it says that the disk is full. */
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, 0x1ffff);
    sqlite3_initialize();
}

static const char *const settings[] = {
    [CONN_WRITER] = ("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                     "PRAGMA cache_size=-4000; PRAGMA wal_autocheckpoint=2000;"
                     "PRAGMA journal_size_limit=67108864;"),
    [CONN_READER] = "PRAGMA query_only=ON; PRAGMA cache_size=-1500;",
    [CONN_FILE_NEW] = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-4000;",
    [CONN_FILE_READ] = "PRAGMA query_only=ON; PRAGMA cache_size=-1500;",
};

/* Only the owner may read it; -wal and -shm get the same mode from it. */
static bool create_private(const char *path, struct err *err)
{
    auto_fd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "opening the database \"%s\"", path);
    return true;
}

static bool open_conn(const char *url, enum conn_use use, struct db_conn **ret, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure_once);
    const char *path = url + strlen("sqlite:");
    bool creates = use == CONN_WRITER || use == CONN_FILE_NEW;
    if (creates && !create_private(path, err))
        return false;
    struct sqlite *s = base_zalloc(sizeof *s);
    s->base.driver = &sqlite_driver;
    int flags = (use == CONN_FILE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(path, &s->db, flags, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_extended_result_codes(s->db, 1);
        sqlite3_busy_timeout(s->db, 10000);
        rc = sqlite3_exec(s->db, settings[use], NULL, NULL, NULL);
    }
    if (rc != SQLITE_OK) {
        fail(s, rc, err);
        sqlite3_close_v2(s->db);
        free(s);
        return false;
    }
    sqlite3_set_authorizer(s->db, note_table, s);
    s->statements = stmt_cache_new(DB_STATEMENTS_MAX, drop_statement, NULL);
    *ret = &s->base;
    return true;
}

static void close_conn(struct db_conn *c)
{
    struct sqlite *s = of(c);
    stmt_cache_free(s->statements);
    sqlite3_close_v2(s->db);
    free(s);
}

static enum conn_state state(const struct db_conn *c)
{
    return sqlite3_get_autocommit(of(c)->db) ? CONN_READY : CONN_IN_TX;
}

static bool prepare_new(struct sqlite *s, const char *sql, struct statement *st, struct err *err)
{
    const char *rest = NULL;
    s->preparing = st;
    int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st->handle, &rest);
    s->preparing = NULL;
    if (rc != SQLITE_OK)
        return fail(s, rc, err);
    if (!st->handle || str_trim(str_of(rest)).n)
        return err_set(err, ERR_INTERNAL, NULL, "not exactly one statement: %s", sql);
    return true;
}

static struct statement *prepare(struct sqlite *s, const char *sql, struct err *err)
{
    struct statement *st = stmt_cache_get(s->statements, str_of(sql));
    if (st)
        return st;
    st = base_zalloc(sizeof *st);
    if (!prepare_new(s, sql, st, err)) {
        drop_statement(NULL, st);
        return NULL;
    }
    stmt_cache_add(s->statements, str_of(sql), st);
    return st;
}

static int bind(sqlite3_stmt *st, int i, const struct db_value *v)
{
    switch (v->type) {
    case DB_INT:
        return sqlite3_bind_int64(st, i, v->i);
    case DB_REAL:
        return sqlite3_bind_double(st, i, v->r);
    case DB_TEXT:
        return sqlite3_bind_text64(st, i, v->s.p ? v->s.p : "", v->s.n, SQLITE_STATIC, SQLITE_UTF8);
    case DB_BYTES:
        return sqlite3_bind_blob64(st, i, v->s.p ? v->s.p : "", v->s.n, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(st, i);
    }
}

static bool bind_all(struct sqlite *s, sqlite3_stmt *st, const struct run *r, struct err *err)
{
    if ((size_t)sqlite3_bind_parameter_count(st) != r->args.n)
        return err_set(err, ERR_INTERNAL, NULL, "%zu arguments for the %d of: %s", r->args.n,
                       sqlite3_bind_parameter_count(st), r->sql);
    for (size_t i = 0; i < r->args.n; i++) {
        int rc = bind(st, (int)i + 1, &r->args.v[i]);
        if (rc != SQLITE_OK)
            return fail(s, rc, err);
    }
    return true;
}

static struct db_value column(sqlite3_stmt *st, int i)
{
    const char *p;
    switch (sqlite3_column_type(st, i)) {
    case SQLITE_INTEGER:
        return db_int(sqlite3_column_int64(st, i));
    case SQLITE_FLOAT:
        return db_real(sqlite3_column_double(st, i));
    case SQLITE_TEXT:
        p = (const char *)sqlite3_column_text(st, i);
        return db_text(((struct str){p ? p : "", (size_t)sqlite3_column_bytes(st, i)}));
    case SQLITE_BLOB:
        p = sqlite3_column_blob(st, i);
        return db_bytes(((struct str){p ? p : "", (size_t)sqlite3_column_bytes(st, i)}));
    default:
        return db_null();
    }
}

static int step_all(sqlite3_stmt *st, struct run *r, struct err *err)
{
    struct db_value v[DB_COLUMNS_MAX];
    int rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        if (!r->each || r->stopped)
            continue;
        for (size_t i = 0; i < r->columns; i++)
            v[i] = column(st, (int)i);
        r->stopped = !r->each(r->ctx, &(struct db_row){v}, err);
        /* A change is gone through to its end, where the foreign keys are checked. */
        if (r->stopped && sqlite3_stmt_readonly(st))
            return SQLITE_DONE;
    }
    return rc;
}

static bool run(struct db_conn *c, struct run *r, struct err *err)
{
    struct sqlite *s = of(c);
    struct statement *prepared = prepare(s, r->sql, err);
    if (!prepared)
        return false;
    sqlite3_stmt *st = prepared->handle;
    r->reads = &prepared->reads;
    tables_join(&c->wrote, &prepared->writes);
    bool ok = bind_all(s, st, r, err);
    if (ok) {
        r->columns = (size_t)sqlite3_column_count(st);
        if (r->columns > DB_COLUMNS_MAX)
            ok = err_set(err, ERR_INTERNAL, NULL, "more than %d columns: %s", DB_COLUMNS_MAX, r->sql);
    }
    if (ok) {
        int64_t before = sqlite3_total_changes64(s->db);
        int rc = step_all(st, r, err);
        r->changed = sqlite3_total_changes64(s->db) == before ? 0 : sqlite3_changes64(s->db);
        r->id = sqlite3_last_insert_rowid(s->db);
        ok = rc == SQLITE_DONE || fail(s, sqlite3_extended_errcode(s->db), err);
    }
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return ok;
}

static bool simple(struct db_conn *c, const char *sql, struct err *err)
{
    struct run r = {.sql = sql};
    return run(c, &r, err);
}

static bool begin(struct db_conn *c, bool write, struct err *err)
{
    of(c)->marked = false;
    return simple(c, write ? "BEGIN IMMEDIATE" : "BEGIN", err);
}

static bool commit(struct db_conn *c, struct err *err)
{
    return simple(c, "COMMIT", err);
}

static void rollback(struct db_conn *c)
{
    if (state(c) == CONN_IN_TX)
        simple(c, "ROLLBACK", NULL);
}

static bool mark(struct db_conn *c, struct err *err)
{
    struct sqlite *s = of(c);
    if (s->marked && !simple(c, "RELEASE mark", err))
        return false;
    s->marked = simple(c, "SAVEPOINT mark", err);
    return s->marked;
}

static bool undo(struct db_conn *c, struct err *err)
{
    return simple(c, "ROLLBACK TO mark", err);
}

static bool load_begin(struct db_conn *c, struct arena *a, const char *const *tables, size_t n,
                       struct err *err)
{
    if (!simple(c, "PRAGMA defer_foreign_keys=ON", err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!simple(c, arena_printf(a, "DELETE FROM %s", conn_quote(a, tables[i])), err))
            return false;
    return true;
}

static bool load_end(struct db_conn *c, struct arena *a, struct err *err)
{
    struct db_rows bad;
    if (!conn_query(c, a, "SELECT \"table\", parent FROM pragma_foreign_key_check LIMIT 1", DB_NO_ARGS, &bad,
                    err))
        return false;
    if (bad.n)
        return err_set(err, ERR_INVALID, NULL, "a row of %s refers to an absent one of %s",
                       bad.row[0].v[0].s.p, bad.row[0].v[1].s.p);
    return true;
}

/* sqlite_sequence exists only once some table has automatic ids. */
static bool has_sequences(struct db_conn *c, struct arena *a, bool *ret, struct err *err)
{
    struct db_row row;
    return conn_query_one(c, a, "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'", DB_NO_ARGS,
                          &row, ret, err);
}

static bool sequence_get(struct db_conn *c, const char *table, int64_t *ret, struct err *err)
{
    auto_arena struct arena a = {0};
    struct db_row row;
    bool found;
    *ret = 0;
    if (!has_sequences(c, &a, &found, err))
        return false;
    if (!found)
        return true;
    if (!conn_query_one(c, &a, "SELECT seq FROM sqlite_sequence WHERE name = ?", db_args(db_textz(table)),
                        &row, &found, err))
        return false;
    if (found)
        *ret = row.v[0].i;
    return true;
}

static bool sequence_set(struct db_conn *c, const char *table, int64_t last, struct err *err)
{
    int64_t changed;
    if (!conn_exec(c, "UPDATE sqlite_sequence SET seq = ? WHERE name = ?",
                   db_args(db_int(last), db_textz(table)), &changed, err))
        return false;
    return changed || conn_exec(c, "INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)",
                                db_args(db_textz(table), db_int(last)), NULL, err);
}

/* VACUUM INTO reads one snapshot and writes a compact file, while others go on writing. */
static bool copy_to(const char *url, const char *path, struct err *err)
{
    struct db_conn *c;
    if (!open_conn(url, CONN_FILE_READ, &c, err))
        return false;
    simple(c, "PRAGMA query_only=OFF", NULL);
    struct run r = {.sql = "VACUUM INTO ?", .args = db_args(db_textz(path))};
    bool ok = run(c, &r, err);
    close_conn(c);
    return ok;
}

const struct driver sqlite_driver = {
    .open = open_conn,
    .close = close_conn,
    .state = state,
    .run = run,
    .tells_id = true, /* RETURNING costs it a temporary table each time */
    .script = script,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .mark = mark,
    .undo = undo,
    .id = "INTEGER PRIMARY KEY AUTOINCREMENT",
    .text = "TEXT",
    .bytes = "BLOB",
    .tables_sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'"
                  " ORDER BY name",
    .columns_sql = "SELECT name FROM pragma_table_info(?) ORDER BY cid",
    .load_begin = load_begin,
    .load_end = load_end,
    .sequence_get = sequence_get,
    .sequence_set = sequence_set,
    .copy_to = copy_to,
};

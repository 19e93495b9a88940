/* The schema. Every script that was run is kept in schema_script as it was written, so that a backup can be
 * put into a fresh database of the other driver. */
#include "db/driver.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"

const char db_own_tables[] = "CREATE TABLE IF NOT EXISTS schema_script (\n"
                             "    seq {id},\n"
                             "    digest {text} NOT NULL UNIQUE,\n"
                             "    sql {text} NOT NULL\n"
                             ");\n"
                             "CREATE TABLE IF NOT EXISTS schema_migration (\n"
                             "    number BIGINT PRIMARY KEY,\n"
                             "    name {text} NOT NULL,\n"
                             "    applied BIGINT NOT NULL\n"
                             ");\n";

bool db_script_run(struct db_conn *c, const char *sql, struct err *err)
{
    const struct {
        const char *word, *means;
    } words[] = {{"{id}", c->driver->id}, {"{text}", c->driver->text}, {"{bytes}", c->driver->bytes}};
    auto_buf struct buf b = {0};
    while (*sql) {
        size_t i = 0;
        while (i < countof(words) && strncmp(sql, words[i].word, strlen(words[i].word)) != 0)
            i++;
        if (i < countof(words)) {
            buf_z(&b, words[i].means);
            sql += strlen(words[i].word);
        } else {
            buf_char(&b, *sql++);
        }
    }
    return b.n == 0 || c->driver->script(c, b.p, err);
}

/* Keeps the script; one that was run before is not kept again. */
static bool record(struct db_conn *c, const char *sql, struct err *err)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX + 1];
    sha256_of(str_of(sql), digest);
    hex_encode(digest, sizeof digest, hex);
    return conn_exec(c, "INSERT INTO schema_script (digest, sql) VALUES (?, ?) ON CONFLICT DO NOTHING",
                     db_args(db_textz(hex), db_textz(sql)), NULL, err);
}

bool db_script_keep(struct db_conn *c, const char *sql, struct err *err)
{
    return db_script_run(c, db_own_tables, err) && db_script_run(c, sql, err) && record(c, sql, err);
}

static bool run_script(struct db_conn *c, void *ctx, struct err *err)
{
    return db_script_keep(c, ctx, err);
}

bool db_script(struct db *db, const char *sql, struct err *err)
{
    return db_write(db, run_script, (void *)(uintptr_t)sql, err);
}

/* *ret_needed: the last one that programs which do not know it cannot live with. */
static bool applied_until(struct db_conn *c, int64_t *ret, int64_t *ret_needed, struct err *err)
{
    auto_arena struct arena a = {0};
    struct db_row row;
    bool found;
    if (!db_script_run(c, db_own_tables, err) ||
        !conn_query_one(c, &a,
                        "SELECT coalesce(max(number), 0),"
                        " coalesce(max(CASE WHEN name LIKE '+%' THEN 0 ELSE number END), 0)"
                        " FROM schema_migration",
                        DB_NO_ARGS, &row, &found, err))
        return false;
    *ret = row.v[0].i;
    *ret_needed = row.v[1].i;
    return true;
}

struct step {
    const struct db_migration *m;
    size_t count;
    bool finished; /* result */
};

/* Runs the next missing migration. Looked up inside the write, since another server may be at it too. */
static bool run_next(struct db_conn *c, void *ctx, struct err *err)
{
    struct step *s = ctx;
    int64_t done, needed;
    s->finished = false;
    if (!applied_until(c, &done, &needed, err))
        return false;
    if (needed > (int64_t)s->count)
        return err_set(err, ERR_CONFLICT, "database",
                       "the database has schema %lld, this program knows up to %zu: use a newer program",
                       (long long)needed, s->count);
    if (done >= (int64_t)s->count) {
        s->finished = true;
        return true;
    }
    const struct db_migration *m = &s->m[done];
    struct err why = {0};
    if (!db_script_run(c, m->sql, &why))
        return err_set(err, why.code, NULL, "migration %d (%s): %s", m->number, m->name, why.message);
    return record(c, m->sql, err) &&
           conn_exec(c, "INSERT INTO schema_migration (number, name, applied) VALUES (?, ?, ?)",
                     db_args(db_int(m->number), db_textz(m->name), db_int(clock_now())), NULL, err);
}

bool db_migrate(struct db *db, const struct db_migration *m, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (m[i].number != (int)i + 1)
            return err_set(err, ERR_INTERNAL, NULL, "migration %zu has the number %d", i + 1, m[i].number);
    struct step s = {.m = m, .count = count};
    while (!s.finished)
        if (!db_write(db, run_next, &s, err))
            return false;
    return true;
}

bool db_columns(struct db *db, struct arena *a, const char *table, const char ***ret, size_t *ret_n,
                struct err *err)
{
    struct db_rows rows;
    const char *sql = db_is_postgres(db) ? postgres_driver.columns_sql : sqlite_driver.columns_sql;
    if (!db_query(db, a, sql, db_args(db_textz(table)), &rows, err))
        return false;
    const char **names = arena_array(a, const char *, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        names[i] = rows.row[i].v[0].s.p;
    *ret = names;
    *ret_n = rows.n;
    return true;
}

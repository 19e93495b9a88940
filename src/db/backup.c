/* Backup and restore. A backup is a SQLite database with the same tables; the drivers' own copy is used where
 * it gives that, else all rows are copied through the facade. */
#include "db/driver.h"

#include "base/buf.h"
#include "base/fs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

struct names {
    const char **v;
    size_t n;
};

static bool list(struct db_conn *c, struct arena *a, const char *sql, struct db_args args, struct names *ret,
                 struct err *err)
{
    struct db_rows rows;
    if (!conn_query(c, a, sql, args, &rows, err))
        return false;
    ret->v = arena_array(a, const char *, rows.n + 1);
    ret->n = rows.n;
    for (size_t i = 0; i < rows.n; i++)
        ret->v[i] = rows.row[i].v[0].s.p;
    return true;
}

static bool contains(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->v[i], name) == 0)
            return true;
    return false;
}

static bool is_own(const char *table)
{
    return strcmp(table, "schema_script") == 0 || strcmp(table, "schema_migration") == 0;
}

/* Which server has the database is true of this database only, and stays when everything else is replaced. */
static void leave_holder(struct names *names)
{
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->v[i], "db_holder") != 0)
            names->v[n++] = names->v[i];
    names->n = n;
}

static bool list_tables(struct db_conn *c, struct arena *a, struct names *ret, struct err *err)
{
    if (!list(c, a, c->driver->tables_sql, DB_NO_ARGS, ret, err))
        return false;
    leave_holder(ret);
    return true;
}

/* Makes the tables of a fresh database by running the source's scripts again. */
static bool replay_scripts(struct db_conn *from, struct db_conn *to, struct arena *a, struct err *err)
{
    struct db_rows scripts;
    if (!conn_query(from, a, "SELECT sql FROM schema_script ORDER BY seq", DB_NO_ARGS, &scripts, err) ||
        !db_script_run(to, db_own_tables, err))
        return false;
    for (size_t i = 0; i < scripts.n; i++)
        if (!db_script_run(to, scripts.row[i].v[0].s.p, err))
            return false;
    return true;
}

static bool count_of(struct db_conn *c, struct arena *a, const char *sql, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(c, a, sql, DB_NO_ARGS, &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}

static const char schema_sql[] = "SELECT coalesce(max(number), 0) FROM schema_migration";

/* The target must hold nothing (unless it is replaced), and tables that are there must be of the same schema.
 */
static bool check_target(struct db_conn *from, struct db_conn *to, struct arena *a, const struct names *there,
                         bool replace, struct err *err)
{
    for (size_t i = 0; i < there->n && !replace; i++) {
        int64_t some;
        const char *sql = arena_printf(a, "SELECT 1 FROM %s LIMIT 1", conn_quote(a, there->v[i]));
        if (is_own(there->v[i]))
            continue;
        if (!count_of(to, a, sql, &some, err))
            return false;
        if (some)
            return err_set(err, ERR_CONFLICT, "database", "the database is not empty: %s has rows",
                           there->v[i]);
    }
    int64_t has = 0, wants = 0;
    if (!contains(there, "schema_migration"))
        return true;
    if (!count_of(from, a, schema_sql, &wants, err) || !count_of(to, a, schema_sql, &has, err))
        return false;
    if (has != wants)
        return err_set(err, ERR_CONFLICT, "database",
                       "the backup has schema %lld, the database %lld: restore into a fresh database",
                       (long long)wants, (long long)has);
    return true;
}

struct copy {
    struct db_conn *to;
    const char *insert;
    size_t columns;
};

static bool copy_row(void *ctx, const struct db_row *row, struct err *err)
{
    struct copy *k = ctx;
    return conn_exec(k->to, k->insert, (struct db_args){row->v, k->columns}, NULL, err);
}

static bool copy_table(struct db_conn *from, struct db_conn *to, const char *table, struct err *err)
{
    auto_arena struct arena a = {0};
    auto_buf struct buf names = {0}, marks = {0};
    struct names source, target;
    struct db_args args = db_args(db_textz(table));
    if (!list(from, &a, from->driver->columns_sql, args, &source, err) ||
        !list(to, &a, to->driver->columns_sql, args, &target, err))
        return false;
    for (size_t i = 0; i < source.n; i++) {
        if (!contains(&target, source.v[i]))
            return err_set(err, ERR_CONFLICT, "database", "%s has no column %s, which the backup has", table,
                           source.v[i]);
        buf_printf(&names, "%s%s", i ? ", " : "", conn_quote(&a, source.v[i]));
        buf_z(&marks, i ? ", ?" : "?");
    }
    const char *name = conn_quote(&a, table);
    struct copy k = {to, arena_printf(&a, "INSERT INTO %s (%s) VALUES (%s)", name, names.p, marks.p),
                     source.n};
    const char *select = arena_printf(&a, "SELECT %s FROM %s", names.p, name);
    if (!conn_each(from, select, DB_NO_ARGS, copy_row, &k, err))
        return false;
    int64_t last;
    return from->driver->sequence_get(from, table, &last, err) &&
           (last == 0 || to->driver->sequence_set(to, table, last, err));
}

/* Tables that were there keep the record of how they were made. */
static void leave_own(struct names *names)
{
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++)
        if (!is_own(names->v[i]))
            names->v[n++] = names->v[i];
    names->n = n;
}

/* Everything from one snapshot into one transaction. */
static bool copy_all(struct db_conn *from, struct db_conn *to, bool replace, struct err *err)
{
    auto_arena struct arena a = {0};
    struct names source, target;
    if (!list_tables(from, &a, &source, err) || !list_tables(to, &a, &target, err))
        return false;
    if (!contains(&source, "schema_script"))
        return err_set(err, ERR_INVALID, "path", "the file is no backup of this program");
    if (!check_target(from, to, &a, &target, replace, err))
        return false;
    if (target.n > 0) {
        leave_own(&source);
        leave_own(&target);
    } else if (!replay_scripts(from, to, &a, err) || !list_tables(to, &a, &target, err)) {
        return false;
    }
    if (!to->driver->load_begin(to, &a, target.v, target.n, err))
        return false;
    for (size_t i = 0; i < source.n; i++) {
        if (!contains(&target, source.v[i]))
            return err_set(err, ERR_CONFLICT, "database", "there is no table %s, which the backup has",
                           source.v[i]);
        if (!copy_table(from, to, source.v[i], err))
            return false;
    }
    return to->driver->load_end(to, &a, err);
}

/* A new SQLite file from a snapshot of the other driver. */
static bool copy_rows_to(struct db *db, const char *path, struct err *err)
{
    char url[PATH_MAX + 16];
    snprintf(url, sizeof url, "sqlite:%s", path);
    struct db_conn *from = db_read_begin(db, err), *to;
    if (!from)
        return false;
    bool ok = sqlite_driver.open(url, CONN_FILE_NEW, &to, err);
    if (ok) {
        ok = sqlite_driver.begin(to, true, err) && copy_all(from, to, false, err) &&
             sqlite_driver.commit(to, err);
        sqlite_driver.close(to);
    }
    db_read_end(db, from);
    return ok;
}

static bool sync_file(const char *path, struct err *err)
{
    auto_fd int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fchmod(fd, 0600) < 0 || fsync(fd) < 0)
        return err_errno(err, errno, "writing \"%s\"", path);
    return true;
}

static bool sync_parent(const char *path, struct err *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(n ? n : 1), slash ? path : ".");
    return fs_sync_dir(folder, err);
}

bool db_backup(struct db *db, const char *path, struct err *err)
{
    char part[PATH_MAX];
    int n = snprintf(part, sizeof part, "%s.part", path);
    if (n < 0 || (size_t)n >= sizeof part)
        return err_set(err, ERR_INVALID, "path", "the path is too long");
    if (unlink(part) < 0 && errno != ENOENT)
        return err_errno(err, errno, "writing \"%s\"", part);
    const struct driver *driver = driver_for(db_url(db), err);
    bool ok = driver->copy_to ? driver->copy_to(db_url(db), part, err) : copy_rows_to(db, part, err);
    ok = ok && sync_file(part, err);
    if (ok && rename(part, path) < 0)
        ok = err_errno(err, errno, "writing \"%s\"", path);
    if (!ok) {
        unlink(part);
        return false;
    }
    return sync_parent(path, err);
}

struct load {
    struct db_conn *from;
    bool replace;
};

static bool load(struct db_conn *c, void *ctx, struct err *err)
{
    const struct load *l = ctx;
    return copy_all(l->from, c, l->replace, err);
}

static bool restore(struct db *db, const char *path, bool replace, struct err *err)
{
    char url[PATH_MAX + 16];
    struct load l = {.replace = replace};
    if (access(path, R_OK) < 0)
        return err_errno(err, errno, "reading the backup \"%s\"", path);
    if (snprintf(url, sizeof url, "sqlite:%s", path) >= (int)sizeof url)
        return err_set(err, ERR_INVALID, "path", "the path is too long");
    if (!sqlite_driver.open(url, CONN_FILE_READ, &l.from, err))
        return false;
    bool ok = sqlite_driver.begin(l.from, false, err) && db_write(db, load, &l, err);
    sqlite_driver.rollback(l.from);
    sqlite_driver.close(l.from);
    return ok;
}

bool db_restore(struct db *db, const char *path, struct err *err)
{
    return restore(db, path, false, err);
}

bool db_replace(struct db *db, const char *path, struct err *err)
{
    return restore(db, path, true, err);
}

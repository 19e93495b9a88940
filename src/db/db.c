#include "db/driver.h"
#include "db/hold.h"
#include "db/readers.h"
#include "db/writer.h"

struct db {
    const struct driver *driver;
    char *url;
    struct readers *readers;
    struct writer *writer;
    struct hold *hold; /* NULL: none is needed */
};

const struct driver *driver_for(const char *url, struct err *err)
{
    static const struct {
        const char *prefix;
        const struct driver *driver;
    } known[] = {
        {"sqlite:", &sqlite_driver},
        {"postgresql://", &postgres_driver},
        {"postgres://", &postgres_driver},
    };
    struct str s = str_of(url);
    for (size_t i = 0; i < countof(known); i++)
        if (str_starts(s, known[i].prefix) && s.n > strlen(known[i].prefix))
            return known[i].driver;
    /* A URL may hold a password: only its scheme is told. */
    struct str rest, scheme = str_cut(s, ':', &rest);
    err_set(err, ERR_INVALID, "database",
            "the database's address starts with sqlite:/ or postgresql://, not \"" STR_FMT "\"",
            STR_ARG(scheme));
    return NULL;
}

static void on_idle(void *ctx)
{
    readers_trim(((struct db *)ctx)->readers);
}

struct db *db_open(const struct db_options *o, struct err *err)
{
    if (!o->url)
        return err_set(err, ERR_INVALID, "database", "the database's address is missing"), NULL;
    const struct driver *driver = driver_for(o->url, err);
    if (!driver)
        return NULL;
    struct db *db = base_alloc(sizeof *db);
    *db = (struct db){.driver = driver, .url = base_strdup(o->url)};
    db->readers = readers_new(driver, o->url, o->max_readers ? o->max_readers : 16);
    bool needed = o->hold && driver->hold_sql;
    if (needed)
        db->hold = hold_take(driver, o->url, o->hold_wait_s, o->taken, err);
    if (!needed || db->hold)
        db->writer = writer_new(driver, o->url, db->hold, on_idle, db, err);
    if (db->writer)
        return db;
    db_close(db);
    return NULL;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    if (db->writer)
        writer_free(db->writer);
    hold_free(db->hold);
    readers_free(db->readers);
    free(db->url);
    free(db);
}

bool db_is_postgres(const struct db *db)
{
    return db->driver == &postgres_driver;
}

bool db_may_write(const struct db *db, struct err *err)
{
    return !db->hold || hold_check(db->hold, err);
}

const char *db_url(const struct db *db)
{
    return db->url;
}

/* A read on a connection of the pool. When an old connection turns out lost (the server was restarted) and
 * nothing was delivered yet, it is made again on a new one. */
static bool read_once(struct db *db, bool (*fn)(struct db_conn *c, void *ctx, struct err *err), void *ctx,
                      const bool *delivered, struct err *err)
{
    for (bool fresh = false;; fresh = true) {
        struct db_conn *c = readers_take(db->readers, fresh, err);
        if (!c)
            return false;
        c->retry = false;
        bool ok = fn(c, ctx, err);
        bool again = !ok && !fresh && !*delivered && (c->retry || db->driver->state(c) == CONN_LOST);
        readers_give(db->readers, c);
        if (!again)
            return ok;
    }
}

struct query {
    struct arena *a;
    const char *sql;
    struct db_args args;
    struct db_rows *rows;
    struct db_row *row;
    bool *found;
    db_each_fn each;
    void *ctx;
    bool delivered;
};

static bool do_query(struct db_conn *c, void *ctx, struct err *err)
{
    struct query *q = ctx;
    return conn_query(c, q->a, q->sql, q->args, q->rows, err);
}

bool db_query(struct db *db, struct arena *a, const char *sql, struct db_args args, struct db_rows *ret,
              struct err *err)
{
    struct query q = {.a = a, .sql = sql, .args = args, .rows = ret};
    return read_once(db, do_query, &q, &q.delivered, err);
}

static bool do_query_one(struct db_conn *c, void *ctx, struct err *err)
{
    struct query *q = ctx;
    return conn_query_one(c, q->a, q->sql, q->args, q->row, q->found, err);
}

bool db_query_one(struct db *db, struct arena *a, const char *sql, struct db_args args, struct db_row *ret,
                  bool *found, struct err *err)
{
    struct query q = {.a = a, .sql = sql, .args = args, .row = ret, .found = found};
    return read_once(db, do_query_one, &q, &q.delivered, err);
}

static bool deliver(void *ctx, const struct db_row *row, struct err *err)
{
    struct query *q = ctx;
    q->delivered = true;
    return q->each(q->ctx, row, err);
}

static bool do_each(struct db_conn *c, void *ctx, struct err *err)
{
    struct query *q = ctx;
    return conn_each(c, q->sql, q->args, deliver, q, err);
}

bool db_each(struct db *db, const char *sql, struct db_args args, db_each_fn each, void *ctx, struct err *err)
{
    struct query q = {.sql = sql, .args = args, .each = each, .ctx = ctx};
    return read_once(db, do_each, &q, &q.delivered, err);
}

struct db_conn *db_read_begin(struct db *db, struct err *err)
{
    for (bool fresh = false;; fresh = true) {
        struct db_conn *c = readers_take(db->readers, fresh, err);
        if (!c || db->driver->begin(c, false, err))
            return c;
        bool lost = db->driver->state(c) == CONN_LOST;
        readers_give(db->readers, c);
        if (fresh || !lost)
            return NULL;
    }
}

void db_read_end(struct db *db, struct db_conn *c)
{
    if (!c)
        return;
    db->driver->rollback(c);
    readers_give(db->readers, c);
}

bool db_write(struct db *db, db_write_fn fn, void *ctx, struct err *err)
{
    return writer_run(db->writer, fn, ctx, err);
}

void db_write_then(struct db *db, db_write_fn fn, db_then_fn then, void *ctx)
{
    writer_then(db->writer, fn, then, ctx);
}

void db_background(void)
{
    writer_background();
}

size_t db_write_queue(struct db *db)
{
    return writer_queued(db->writer);
}

uint64_t db_commits(const struct db *db)
{
    return writer_commits(db->writer);
}

bool db_unchanged(const struct db *db, uint64_t n, const struct db_tables *tables)
{
    return writer_unchanged(db->writer, n, tables);
}

const struct db_writing *db_writing(const struct db *db)
{
    return writer_did(db->writer);
}

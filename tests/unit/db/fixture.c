#include "fixture.h"

#include "base/fs.h"
#include "base/proc.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>

static char server_dir[64], server_url[200];
static unsigned databases;

/* SQLite's readers look at the shared memory of the WAL without a lock, by design. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:libsqlite3.so\n";
}

static void make_dir(char ret[64])
{
    strcpy(ret, "/tmp/ingot-db-XXXXXX");
    assert_non_null(mkdtemp(ret));
}

static int script(const char *verb, struct arena *a, struct str *out)
{
    char *argv[] = {"scripts/postgres.sh", (char *)(uintptr_t)verb, server_dir, NULL};
    struct err err = {0};
    int status = -1;
    if (!proc_run(a, argv, 10000, &status, out, &err))
        fprintf(stderr, "%s\n", err.message);
    else if (status)
        fprintf(stderr, STR_FMT "\n", STR_ARG(*out));
    return status;
}

int fixture_start(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct str out = STR_NULL;
    make_dir(server_dir);
    if (script("start", &a, &out))
        return -1;
    out = str_trim(out);
    snprintf(server_url, sizeof server_url, STR_FMT, STR_ARG(out));
    return 0;
}

int fixture_stop(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct str out = STR_NULL;
    int status = script("stop", &a, &out);
    return !fs_remove_tree(AT_FDCWD, server_dir, NULL) || status;
}

static void new_postgres(char ret[256])
{
    char name[32], sql[64];
    snprintf(name, sizeof name, "test%u", ++databases);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    PGconn *c = PQconnectdb(server_url);
    assert_int_equal(PQstatus(c), CONNECTION_OK);
    PGresult *r = PQexec(c, sql);
    assert_int_equal(PQresultStatus(r), PGRES_COMMAND_OK);
    PQclear(r);
    PQfinish(c);
    snprintf(ret, 256, "postgresql:///%s?host=%s&user=postgres", name, server_dir);
}

void fixture_new_url(struct fixture *f, bool postgres, char ret[256])
{
    if (postgres)
        new_postgres(ret);
    else
        snprintf(ret, 256, "sqlite:%s/%u.db", f->dir, ++databases);
}

struct db *fixture_open(const char *url)
{
    struct err err = {0};
    struct db *db = db_open(&(struct db_options){.url = url}, &err);
    expect_ok(db != NULL, &err);
    return db;
}

static int begin(void **state, bool postgres)
{
    struct fixture *f = base_zalloc(sizeof *f);
    f->postgres = postgres;
    make_dir(f->dir);
    fixture_new_url(f, postgres, f->url);
    f->db = fixture_open(f->url);
    *state = f;
    return 0;
}

int fixture_sqlite(void **state)
{
    return begin(state, false);
}

int fixture_postgres(void **state)
{
    return begin(state, true);
}

int fixture_end(void **state)
{
    struct fixture *f = *state;
    db_close(f->db);
    bool ok = fs_remove_tree(AT_FDCWD, f->dir, NULL);
    free(f);
    return !ok;
}

void fixture_reopen(struct fixture *f)
{
    db_close(f->db);
    f->db = NULL;
    f->db = fixture_open(f->url);
}

void expect_ok(bool ok, const struct err *err)
{
    if (!ok)
        fail_msg("%s (%s): %s", err_info(err->code)->name, err->field, err->message);
}

struct statement {
    const char *sql;
    struct db_args args;
};

static bool run_statement(struct db_conn *c, void *ctx, struct err *err)
{
    struct statement *s = ctx;
    return conn_exec(c, s->sql, s->args, NULL, err);
}

bool exec_one(struct db *db, const char *sql, struct db_args args, struct err *err)
{
    return db_write(db, run_statement, &(struct statement){sql, args}, err);
}

int64_t query_int(struct db *db, const char *sql)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct db_row row;
    bool found = false;
    expect_ok(db_query_one(db, &a, sql, DB_NO_ARGS, &row, &found, &err), &err);
    assert_true(found);
    assert_int_equal(row.v[0].type, DB_INT);
    return row.v[0].i;
}

/* Migrations, backup and restore. */
#include "fixture.h"

#include "base/thread.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

static const struct db_migration first[] = {
    {1, "projects",
     "CREATE TABLE project (id {id}, name {text} NOT NULL UNIQUE);\n"
     "CREATE INDEX project_name ON project (name);\n"},
    {2, "items",
     "CREATE TABLE item (id {id}, project_id BIGINT NOT NULL REFERENCES project (id),\n"
     "    parent_id BIGINT REFERENCES item (id), name {text} NOT NULL, size BIGINT, weight DOUBLE "
     "PRECISION,\n"
     "    data {bytes});\n"
     "INSERT INTO project (name) VALUES ('seed; {x}');\n"},
    {3, "more", "ALTER TABLE item ADD COLUMN note {text} NOT NULL DEFAULT 'none';\n"},
};

static void migrations_run_once(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    expect_ok(db_migrate(f->db, first, 1, &err), &err);
    expect_ok(db_migrate(f->db, first, 1, &err), &err);
    expect_ok(db_migrate(f->db, first, 3, &err), &err);
    fixture_reopen(f);
    expect_ok(db_migrate(f->db, first, 3, &err), &err);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM project"), 1);
    assert_int_equal(query_int(f->db, "SELECT max(number) FROM schema_migration"), 3);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM schema_script"), 3);
}

static void newer_databases_are_refused(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    expect_ok(db_migrate(f->db, first, 3, &err), &err);
    assert_false(db_migrate(f->db, first, 2, &err));
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_non_null(strstr(err.message, "schema 3"));
}

/* A platform goes back to the program before: what only adds does not keep it from that. */
static void databases_with_more_are_taken(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    const struct db_migration added[] = {
        first[0], first[1], {3, "+ more", "CREATE TABLE more (id {id});\n"}, {4, "renamed", ""}};
    expect_ok(db_migrate(f->db, added, 3, &err), &err);
    fixture_reopen(f);
    expect_ok(db_migrate(f->db, first, 2, &err), &err);
    expect_ok(db_migrate(f->db, added, 4, &err), &err);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM more"), 0);
    assert_false(db_migrate(f->db, first, 2, &err));
    assert_non_null(strstr(err.message, "schema 4"));
}

static void failed_migrations_leave_nothing(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    const struct db_migration bad[] = {
        first[0], {2, "broken", "CREATE TABLE half (id {id});\nCREATE TABLE half (id {id});\n"}};
    const struct db_migration gap[] = {first[0], {3, "gap", ""}};
    assert_false(db_migrate(f->db, bad, 2, &err));
    assert_non_null(strstr(err.message, "migration 2 (broken)"));
    assert_int_equal(query_int(f->db, "SELECT max(number) FROM schema_migration"), 1);
    auto_arena struct arena a = {0};
    const char **names;
    size_t n;
    expect_ok(db_columns(f->db, &a, "half", &names, &n, &err), &err);
    assert_int_equal(n, 0);
    assert_false(db_migrate(f->db, gap, 2, &err));
    expect_ok(db_migrate(f->db, first, 3, &err), &err);
}

struct starter {
    const char *url;
    struct err err;
    bool ok;
};

static void *migrate_too(void *arg)
{
    struct starter *s = arg;
    struct db *db = db_open(&(struct db_options){.url = s->url}, &s->err);
    s->ok = db && db_migrate(db, first, 3, &s->err);
    db_close(db);
    return NULL;
}

static void two_servers_migrate(void **state)
{
    struct fixture *f = *state;
    struct starter s[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        s[i] = (struct starter){.url = f->url};
        threads[i] = thread_start("start", migrate_too, &s[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        expect_ok(s[i].ok, &s[i].err);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM project"), 1);
}

static void scripts_repeat(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    for (int i = 0; i < 2; i++)
        expect_ok(db_script(f->db, "CREATE TABLE IF NOT EXISTS x (id {id}, b {bytes});", &err), &err);
    expect_ok(db_script(f->db, "", &err), &err);
    assert_false(db_script(f->db, "CREATE TABLE y (id {id}); nonsense;", &err));
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM schema_script"), 2);
}

static const char add[] =
    "INSERT INTO item (project_id, parent_id, name, size, weight, data) VALUES (?, ?, ?, ?, ?, ?)";

static void fill(struct db *db)
{
    struct err err = {0};
    expect_ok(db_migrate(db, first, 3, &err), &err);
    expect_ok(db_script(db, "CREATE TABLE derived (k {text} PRIMARY KEY, v BIGINT);", &err), &err);
    expect_ok(exec_one(db, "INSERT INTO derived (k, v) VALUES ('\xe4\xbd\xa0', 7)", DB_NO_ARGS, &err), &err);
    for (int i = 0; i < 50; i++) {
        char name[32];
        snprintf(name, sizeof name, "item %d", i);
        struct db_args args =
            db_args(db_int(1), i ? db_int(i) : db_null(), db_textz(name), db_int(i * 3),
                    i % 2 ? db_real(i / 3.0) : db_null(), i % 3 ? db_bytes(STR("\0\x01\xff")) : db_null());
        expect_ok(exec_one(db, add, args, &err), &err);
    }
    /* The first row now refers to a later one, and the last ids are free. */
    expect_ok(exec_one(db, "UPDATE item SET parent_id = 40 WHERE id = 1", DB_NO_ARGS, &err), &err);
    expect_ok(exec_one(db, "DELETE FROM item WHERE id > 45", DB_NO_ARGS, &err), &err);
}

static void expect_same(struct db *x, struct db *y, const char *sql)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct db_rows r, s;
    expect_ok(db_query(x, &a, sql, DB_NO_ARGS, &r, &err), &err);
    expect_ok(db_query(y, &a, sql, DB_NO_ARGS, &s, &err), &err);
    assert_int_equal(r.n, s.n);
    assert_int_equal(r.columns, s.columns);
    for (size_t i = 0; i < r.n; i++) {
        for (size_t k = 0; k < r.columns; k++) {
            const struct db_value *v = &r.row[i].v[k], *u = &s.row[i].v[k];
            assert_true(v->type == u->type && v->i == u->i && v->r == u->r && str_eq(v->s, u->s));
        }
    }
}

static void expect_same_rows(struct db *x, struct db *y)
{
    expect_same(x, y, "SELECT id, name FROM project ORDER BY id");
    expect_same(x, y,
                "SELECT id, project_id, parent_id, name, size, weight, data, note FROM item ORDER BY id");
    expect_same(x, y, "SELECT k, v FROM derived ORDER BY k");
}

static void expect_same_schema(struct db *x, struct db *y)
{
    expect_same(x, y, "SELECT number, name, applied FROM schema_migration ORDER BY number");
    expect_same(x, y, "SELECT digest, sql FROM schema_script ORDER BY digest");
}

static void restores(struct fixture *f, bool into_postgres)
{
    struct err err = {0};
    char path[100], url[256];
    fill(f->db);
    snprintf(path, sizeof path, "%s/backup", f->dir);
    expect_ok(db_backup(f->db, path, &err), &err);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    fixture_new_url(f, into_postgres, url);
    struct db *copy = fixture_open(url);
    expect_ok(db_restore(copy, path, &err), &err);
    expect_same_rows(f->db, copy);
    expect_same_schema(f->db, copy);
    /* Keys are checked as before, ids go on where they were, the schema is known. */
    assert_false(exec_one(copy, "DELETE FROM project", DB_NO_ARGS, &err));
    assert_int_equal(err.code, ERR_CONFLICT);
    expect_ok(exec_one(copy, add,
                       db_args(db_int(1), db_null(), db_textz("new"), db_null(), db_null(), db_null()), &err),
              &err);
    assert_int_equal(query_int(copy, "SELECT max(id) FROM item"), 51);
    expect_ok(db_migrate(copy, first, 3, &err), &err);
    assert_false(db_restore(copy, path, &err));
    assert_int_equal(err.code, ERR_CONFLICT);
    db_close(copy);
}

static void restores_into_sqlite(void **state)
{
    restores(*state, false);
}

static void restores_into_postgres(void **state)
{
    restores(*state, true);
}

static void restores_into_empty_tables(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    char path[100], url[256];
    fill(f->db);
    snprintf(path, sizeof path, "%s/backup", f->dir);
    expect_ok(db_backup(f->db, path, &err), &err);
    fixture_new_url(f, f->postgres, url);
    struct db *copy = fixture_open(url);
    expect_ok(db_migrate(copy, first, 2, &err), &err);
    assert_false(db_restore(copy, path, &err)); /* the seed is there */
    assert_int_equal(err.code, ERR_CONFLICT);
    expect_ok(exec_one(copy, "DELETE FROM project", DB_NO_ARGS, &err), &err);
    assert_false(db_restore(copy, path, &err));
    assert_non_null(strstr(err.message, "schema 3"));
    expect_ok(db_migrate(copy, first, 3, &err), &err);
    assert_false(db_restore(copy, path, &err));
    assert_non_null(strstr(err.message, "derived"));
    assert_int_equal(query_int(copy, "SELECT count(*) FROM item"), 0);
    expect_ok(db_script(copy, "CREATE TABLE derived (k {text} PRIMARY KEY, v BIGINT);", &err), &err);
    expect_ok(db_restore(copy, path, &err), &err);
    expect_same_rows(f->db, copy);
    db_close(copy);
}

static void replaces_what_is_there(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    char path[100], url[256];
    fill(f->db);
    snprintf(path, sizeof path, "%s/backup", f->dir);
    expect_ok(db_backup(f->db, path, &err), &err);
    fixture_new_url(f, f->postgres, url);
    struct db *other = fixture_open(url);
    expect_ok(db_migrate(other, first, 2, &err), &err);
    assert_false(db_replace(other, path, &err)); /* of an older schema */
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_int_equal(query_int(other, "SELECT count(*) FROM project"), 1);
    fill(other);
    expect_ok(exec_one(other, "UPDATE item SET name = 'other', parent_id = NULL", DB_NO_ARGS, &err), &err);
    expect_ok(exec_one(other, "INSERT INTO project (name) VALUES ('other')", DB_NO_ARGS, &err), &err);
    expect_ok(db_replace(other, path, &err), &err);
    expect_same_rows(f->db, other);
    assert_false(exec_one(other, "DELETE FROM project", DB_NO_ARGS, &err));
    db_close(other);
}

static void bad_backups_are_refused(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    char path[100];
    snprintf(path, sizeof path, "%s/none", f->dir);
    assert_false(db_restore(f->db, path, &err));
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "this is not a database, is it?", 30), 30);
    close(fd);
    assert_false(db_restore(f->db, path, &err));
    assert_int_equal(truncate(path, 0), 0);
    assert_false(db_restore(f->db, path, &err));
    assert_int_equal(err.code, ERR_INVALID);
    snprintf(path, sizeof path, "%s/no/such/folder", f->dir);
    assert_false(db_backup(f->db, path, &err));
}

struct busy {
    struct db *db;
    atomic_bool stop, failed;
    atomic_int written;
    struct err err;
};

/* Two rows at a time: half of a pair in a backup would show. */
static bool write_pair(struct db_conn *c, void *ctx, struct err *err)
{
    int64_t n = *(int64_t *)ctx;
    for (int i = 0; i < 2; i++)
        if (!conn_exec(c, "INSERT INTO pair (n) VALUES (?)", db_args(db_int(n)), NULL, err))
            return false;
    return true;
}

static void *keep_writing(void *arg)
{
    struct busy *b = arg;
    for (int64_t n = 0; !atomic_load(&b->stop); n++) {
        if (!db_write(b->db, write_pair, &n, &b->err)) {
            atomic_store(&b->failed, true);
            break;
        }
        atomic_fetch_add(&b->written, 1);
    }
    return NULL;
}

static void backs_up_while_others_write(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    expect_ok(db_script(f->db, "CREATE TABLE pair (id {id}, n BIGINT NOT NULL);", &err), &err);
    struct busy b = {.db = f->db};
    pthread_t t = thread_start("busy", keep_writing, &b);
    bool ok = true;
    for (int round = 0; ok && round < 3; round++) {
        int before = atomic_load(&b.written);
        while (!atomic_load(&b.failed) && atomic_load(&b.written) < before + 20)
            usleep(1000);
        char path[100], url[128];
        snprintf(path, sizeof path, "%s/backup", f->dir);
        snprintf(url, sizeof url, "sqlite:%s", path);
        before = atomic_load(&b.written);
        ok = db_backup(f->db, path, &err);
        if (!ok)
            break;
        struct db *copy = fixture_open(url); /* a backup is itself a database */
        assert_true(query_int(copy, "SELECT count(*) FROM pair") >= 2 * before);
        assert_int_equal(query_int(copy, "SELECT count(*) FROM pair") % 2, 0);
        assert_int_equal(
            query_int(copy, "SELECT count(*) FROM (SELECT n FROM pair GROUP BY n HAVING count(*) <> 2) x"),
            0);
        db_close(copy);
    }
    atomic_store(&b.stop, true);
    pthread_join(t, NULL);
    expect_ok(ok, &err);
    expect_ok(b.err.code == ERR_NONE, &b.err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(migrations_run_once),           DB_TEST(newer_databases_are_refused),
        DB_TEST(databases_with_more_are_taken), DB_TEST(failed_migrations_leave_nothing),
        DB_TEST(two_servers_migrate),           DB_TEST(scripts_repeat),
        DB_TEST(restores_into_sqlite),          DB_TEST(restores_into_postgres),
        DB_TEST(restores_into_empty_tables),    DB_TEST(replaces_what_is_there),
        DB_TEST(bad_backups_are_refused),       DB_TEST(backs_up_while_others_write),
    };
    return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}

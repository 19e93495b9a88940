/* Statements, values and errors: the same on both drivers. */
#include "fixture.h"

#include <math.h>
#include <stdio.h>

static const char tables[] =
    "CREATE TABLE project (id {id}, name {text} NOT NULL UNIQUE);\n"
    "CREATE TABLE item (\n"
    "    id {id},\n"
    "    project_id BIGINT NOT NULL REFERENCES project (id),\n"
    "    name {text} NOT NULL, size BIGINT CHECK (size >= 0), weight DOUBLE PRECISION,\n"
    "    data {bytes}, UNIQUE (project_id, name));\n"
    "CREATE UNIQUE INDEX item_size ON item ((size - 1));\n";

static void make_tables(struct fixture *f)
{
    struct err err = {0};
    expect_ok(db_script(f->db, tables, &err), &err);
    expect_ok(exec_one(f->db, "INSERT INTO project (name) VALUES (?)", db_args(db_textz("p")), &err), &err);
}

static const char insert_item[] =
    "INSERT INTO item (project_id, name, size, weight, data) VALUES (?, ?, ?, ?, ?)";

static bool add_item(struct fixture *f, const char *name, struct db_value size, struct err *err)
{
    return exec_one(f->db, insert_item, db_args(db_int(1), db_textz(name), size, db_null(), db_null()), err);
}

static void values_come_back(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    make_tables(f);
    struct db_args all = db_args(db_int(1), db_textz("\xe4\xbd\xa0 '?\"$1\\"), db_int(INT64_MAX),
                                 db_real(0.1), db_bytes(STR("\0\xff\\x00'")));
    expect_ok(exec_one(f->db, insert_item, all, &err), &err);
    struct db_args empty =
        db_args(db_int(1), db_text(STR("")), db_int(0), db_real(-1e300), db_bytes(STR_NULL));
    expect_ok(exec_one(f->db, insert_item, empty, &err), &err);
    struct db_args nulls = db_args(db_int(1), db_textz("n"), db_null(), db_null(), db_textz(NULL));
    expect_ok(exec_one(f->db, insert_item, nulls, &err), &err);
    struct db_rows rows;
    expect_ok(db_query(f->db, &a, "SELECT project_id, name, size, weight, data FROM item ORDER BY id",
                       DB_NO_ARGS, &rows, &err),
              &err);
    assert_int_equal(rows.n, 3);
    assert_int_equal(rows.columns, 5);
    const struct db_args *want[] = {&all, &empty, &nulls};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 5; k++) {
            const struct db_value *got = &rows.row[i].v[k], *put = &want[i]->v[k];
            assert_int_equal(got->type, put->type);
            assert_true(got->i == put->i && got->r == put->r && str_eq(got->s, put->s));
            if (got->type == DB_TEXT || got->type == DB_BYTES)
                assert_int_equal(got->s.p[got->s.n], 0);
        }
    }
}

static void expressions_have_types(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    make_tables(f);
    expect_ok(add_item(f, "a", db_int(2), &err), &err);
    expect_ok(add_item(f, "b", db_int(3), &err), &err);
    struct db_row r;
    bool found;
    expect_ok(db_query_one(f->db, &a,
                           "SELECT sum(size), count(*), avg(size), max(name), '?', coalesce(sum(size), 0) + ?"
                           " /* ? */ FROM item -- ?\n WHERE name >= ? AND name < ?",
                           db_args(db_int(1), db_textz("a"), db_textz("c")), &r, &found, &err),
              &err);
    assert_true(found && r.v[0].type == DB_INT && r.v[0].i == 5);
    assert_true(r.v[1].type == DB_INT && r.v[1].i == 2);
    assert_true(r.v[2].type == DB_REAL && r.v[2].r == 2.5);
    assert_true(r.v[3].type == DB_TEXT && str_is(r.v[3].s, "b"));
    assert_true(r.v[4].type == DB_TEXT && str_is(r.v[4].s, "?"));
    assert_true(r.v[5].type == DB_INT && r.v[5].i == 6);
    expect_ok(
        db_query_one(f->db, &a, "SELECT id FROM item WHERE size > ?", db_args(db_int(9)), &r, &found, &err),
        &err);
    assert_false(found);
    struct db_rows rows;
    expect_ok(
        db_query(f->db, &a, "SELECT id, name FROM item WHERE size > ?", db_args(db_int(9)), &rows, &err),
        &err);
    assert_true(rows.n == 0 && rows.columns == 2);
}

static void text_is_ordered_by_bytes(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    make_tables(f);
    static const char *const names[] = {"\xc3\xa9", "z", "Zz", "a-b", "ab", "_"};
    static const char *const sorted[] = {"Zz", "_", "a-b", "ab", "z", "\xc3\xa9"};
    for (size_t i = 0; i < countof(names); i++)
        expect_ok(add_item(f, names[i], db_null(), &err), &err);
    struct db_rows rows;
    expect_ok(db_query(f->db, &a, "SELECT name FROM item ORDER BY name", DB_NO_ARGS, &rows, &err), &err);
    for (size_t i = 0; i < countof(sorted); i++)
        assert_string_equal(rows.row[i].v[0].s.p, sorted[i]);
}

static void expect_code(bool ok, const struct err *err, enum err_code code, const char *field)
{
    assert_false(ok);
    if (err->code != code || strcmp(err->field, field) != 0)
        fail_msg("got %s (%s): %s", err_info(err->code)->name, err->field, err->message);
}

static void broken_rules_have_codes(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    make_tables(f);
    expect_ok(add_item(f, "a", db_null(), &err), &err);
    expect_code(add_item(f, "a", db_null(), &err), &err, ERR_EXISTS, "name");
    expect_ok(add_item(f, "b", db_int(4), &err), &err);
    expect_code(add_item(f, "c", db_int(4), &err), &err, ERR_EXISTS, "item_size");
    expect_code(exec_one(f->db, "INSERT INTO project (id, name) VALUES (1, 'q')", DB_NO_ARGS, &err), &err,
                ERR_EXISTS, "id");
    expect_code(exec_one(f->db, insert_item,
                         db_args(db_int(99), db_textz("x"), db_null(), db_null(), db_null()), &err),
                &err, ERR_CONFLICT, "");
    expect_code(exec_one(f->db, "DELETE FROM project", DB_NO_ARGS, &err), &err, ERR_CONFLICT, "");
    expect_code(add_item(f, NULL, db_null(), &err), &err, ERR_INVALID, "name");
    expect_code(add_item(f, "x", db_int(-1), &err), &err, ERR_INVALID, "");
    expect_code(exec_one(f->db, "SELECT none FROM nothing", DB_NO_ARGS, &err), &err, ERR_INTERNAL, "");
    expect_code(exec_one(f->db, "DELETE FROM item WHERE id = ?", DB_NO_ARGS, &err), &err, ERR_INTERNAL, "");
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM item"), 2);
}

static void bad_text_is_refused(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct db_rows rows;
    make_tables(f);
    struct db_value bad[] = {db_text(STR("a\0b")), db_text(STR("\xff")), db_text(STR("\xed\xa0\x80")),
                             db_real(NAN), db_real(INFINITY)};
    for (size_t i = 0; i < countof(bad); i++) {
        expect_code(exec_one(f->db, "UPDATE project SET name = ?", db_args(bad[i]), &err), &err, ERR_INVALID,
                    "");
        expect_code(
            db_query(f->db, &a, "SELECT id FROM project WHERE name = ?", db_args(bad[i]), &rows, &err), &err,
            ERR_INVALID, "");
    }
}

static bool inserts(struct db_conn *c, void *ctx, struct err *err)
{
    int64_t *ids = ctx, changed = -1;
    if (!conn_insert(c, "INSERT INTO project (name) VALUES (?)", db_args(db_textz("x")), &ids[0], err) ||
        !conn_insert(c, "INSERT INTO project (name) VALUES (?)", db_args(db_textz("y")), &ids[1], err) ||
        !conn_exec(c, "UPDATE project SET name = name || '!' WHERE id >= ?", db_args(db_int(ids[0])),
                   &changed, err))
        return false;
    ids[2] = changed;
    return conn_exec(c, "UPDATE project SET name = name WHERE id < 0", DB_NO_ARGS, &changed, err) &&
           changed == 0;
}

static bool inserts_orphan(struct db_conn *c, void *ctx, struct err *err)
{
    return conn_insert(c, "INSERT INTO item (project_id, name) VALUES (99, 'o')", DB_NO_ARGS, ctx, err);
}

static void inserts_give_ids(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    int64_t ids[3] = {0};
    make_tables(f);
    expect_ok(db_write(f->db, inserts, ids, &err), &err);
    assert_int_equal(ids[1], ids[0] + 1);
    assert_int_equal(ids[2], 2);
    ids[0] = -7;
    expect_code(db_write(f->db, inserts_orphan, ids, &err), &err, ERR_CONFLICT, "");
    assert_int_equal(ids[0], -7);
    /* An id is not given out again, even when its row is gone. */
    expect_ok(exec_one(f->db, "DELETE FROM project WHERE id > 1", DB_NO_ARGS, &err), &err);
    expect_ok(db_write(f->db, inserts, ids, &err), &err);
    assert_true(ids[0] > 3);
}

static bool ignores_failure(struct db_conn *c, void *ctx, struct err *err)
{
    (void)err;
    struct err hidden = {0};
    bool *later = ctx;
    conn_exec(c, "INSERT INTO project (name) VALUES ('before')", DB_NO_ARGS, NULL, &hidden);
    conn_exec(c, "INSERT INTO project (name) VALUES ('p')", DB_NO_ARGS, NULL, &hidden);
    *later = conn_exec(c, "INSERT INTO project (name) VALUES ('after')", DB_NO_ARGS, NULL, &hidden);
    return true;
}

static void failed_statement_spoils_its_write(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    bool later = true;
    make_tables(f);
    expect_code(db_write(f->db, ignores_failure, &later, &err), &err, ERR_EXISTS, "name");
    assert_false(later);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM project"), 1);
}

struct walk {
    int rows, stop_at;
    enum err_code with;
    struct db_conn *reenter;
    bool refused;
};

static bool walk_row(void *ctx, const struct db_row *row, struct err *err)
{
    struct walk *w = ctx;
    auto_arena struct arena a = {0};
    struct db_rows rows;
    w->rows++;
    if (row->v[0].type != DB_INT)
        return err_set(err, ERR_INTERNAL, NULL, "no integer");
    if (w->reenter)
        w->refused = !conn_query(w->reenter, &a, "SELECT 1", DB_NO_ARGS, &rows, NULL);
    if (w->rows < w->stop_at)
        return true;
    return w->with ? err_set(err, w->with, "f", "stop") : false;
}

static const char numbers[] = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
                              " SELECT i FROM n";

static void each_can_stop(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct walk all = {.stop_at = 1 << 30}, some = {.stop_at = 10}, bad = {.stop_at = 5, .with = ERR_QUOTA};
    expect_ok(db_each(f->db, numbers, db_args(db_int(20000)), walk_row, &all, &err), &err);
    assert_int_equal(all.rows, 20000);
    expect_ok(db_each(f->db, numbers, db_args(db_int(2000000)), walk_row, &some, &err), &err);
    assert_int_equal(some.rows, 10);
    expect_code(db_each(f->db, numbers, db_args(db_int(20000)), walk_row, &bad, &err), &err, ERR_QUOTA, "f");
    expect_code(db_each(f->db, "SELECT 1 FROM none", DB_NO_ARGS, walk_row, &bad, &err), &err, ERR_INTERNAL,
                "");
    assert_int_equal(query_int(f->db, "SELECT 7"), 7);
}

static bool stop_inside_write(struct db_conn *c, void *ctx, struct err *err)
{
    struct walk *w = ctx;
    return conn_exec(c, "INSERT INTO project (name) VALUES ('w1')", DB_NO_ARGS, NULL, err) &&
           conn_each(c, numbers, db_args(db_int(1000)), walk_row, w, err) &&
           conn_exec(c, "INSERT INTO project (name) VALUES ('w2')", DB_NO_ARGS, NULL, err);
}

static void each_can_stop_inside_a_write(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct walk w = {.stop_at = 3};
    make_tables(f);
    expect_ok(db_write(f->db, stop_inside_write, &w, &err), &err);
    assert_int_equal(w.rows, 3);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM project"), 3);
}

static void readers_are_shared(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct db *db = db_open(&(struct db_options){.url = f->url, .max_readers = 2}, &err);
    expect_ok(db != NULL, &err);
    for (int i = 0; i < 5; i++) { /* more than there are, one after the other */
        struct db_conn *a = db_read_begin(db, &err), *b = db_read_begin(db, &err);
        expect_ok(a && b, &err);
        db_read_end(db, a);
        assert_int_equal(query_int(db, "SELECT 7"), 7);
        db_read_end(db, b);
    }
    db_close(db);
}

static void snapshots_stand_still(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct db_row row;
    bool found;
    make_tables(f);
    struct db_conn *c = db_read_begin(f->db, &err);
    expect_ok(c != NULL, &err);
    expect_ok(conn_query_one(c, &a, "SELECT count(*) FROM project", DB_NO_ARGS, &row, &found, &err), &err);
    expect_ok(exec_one(f->db, "INSERT INTO project (name) VALUES ('q')", DB_NO_ARGS, &err), &err);
    expect_ok(conn_query_one(c, &a, "SELECT count(*) FROM project", DB_NO_ARGS, &row, &found, &err), &err);
    assert_int_equal(row.v[0].i, 1);
    struct walk w = {.stop_at = 3, .reenter = c};
    expect_ok(conn_each(c, numbers, db_args(db_int(10)), walk_row, &w, &err), &err);
    assert_true(w.refused);
    expect_ok(conn_query_one(c, &a, "SELECT count(*) FROM project", DB_NO_ARGS, &row, &found, &err), &err);
    assert_int_equal(row.v[0].i, 1); /* to stop early does not end the snapshot */
    /* Readers change nothing. */
    assert_false(conn_exec(c, "DELETE FROM project", DB_NO_ARGS, NULL, &err));
    db_read_end(f->db, c);
    db_read_end(f->db, NULL);
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM project"), 2);
}

static void statements_are_given_up(void **state)
{
    struct fixture *f = *state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 450; i++) {
            char sql[64];
            snprintf(sql, sizeof sql, "SELECT %d + 0 * %d", i, round * (i % 3));
            assert_int_equal(query_int(f->db, sql), i);
        }
    }
}

static void the_same_text_takes_other_types(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    make_tables(f);
    const char *sql = "UPDATE item SET size = coalesce(?, size), weight = ? WHERE name = ?";
    expect_ok(add_item(f, "a", db_int(1), &err), &err);
    expect_ok(exec_one(f->db, sql, db_args(db_null(), db_null(), db_textz("a")), &err), &err);
    expect_ok(exec_one(f->db, sql, db_args(db_int(5), db_real(2.5), db_textz("a")), &err), &err);
    expect_ok(exec_one(f->db, sql, db_args(db_int(6), db_null(), db_textz("a")), &err), &err);
    assert_int_equal(query_int(f->db, "SELECT size FROM item WHERE weight IS NULL"), 6);
}

static void columns_are_listed(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    const char **names;
    size_t n;
    make_tables(f);
    expect_ok(db_columns(f->db, &a, "item", &names, &n, &err), &err);
    assert_int_equal(n, 6);
    assert_string_equal(names[0], "id");
    assert_string_equal(names[5], "data");
    expect_ok(db_columns(f->db, &a, "none", &names, &n, &err), &err);
    assert_int_equal(n, 0);
    assert_int_equal(db_is_postgres(f->db), f->postgres);
}

static void changed_tables_are_seen(void **state)
{
    struct fixture *f = *state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct db_rows rows;
    make_tables(f);
    expect_ok(db_query(f->db, &a, "SELECT * FROM project", DB_NO_ARGS, &rows, &err), &err);
    assert_int_equal(rows.columns, 2);
    expect_ok(db_script(f->db, "ALTER TABLE project ADD COLUMN more BIGINT DEFAULT 7;", &err), &err);
    expect_ok(db_query(f->db, &a, "SELECT * FROM project", DB_NO_ARGS, &rows, &err), &err);
    assert_int_equal(rows.n, 1);
    assert_int_equal(query_int(f->db, "SELECT more FROM project"), 7);
}

static void bad_addresses_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "mysql://u:secret@h/x", "sqlite:", "/tmp/x.db", "postgresql://"};
    struct err err = {0};
    for (size_t i = 0; i < countof(bad); i++) {
        assert_null(db_open(&(struct db_options){.url = bad[i]}, &err));
        assert_int_equal(err.code, ERR_INVALID);
        assert_null(strstr(err.message, "secret"));
    }
    assert_null(db_open(&(struct db_options){0}, &err));
    assert_null(db_open(&(struct db_options){.url = "sqlite:/nonexistent/folder/x.db"}, &err));
    assert_null(db_open(&(struct db_options){.url = "postgresql:///x?host=/nonexistent"}, &err));
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    db_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(values_come_back),
        DB_TEST(expressions_have_types),
        DB_TEST(text_is_ordered_by_bytes),
        DB_TEST(broken_rules_have_codes),
        DB_TEST(bad_text_is_refused),
        DB_TEST(inserts_give_ids),
        DB_TEST(failed_statement_spoils_its_write),
        DB_TEST(each_can_stop),
        DB_TEST(each_can_stop_inside_a_write),
        DB_TEST(readers_are_shared),
        DB_TEST(snapshots_stand_still),
        DB_TEST(statements_are_given_up),
        DB_TEST(the_same_text_takes_other_types),
        DB_TEST(columns_are_listed),
        DB_TEST(changed_tables_are_seen),
        cmocka_unit_test(bad_addresses_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}

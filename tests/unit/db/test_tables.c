/* Which reads a commit makes old: by the tables that statements read and write. */
#include "fixture.h"

static void make_tables(struct fixture *f)
{
    struct err err = {0};
    expect_ok(db_script(f->db,
                        "CREATE TABLE a (id {id}, v BIGINT);\n"
                        "CREATE TABLE b (id {id}, v BIGINT);\n"
                        "CREATE TABLE c (id {id}, a BIGINT REFERENCES a (id) ON DELETE CASCADE);\n",
                        &err),
              &err);
    expect_ok(exec_one(f->db, "INSERT INTO a (v) VALUES (1)", DB_NO_ARGS, &err), &err);
    expect_ok(exec_one(f->db, "INSERT INTO b (v) VALUES (1)", DB_NO_ARGS, &err), &err);
    expect_ok(exec_one(f->db, "INSERT INTO c (a) VALUES (1)", DB_NO_ARGS, &err), &err);
}

struct kept {
    uint64_t commits;
    struct db_tables tables;
};

static struct kept read_noting(struct fixture *f, const char *sql)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct db_rows rows;
    struct kept k = {.commits = db_commits(f->db)};
    db_note_reads(&k.tables);
    bool ok = db_query(f->db, &a, sql, DB_NO_ARGS, &rows, &err);
    db_note_reads(NULL);
    expect_ok(ok, &err);
    return k;
}

static bool is_kept(struct fixture *f, const struct kept *k)
{
    return db_unchanged(f->db, k->commits, &k->tables);
}

static void commits_to_other_tables_change_nothing(void **state)
{
    static const struct {
        const char *read, *write;
        bool kept;
    } cases[] = {
        {"SELECT v FROM a", "UPDATE b SET v = 2", true},
        {"SELECT v FROM a", "UPDATE a SET v = 2", false},
        {"SELECT v FROM a", "UPDATE a SET v = 2 WHERE id = 77", false},
        {"SELECT v FROM a", "INSERT INTO a (v) VALUES (3)", false},
        {"SELECT v FROM a", "INSERT INTO b (v) SELECT v FROM a", true},
        {"SELECT count(*) FROM a", "DELETE FROM a WHERE id = 2", false},
        {"SELECT 1 FROM a", "UPDATE a SET v = 2", false},
        {"SELECT v FROM a WHERE v IN (SELECT v FROM b)", "UPDATE b SET v = 2", false},
        {"WITH w AS (SELECT v FROM b) SELECT a.v FROM a LEFT JOIN w ON w.v = a.v", "DELETE FROM b", false},
        {"SELECT v FROM b", "DELETE FROM c", true},
        {"SELECT id FROM c", "DELETE FROM a", false}, /* by the foreign key */
        {"SELECT 1", "UPDATE a SET v = 5", true},
    };
    struct fixture *f = *state;
    make_tables(f);
    for (size_t i = 0; i < countof(cases); i++) {
        struct err err = {0};
        for (int again = 0; again < 2; again++) { /* prepared anew, and as it was */
            struct kept k = read_noting(f, cases[i].read);
            assert_true(is_kept(f, &k));
            expect_ok(exec_one(f->db, cases[i].write, DB_NO_ARGS, &err), &err);
            if (is_kept(f, &k) != (cases[i].kept && !db_is_postgres(f->db)))
                fail_msg("%s | %s", cases[i].read, cases[i].write);
        }
    }
}

static void what_is_not_known_counts_for_all(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    make_tables(f);
    struct kept k = read_noting(f, "SELECT v FROM a");
    expect_ok(db_script(f->db, "CREATE TABLE d (id {id});\n", &err), &err);
    assert_false(is_kept(f, &k));
    k = read_noting(f, "SELECT v FROM a");
    expect_ok(exec_one(f->db, "CREATE TABLE e (id BIGINT)", DB_NO_ARGS, &err), &err);
    assert_false(is_kept(f, &k));
}

static bool fail_after(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    return conn_exec(c, "UPDATE a SET v = 9", DB_NO_ARGS, NULL, err) && err_set(err, ERR_QUOTA, NULL, "no");
}

static void what_was_undone_changed_nothing(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    make_tables(f);
    struct kept k = read_noting(f, "SELECT v FROM a");
    assert_false(db_write(f->db, fail_after, NULL, &err));
    assert_true(is_kept(f, &k));
}

static void only_what_is_asked_for_is_noted(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    make_tables(f);
    struct kept k = {.commits = db_commits(f->db)};
    assert_int_equal(query_int(f->db, "SELECT count(*) FROM a"), 1);
    expect_ok(exec_one(f->db, "UPDATE a SET v = 2", DB_NO_ARGS, &err), &err);
    assert_true(is_kept(f, &k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(commits_to_other_tables_change_nothing),
        DB_TEST(what_is_not_known_counts_for_all),
        DB_TEST(what_was_undone_changed_nothing),
        DB_TEST(only_what_is_asked_for_is_noted),
    };
    return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}

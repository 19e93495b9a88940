/* A copy of a million samples must not ask again for every row, nor a look at what works on a version go
 * through all tasks: what SQLite plans for such statements. */
#include "base/fs.h"
#include "core/data/sample_own.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void each_statement_goes_along_an_index(void **state)
{
    (void)state;
    char dir[] = "/tmp/ingot-test-XXXXXX";
    auto_arena struct arena a;
    struct err err = {0};
    const char *password = "";
    arena_init(&a);
    assert_non_null(mkdtemp(dir));
    setenv("INGOT_ADMIN_PASSWORD", "the first password", 1);
    struct core *core = core_open(&(struct core_options){.data = dir}, &a, &password, &err);
    if (!core)
        fail_msg("%s", err.message);
    struct db_rows tasks;
    assert_true(db_query(core->db, &a,
                         "EXPLAIN QUERY PLAN SELECT name FROM tasks WHERE subject_kind = 'x' AND subject = 1",
                         DB_NO_ARGS, &tasks, &err));
    assert_int_equal(tasks.n, 1);
    assert_non_null(strstr(tasks.row[0].v[3].s.p, "tasks_subject"));
    for (size_t i = 0; i < COPY_COUNT; i++) {
        struct db_rows rows;
        const char *sql = arena_printf(&a, "EXPLAIN QUERY PLAN %s", sample_copy_sql[i]);
        if (!db_query(core->db, &a, sql, db_args(db_int(1), db_int(1), db_int(1), db_int(1)), &rows, &err) &&
            !db_query(core->db, &a, sql, db_args(db_int(1), db_int(1), db_int(1)), &rows, &err))
            fail_msg("%s: %s", sql, err.message);
        assert_true(rows.n > 0);
        for (size_t k = 0; k < rows.n; k++) {
            const char *step = rows.row[k].v[3].s.p;
            /* What may be read whole is the group's own result ("SCAN c"). */
            if (strstr(step, "CORRELATED") || (strncmp(step, "SCAN ", 5) == 0 && strcmp(step, "SCAN c") != 0))
                fail_msg("%s\nis planned as: %s", sample_copy_sql[i], step);
        }
    }
    core_close(core);
    assert_true(fs_remove_tree(AT_FDCWD, dir, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_statement_goes_along_an_index)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

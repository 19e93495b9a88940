/* Controllers: one that fails holds up no other, and one item of a run no other item; who may start a task.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "core/controllers.h"
#include "core/task/task.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

struct place {
    char dir[64];
    struct core *core;
    struct arena arena;
};

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    struct err err = {0};
    const char *password;
    arena_init(&p->arena);
    strcpy(p->dir, "/tmp/ingot-test-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    setenv("INGOT_ADMIN_PASSWORD", "the first password", 1);
    p->core = core_open(&(struct core_options){.data = p->dir}, &p->arena, &password, &err);
    if (!p->core)
        fail_msg("%s", err.message);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    core_close(p->core);
    assert_true(fs_remove_tree(AT_FDCWD, p->dir, &err));
    arena_release(&p->arena);
    free(p);
    return 0;
}

static bool sql_write(struct db_conn *c, void *ctx, struct err *err)
{
    return conn_exec(c, ctx, DB_NO_ARGS, NULL, err);
}

static void sql(struct place *p, const char *text)
{
    struct err err = {0};
    if (!db_write(p->core->db, sql_write, (void *)text, &err))
        fail_msg("%s", err.message);
}

static int64_t count(struct place *p, const char *text)
{
    struct err err = {0};
    struct db_row row;
    bool found;
    assert_true(db_query_one(p->core->db, &p->arena, text, DB_NO_ARGS, &row, &found, &err) && found);
    return row.v[0].i;
}

static struct controller_state run(struct place *p, const struct controller *row)
{
    const struct timespec nap = {.tv_nsec = 5000000};
    struct controller_state before, now;
    controller_state(p->core, row, &before);
    controller_wake(p->core, row);
    for (int i = 0; i < 12000; i++) {
        controller_state(p->core, row, &now);
        if (now.runs > before.runs && !now.running)
            return now;
        nanosleep(&nap, NULL);
    }
    fail_msg("%s did not run", row->name);
    return now;
}

static struct digest blob(struct place *p, const char *text)
{
    struct err err = {0};
    struct digest d;
    struct blob_writer *w = blob_writer_new(p->core->store, &err);
    assert_true(w && blob_writer_add(w, str_of(text), &err) && blob_writer_finish(w, &d, NULL, &err));
    return d;
}

static const char *blob_file(struct place *p, const struct digest *d)
{
    char hex[SHA256_HEX + 1];
    digest_hex(d, hex);
    return arena_printf(&p->arena, "%s/blobs/sha256/%.2s/%s", p->dir, hex, hex);
}

/* A folder where a file should be cannot be removed as a file. */
static void test_what_cannot_be_removed_holds_up_nothing(void **state)
{
    struct place *p = *state;
    struct digest stuck = blob(p, "stuck"), free_ = blob(p, "free");
    assert_int_equal(unlink(blob_file(p, &stuck)), 0);
    assert_int_equal(mkdir(blob_file(p, &stuck), 0700), 0);
    sql(p, "UPDATE blobs SET touched_at = 1");
    sql(p, "INSERT INTO uploads (id, user_id, project, length, metadata, expires_at) SELECT 'stuck', 0, 0, "
           "1, '', 1"
           " UNION ALL SELECT 'free', 0, 0, 1, '', 2");
    assert_int_equal(mkdir(arena_printf(&p->arena, "%s/uploads/stuck", p->dir), 0700), 0);

    struct controller_state uploads = run(p, &controller_collect_uploads);
    assert_false(uploads.ok);
    assert_non_null(strstr(uploads.err.message, "stuck"));
    assert_true(uploads.failures == 1 && uploads.failed_at && uploads.last_at && uploads.next_at);
    assert_int_equal(count(p, "SELECT COUNT(*) FROM uploads"), 1);

    struct controller_state blobs = run(p, &controller_collect_blobs);
    assert_false(blobs.ok);
    assert_non_null(strstr(blobs.err.message, "cannot remove blob"));
    assert_int_equal(access(blob_file(p, &free_), F_OK), -1);

    assert_int_equal(rmdir(arena_printf(&p->arena, "%s/uploads/stuck", p->dir)), 0);
    assert_int_equal(rmdir(blob_file(p, &stuck)), 0);
    assert_true(run(p, &controller_collect_uploads).ok && run(p, &controller_collect_blobs).ok);
    assert_int_equal(count(p, "SELECT COUNT(*) FROM uploads"), 0);
}

static int removed;

static bool remove_odd(struct core *core, const struct db_value *v, struct arena *a, struct err *err)
{
    (void)core;
    (void)a;
    removed++;
    return v[0].i % 2 || err_set(err, ERR_INTERNAL, NULL, "%lld stays", (long long)v[0].i);
}

static void test_purges_go_on(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    sql(p, "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1250) INSERT INTO "
           "job_purges "
           "(job, attempts, nodes) SELECT i, 0, 0 FROM n");
    const struct purge purge = {"job_purges", "job", ", attempts", remove_odd};
    assert_false(purge_rows(p->core, &purge, &err));
    assert_string_equal(err.message, "1000 stays");
    assert_int_equal(removed, 251);
    assert_int_equal(count(p, "SELECT COUNT(*) FROM job_purges WHERE job >= 1000"), 126);
    sql(p, "DELETE FROM job_purges");
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < controller_count; i++) {
        const struct controller *row = controllers[i];
        assert_true(row->tick && row->every_s && strlen(row->thread) <= 15 && row->title.en && row->title.zh);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(row->name, controllers[k]->name);
    }
}

static void test_who_may_start(void **state)
{
    (void)state;
    assert_true(task_fits(1, 0, 0));
    assert_false(task_fits(1, 1, 0));
    assert_true(task_fits(4, 1, 1));
    assert_false(task_fits(4, 2, 2)); /* half is enough for one project */
    assert_true(task_fits(4, 2, 0));
    assert_false(task_fits(4, 3, 1)); /* the last place is for a project that has none */
    assert_true(task_fits(4, 3, 0));
    assert_false(task_fits(4, 4, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_cannot_be_removed_holds_up_nothing),
        cmocka_unit_test(test_purges_go_on),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_who_may_start),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
